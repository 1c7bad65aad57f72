import type { Socket as NetSocket } from 'node:net';
import type { WebSocket } from 'ws';
import { LanternError } from '../faults.ts';
import { certificateTrouble } from '../http/certificate.ts';
import { isRecord, parseJson } from '../json.ts';

/** As much of a WebSocket as a connection uses. */
export interface Socket {
  send(text: string): void;
  close(): void;
  /** Ends it without waiting for the other side. */
  cut(): void;
}

/** What an `OpenSocket` of your own connects to: it sends these headers and asks for this subprotocol. */
export interface SocketTarget {
  readonly url: string;
  readonly protocol: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Called in this order: `text` any number of times, then `closed` once. */
export interface SocketEars {
  readonly text: (text: string) => void;
  readonly closed: (why: { readonly code: number; readonly reason: string }) => void;
}

/** Resolves when the socket is open; rejects with the fault that says why it is not. */
export type OpenSocket = (target: SocketTarget, ears: SocketEars) => Promise<Socket>;

const HANDSHAKE_MS = 15_000;
const HEARTBEAT_MS = 15_000;
/** What a line of half a megabit a second carries from one beat to the next. */
const BYTES_A_BEAT = (HEARTBEAT_MS / 1000) * 64 * 1024;

/**
 * A WebSocket through the package `ws`, loaded when it is first needed. The one that is built into newer runtimes does
 * not tell a refused key from a server that is not there.
 */
export const openSocket: OpenSocket = async ({ url, protocol, headers }, ears) => {
  const { WebSocket } = await loadSockets();
  const socket = new WebSocket(url, protocol, {
    headers,
    handshakeTimeout: HANDSHAKE_MS,
    // For frames like ours, compression takes ten times as long as sending.
    perMessageDeflate: false,
    // The key must not follow a redirect to another host.
    followRedirects: false,
  });
  socket.on('message', (data, isBinary) => {
    if (!isBinary) ears.text(String(data));
  });
  const [wire] = await Promise.all([wireOf(socket), opened(socket, url)]);
  socket.on('error', () => socket.terminate());
  const beat = heartbeat(socket, wire);
  socket.once('close', (code, reason) => {
    clearInterval(beat);
    ears.closed({ code, reason: String(reason) });
  });
  return {
    send: (text) => socket.send(text),
    close: () => socket.close(1000),
    cut: () => socket.terminate(),
  };
};

/** Another attempt would fail the same way for ever: `ws` is missing from a bundle, or is an empty stub in a browser. */
async function loadSockets(): Promise<Pick<typeof import('ws'), 'WebSocket'>> {
  let cause: unknown;
  try {
    const ws = await import('ws');
    if (typeof ws.WebSocket === 'function') return ws;
  } catch (error) {
    cause = error;
  }
  const message =
    'connect() needs Node and the package ws, which cannot be loaded here: leave ws out of your bundle (external) and install it beside it, or pass openSocket.';
  throw new LanternError('wrong_usage', message, { cause });
}

function opened(socket: WebSocket, url: string): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', (cause) => reject(unreachable(url, cause)));
    socket.once('unexpected-response', (_request, reply) => {
      let text = '';
      reply.setEncoding('utf8').on('data', (more: string) => {
        text = (text + more).slice(0, 10_000);
      });
      reply.once('close', () => {
        reject(refused({ url, status: reply.statusCode ?? 0, text }));
        socket.terminate();
      });
    });
  });
}

type Wire = Pick<NetSocket, 'bytesRead' | 'bytesWritten'>;

/** The stream under the socket, which `ws` shows only once. */
function wireOf(socket: WebSocket): Promise<Wire> {
  return new Promise((resolve) => socket.once('upgrade', (reply) => resolve(reply.socket)));
}

/**
 * Notices that the other side is gone when the network does not say so. A frame of megabytes takes minutes on a slow
 * line, and an answer to a ping travels behind it: so every byte that comes counts, and what was sent has its time to
 * arrive.
 */
function heartbeat(socket: WebSocket, wire: Wire): NodeJS.Timeout {
  let read = -1;
  let written = 0;
  let beatsSilent = 0;
  return setInterval(() => {
    const isHeard = wire.bytesRead !== read;
    if (isHeard) ({ bytesRead: read, bytesWritten: written } = wire);
    beatsSilent = isHeard ? 0 : beatsSilent + 1;
    if (beatsSilent > (wire.bytesWritten - written) / BYTES_A_BEAT) socket.terminate();
    else socket.ping();
  }, HEARTBEAT_MS);
}

function unreachable(url: string, cause: Error): LanternError {
  const code = 'code' in cause ? String(cause.code) : cause.message;
  const silence = `Nothing answers at ${new URL(url).host} (${code}): check the address and that the server runs.`;
  const message = certificateTrouble(new URL(url).host, cause) ?? silence;
  return new LanternError('unreachable', message, { cause });
}

interface Refused {
  readonly url: string;
  readonly status: number;
  readonly text: string;
}

/** The server answered with HTTP instead of opening the socket. */
function refused({ url, status, text }: Refused): LanternError {
  const { host } = new URL(url);
  const wire = { status, code: null, field: null, oldestCursor: null };
  const said = saidIn(text);
  if (status === 401 || status === 403) {
    const message = `${host} does not accept this API key: stop, ask a person for a new key ("lanternroom agent rotate NAME"), set WAKE_API_KEY and start again.`;
    return new LanternError(status === 401 ? 'unauthorized' : 'forbidden', message, { wire });
  }
  if (status === 429 || status >= 500) {
    const message = `The server at ${host} cannot take a connection now (${status}).`;
    return new LanternError(status === 429 ? 'rate_limited' : 'server_failed', message, { wire });
  }
  const hint = said ?? 'check that this is the address of a Lanternroom server that speaks A2A.';
  return new LanternError('bad_reply', `${host} does not open a connection (${status}): ${hint}`, { wire });
}

function saidIn(text: string): string | null {
  const body = parseJson(text);
  const error = isRecord(body) ? body.error : null;
  const said = isRecord(error) ? error.message : error;
  return typeof said === 'string' ? said : null;
}
