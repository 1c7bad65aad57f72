import { createServer } from 'node:http';
import websocket from '@fastify/websocket';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import { isJsonObject, type JsonObject } from '../../../core/canonical.ts';
import { type Acknowledging, acknowledge } from '../../../core/events/inbox/ack.ts';
import type { Reader } from '../../../core/events/inbox/cursor.ts';
import { Fault, isFault, isStoreTrouble } from '../../../core/faults.ts';
import { logFault, toFault } from '../../../http/errors.ts';
import { onlyLastingGet } from '../../../http/methods.ts';
import { cursorOf, type Query } from '../../../http/reading/fields.ts';
import { parseStrict } from '../../../http/reading/strict-json.ts';
import type { Shell } from '../../../http/shell.ts';
import { answerWith, beat, hearInTurn } from '../../../http/sockets/pace.ts';
import { toAck } from '../mapping.ts';
import { caller, readerOf, stillValid } from '../request.ts';
import { Follower, type Sink, startOf } from './follower.ts';

const HEARTBEAT_MS = 15_000;
/** How long a reader may take to answer our goodbye. */
const GOODBYE_MS = 2_000;
const FRAME_MOST = 64 * 1024;
/** How many bytes may wait in a socket before its reader counts as slow. */
const BUFFER_MOST = 1024 * 1024;
/** And before a reader is cut off that keeps asking and never reads: the answers would fill our memory. */
const BUFFER_LIMIT = 8 * 1024 * 1024;

/** `GET /akep/relay`: events out, acknowledgements in. What is not acknowledged is sent again after a reconnect. */
export async function relayRoute(app: FastifyInstance, shell: Shell): Promise<void> {
  const options = {
    maxPayload: FRAME_MOST,
    perMessageDeflate: false,
    // Pings are answered where frames are read (http/sockets/pace.ts).
    autoPong: false,
    // It speaks none. Left alone, the library claims to speak whatever is offered first.
    handleProtocols: () => false as const,
    server: gate(app, shell),
  };
  // An unreadable frame is its sender's mistake: the close code says so, and the log should not call it our error.
  const errorHandler = (_: Error, socket: WebSocket) => socket.terminate();
  await app.register(websocket, { options, errorHandler });
  app.route({
    ...onlyLastingGet(app, '/akep/relay'),
    handler: async () => {
      throw new Fault('invalid_field', 'This address speaks WebSocket: ask for the upgrade.', {
        field: 'upgrade',
      });
    },
    wsHandler: (socket, request) => void relay(shell, socket, request),
  });
}

/** Only upgrades at this address reach the plugin: otherwise it would take those of the whole server. */
function gate(app: FastifyInstance, { upgrades }: Shell) {
  const through = createServer();
  upgrades.serve('/akep/relay', (request, socket, head) => through.emit('upgrade', request, socket, head));
  // An upgrade that is answered like a plain request would leave its connection open for ever.
  app.addHook('onResponse', (request, _, done) => {
    if (request.headers.upgrade !== undefined) request.raw.socket.destroySoon();
    done();
  });
  return through;
}

async function relay(shell: Shell, socket: WebSocket, request: FastifyRequest): Promise<void> {
  const reader = readerOf(request);
  const { digest } = caller(request).key;
  const sink = new SocketSink(socket);
  let follower: Follower | null = null;
  const hear = async (data: Buffer, isBinary: boolean) => {
    try {
      // Its key may have ended since it connected (W28).
      await stillValid(shell.room, digest);
    } catch (reason) {
      return end(socket, request, reason);
    }
    const reply = await answer(shell, request, isBinary ? null : String(data));
    if (reply === null || sink.closed) return;
    if (socket.bufferedAmount > BUFFER_LIMIT) socket.terminate();
    else answerWith(socket, (left) => socket.send(reply, left));
  };
  hearInTurn(socket, request.raw.socket, { hear });
  const leave = keepAlive(shell, socket);
  socket.on('close', () => {
    leave();
    follower?.nudge();
  });
  try {
    const start = await startOf(shell, reader, cursorOf(request.query as Query));
    follower = new Follower(shell, { reader, digest }, sink, start);
    await follower.run();
  } catch (reason) {
    end(socket, request, reason);
  }
}

