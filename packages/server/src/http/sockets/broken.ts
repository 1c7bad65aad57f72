import type { Socket } from 'node:net';
import { Fault } from '../../core/faults.ts';
import { errorBody } from '../errors.ts';
import { endWith } from './goodbye.ts';

/**
 * A path whose escapes do not decode is taken as plain text, so that it passes the same hooks as every other (W2) and
 * is answered as an unknown address or id, in our words and not the framework's.
 */
export function readableUrl(url: string | undefined): string {
  const text = withoutLastSlash(url ?? '/');
  if (!text.includes('%')) return withoutDoubleSlash(text);
  const path = text.slice(0, endOfPath(text));
  const rest = text.slice(path.length);
  try {
    // No name contains a null character, and PostgreSQL cannot even be asked for one.
    if (!decodeURIComponent(path).includes('\0')) return withoutDoubleSlash(asPublished(path)) + rest;
  } catch {} // not readable either
  return path.replaceAll('%', '%25') + rest;
}

/**
 * `@` and `:` need no escape in a path, but many clients escape them, and the router would not recognise the address
 * (A1).
 */
export function asPublished(path: string): string {
  return path.replaceAll('%40', '@').replace(/%3a/gi, ':');
}

/**
 * An agent's address is published with a slash at the end; a client that appends a path with a slash of its own makes
 * two (A1).
 */
function withoutDoubleSlash(url: string): string {
  return url.startsWith('/@') ? url.replace(/^(\/@[^/?#]+\/[^/?#]+)\/{2,}/, '$1/') : url;
}

/** OpenSSL's code for plain HTTP on a TLS port. */
const PLAIN_ON_TLS = 'ERR_SSL_HTTP_REQUEST';

/** The same words whether it was sent to a server with TLS or, from another machine, to one without (W2). */
export function plainHttp(): Fault {
  return new Fault(
    'https_required',
    'Use https. A key that was sent over plain HTTP must be treated as known to others.',
  );
}

/** The socket below TLS, where a client without TLS can read an answer. Node has no public name for it. */
function below(socket: Socket & { _parent?: Socket }): Socket {
  return socket._parent ?? socket;
}

/**
 * An address with a slash at its end is the same address: it was typed, pasted or joined from parts. Exceptions: an
 * agent's own address, which has both forms (A1), and an empty id in WAKE (W14, W25).
 */
function withoutLastSlash(url: string): string {
  if (url.startsWith('/@') || url.startsWith('/wake/')) return url;
  const end = endOfPath(url);
  // Counted and not matched: a pattern tries each slash as the first of the last ones, and thousands of them take seconds.
  let kept = end;
  while (kept > SHORTEST_PATH && url[kept - 1] === '/') kept--;
  return kept === end ? url : url.slice(0, kept) + url.slice(end);
}

/** A slash and one letter. */
const SHORTEST_PATH = 2;

function endOfPath(url: string): number {
  const end = url.search(/[?#]/);
  return end < 0 ? url.length : end;
}

type Broken = { line: string; fault: Fault };

function toBroken(code: string | undefined): Broken {
  if (code === 'HPE_HEADER_OVERFLOW') {
    const fault = new Fault('header_too_large', 'The headers may have at most 16 KiB together.');
    return { line: '431 Request Header Fields Too Large', fault };
  }
  if (code === PLAIN_ON_TLS) return { line: '403 Forbidden', fault: plainHttp() };
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return {
      line: '408 Request Timeout',
      fault: new Fault('malformed_body', 'The request did not arrive in time.'),
    };
  }
  return { line: '400 Bad Request', fault: new Fault('malformed_body', 'This is not well-formed HTTP.') };
}

/** Sockets whose current body may take longer than others: an upload by a known sender. */
const patient = new WeakSet<Socket>();

/** Lifts the time limit for the request that is arriving on this socket. */
export function bePatient(socket: Socket): void {
  patient.add(socket);
}

/** Input that does not even parse as a request is refused in the same shape as everything else (W1). */
export function refuseBroken(baseUrl: () => string) {
  return (error: Error & { code?: string }, asked: Socket): void => {
    const socket = error.code === PLAIN_ON_TLS ? below(asked) : asked;
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    // Node reports it once per request: an upload that may go on is not checked again before the next request.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && patient.delete(socket)) return;
    const { line, fault } = toBroken(error.code);
    const body = JSON.stringify(errorBody(fault, baseUrl()));
    const head = [
      `HTTP/1.1 ${line}`,
      'content-type: application/json; charset=utf-8',
      'cache-control: no-store',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ];
    endWith(socket, `${head.join('\r\n')}\r\n\r\n${body}`);
  };
}
