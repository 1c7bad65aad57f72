import { compareClocks } from '../live/clock.ts';
import { parseExact, stringifyExact } from './exact-json.ts';
import { notOurs, Refused } from './refused.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

const lostListeners = new Set<() => void>();

/** Told whenever the server no longer knows who we are. */
export function onSessionLost(listener: () => void): () => void {
  lostListeners.add(listener);
  return () => lostListeners.delete(listener);
}

const TIMEOUT_MS = 20_000;
/** For what the server itself needs long for: calling somebody who does not answer, following a chain of a million lines. */
export const PATIENCE_MS = 600_000;
const KEPT = 'x-lanternroom-kept';

/** One request. Every failure is a `Refused`, so that callers have one thing to look at. */
export async function request<T>(
  method: Method,
  path: string,
  body?: unknown,
  timeoutMs = TIMEOUT_MS,
): Promise<T> {
  const text = body === undefined ? undefined : stringifyExact(body);
  const response = await send(method, path, { body: text, timeoutMs });
  if (response.ok) return (response.status === 204 ? undefined : await readJson(response)) as T;
  const refused = await toRefused(response);
  // A wrong password is not a lost session.
  if (refused.status === 401 && refused.code !== 'login_failed') for (const tell of lostListeners) tell();
  throw refused;
}

async function send(
  method: Method,
  path: string,
  { body, timeoutMs }: { body: string | undefined; timeoutMs: number },
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
      signal: AbortSignal.timeout(timeoutMs),
    });
    // What was kept for a day without network tells the time of that day.
    if (!response.headers.has(KEPT)) compareClocks(response.headers.get('date'), askedAt);
    return response;
  } catch {
    throw new Refused(0, { code: 'network', message: 'The server cannot be reached.' });
  } finally {
    outlives?.();
  }
}

/** Browsers let 64 KiB of bodies outlive their page, all requests together, and fail the one that is too much. */
const ROOM_BYTES = 60_000;
const ROOM_REQUESTS = 8;
let roomBytes = 0;
let roomRequests = 0;

/** Room for a request that goes on when the page is closed, until it is given back; null when there is none. */
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

async function readJson(response: Response): Promise<unknown> {
  markOffline(response.headers.get(KEPT));
  try {
    return parseExact(await response.text());
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

/** The service worker marks what it kept with the time it kept it: then we show the last list, and say so. */
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
