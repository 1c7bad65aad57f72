import { parseExact, stringifyExact } from './exact-json.ts';
import { Refused } from './refused.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

const lostListeners = new Set<() => void>();

/** Told whenever the server no longer knows who we are. */
export function onSessionLost(listener: () => void): () => void {
  lostListeners.add(listener);
  return () => lostListeners.delete(listener);
}

const TIMEOUT_MS = 20_000;

/** One request. Every failure is a `Refused`, so that callers have one thing to look at. */
export async function request<T>(method: Method, path: string, body?: unknown): Promise<T> {
  const response = await send(method, path, body === undefined ? undefined : stringifyExact(body));
  if (response.ok) return (response.status === 204 ? undefined : await readJson(response)) as T;
  const refused = await toRefused(response);
  // A wrong password is not a lost session.
  if (refused.status === 401 && refused.code !== 'login_failed') for (const tell of lostListeners) tell();
  throw refused;
}

async function send(method: Method, path: string, body: string | undefined): Promise<Response> {
  try {
    return await fetch(path, {
      method,
      headers: body === undefined ? {} : { 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body }),
      credentials: 'same-origin',
      keepalive: method !== 'GET' && (body ?? '').length < 60_000,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    throw new Refused(0, { code: 'network', message: 'The server cannot be reached.' });
  }
}

async function readJson(response: Response): Promise<unknown> {
  markOffline(response.headers.get('x-lanternroom-kept'));
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
  return new Refused(response.status, { code: 'unknown', message: 'The server refused this.' }, retryAfter);
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
