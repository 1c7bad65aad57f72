import { compareClocks } from '../live/clock.ts';
import { parseExact, stringifyExact } from './exact-json.ts';
import { Patience } from './patience.ts';
import { notOurs, Refused } from './refused.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

const lostListeners = new Set<() => void>();

/** Calls the listener whenever the server no longer knows who is logged in here. */
export function onSessionLost(listener: () => void): () => void {
  lostListeners.add(listener);
  return () => lostListeners.delete(listener);
}

/** How long the server may be silent. */
const TIMEOUT_MS = 20_000;
/**
 * For requests that can take the server long: calling somebody who does not answer, or verifying a chain of a million
 * lines.
 */
export const PATIENCE_MS = 600_000;
const KEPT = 'x-lanternroom-kept';

/** Sends one request. Every failure is a `Refused`, so that callers have only one kind of error to handle. */
export async function request<T>(
  method: Method,
  path: string,
  body?: unknown,
  timeoutMs = TIMEOUT_MS,
): Promise<T> {
  const text = body === undefined ? undefined : stringifyExact(body);
  const patience = new Patience(timeoutMs, text?.length ?? 0);
  try {
    const response = await send(method, path, { body: text, signal: patience.signal });
    if (response.ok) return (response.status === 204 ? undefined : await readJson(response, patience)) as T;
    const refused = await toRefused(response);
    // A wrong password is not a lost session.
    if (refused.status === 401 && refused.code !== 'login_failed') for (const tell of lostListeners) tell();
    throw refused;
  } finally {
    patience.end();
  }
}

async function send(
  method: Method,
  path: string,
  { body, signal }: { body: string | undefined; signal: AbortSignal },
): Promise<Response> {
  const askedAt = Date.now();
  const outlives = method === 'GET' ? null : takeRoom(body ?? '');
  try {
    const response = await fetch(path, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
      credentials: 'same-origin',
      keepalive: outlives !== null,
      signal,
    });
    // An answer from the offline cache carries the time at which it was cached, not the server's time of now.
    if (!response.headers.has(KEPT)) compareClocks(response.headers.get('date'), askedAt);
    return response;
  } catch {
    throw new Refused(0, { code: 'network', message: 'The server cannot be reached.' });
  } finally {
    outlives?.();
  }
}

/**
 * Browsers let a page's requests outlive it (`keepalive`) only while their bodies are below 64 KiB together, and fail
 * the request that exceeds this.
 */
const ROOM_BYTES = 60_000;
const ROOM_REQUESTS = 8;
let roomBytes = 0;
let roomRequests = 0;

/**
 * Reserves room for a request that may outlive the page, and returns how to give it back; null when there is not
 * enough room.
 */
function takeRoom(body: string): (() => void) | null {
  const bytes = body.length > ROOM_BYTES ? body.length : new TextEncoder().encode(body).length;
  if (roomRequests >= ROOM_REQUESTS || roomBytes + bytes > ROOM_BYTES) return null;
  roomBytes += bytes;
  roomRequests++;
  return () => {
    roomBytes -= bytes;
    roomRequests--;
  };
}

async function readJson(response: Response, patience: Patience): Promise<unknown> {
  markOffline(response.headers.get(KEPT));
  try {
    return parseExact(await patience.read(response));
  } catch {
    throw new Refused(0, { code: 'network', message: 'The answer of the server broke off.' });
  }
}

async function toRefused(response: Response): Promise<Refused> {
  const retry = Number(response.headers.get('retry-after') ?? Number.NaN);
  const retryAfter = Number.isFinite(retry) ? retry : undefined;
  try {
    const { error } = (await response.json()) as { error?: { code: string; message: string } };
    if (typeof error?.code === 'string') return new Refused(response.status, error, retryAfter);
  } catch {}
  return notOurs(response.status, retryAfter);
}

let keptAt: string | null = null;
const keptListeners = new Set<() => void>();

/**
 * The service worker marks answers from its cache with the time at which they were cached: the page then shows the
 * last list, and says so.
 */
function markOffline(stamp: string | null): void {
  if (stamp === keptAt) return;
  keptAt = stamp;
  for (const tell of keptListeners) tell();
}

export const kept = {
  at: () => keptAt,
  subscribe: (listener: () => void) => {
    keptListeners.add(listener);
    return () => void keptListeners.delete(listener);
  },
};