function end(socket: WebSocket, request: FastifyRequest, reason: unknown): void {
  const isOpen = socket.readyState === socket.OPEN;
  if (isOpen) logFault(request, reason, toFault(reason as Error));
  // A close frame is too small for the details that say how to go on (K17).
  if (isOpen && isFault(reason) && reason.detail.extra !== undefined)
    socket.send(JSON.stringify({ type: 'error', error: reason.message, ...reason.detail.extra }));
  socket.close(closeCode(reason), isFault(reason) ? inClose(reason) : 'internal error');
}

/** 1008 means that the reader must fix something; an unreachable store is not its business, and it comes back. */
function closeCode(reason: unknown): number {
  if (isStoreTrouble(reason)) return 1013;
  return isFault(reason) ? 1008 : 1011;
}

/** A close frame holds 123 bytes. The fault's name says the rest. */
function inClose(fault: Fault): string {
  return `${fault.fault}: ${fault.message}`.slice(0, 120).replace(/[^\x20-\x7e]/g, '?');
}

/** Detects half-open sockets, and tells readers to come back when the server stops. Returns a function that ends it. */
function keepAlive(shell: Shell, socket: WebSocket): () => void {
  const beating = setInterval(() => {
    if (!beat(socket)) socket.terminate();
  }, HEARTBEAT_MS);
  const stay = shell.parking.onDrain(() => {
    socket.close(1012, 'restarting, please reconnect');
    setTimeout(() => socket.terminate(), GOODBYE_MS).unref();
  });
  return () => {
    clearInterval(beating);
    stay();
  };
}

/** Frames for one socket. While a megabyte waits in it, the next promise resolves only when that has been taken. */
class SocketSink implements Sink {
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  get closed(): boolean {
    return this.#socket.readyState !== this.#socket.OPEN;
  }

  event(cursor: string, event: string): Promise<void> {
    return this.#send(`{"type":"event","cursor":"${cursor}","event":${event}}`);
  }

  resume(resume: string): Promise<void> {
    return this.#send(`{"type":"resume","resume":${resume}}`);
  }

  #send(text: string): Promise<void> {
    return new Promise((resolve) => {
      // Also called, with an error, when the socket closes before it has taken the frame.
      this.#socket.send(text, () => resolve());
      if (this.#socket.bufferedAmount < BUFFER_MOST) resolve();
    });
  }
}

/** One frame of the reader: an acknowledgement. Anything else is answered with what is wrong, and changes nothing. */
async function answer({ room }: Shell, request: FastifyRequest, text: string | null): Promise<string | null> {
  const frame = text === null ? null : parse(text);
  if (frame?.type !== 'ack' || typeof frame.event_id !== 'string')
    return refusal(null, 'Send {"type":"ack","event_id","status":"stored|applied|rejected"}.');
  const { event_id: eventId } = frame;
  const producer = typeof frame.producer_id === 'string' ? frame.producer_id : null;
  const outcome = await settle(room, readerOf(request), { eventId, producer }, frame).catch(
    (problem: unknown) => {
      const fault = toFault(problem as Error);
      logFault(request, problem, fault);
      return fault;
    },
  );
  return isFault(outcome) ? refusal(eventId, outcome.message) : null;
}

/** Refusals use the words of K13. */
async function settle(
  room: Shell['room'],
  reader: Reader,
  which: Pick<Acknowledging, 'eventId' | 'producer'>,
  frame: JsonObject,
) {
  return acknowledge(room, reader, { ...which, ...toAck(frame) });
}

function refusal(event_id: string | null, error: string): string {
  return JSON.stringify({ type: 'error', ...(event_id === null ? {} : { event_id }), error });
}

function parse(text: string): JsonObject | null {
  const parsed = parseStrict(Buffer.from(text));
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
}
