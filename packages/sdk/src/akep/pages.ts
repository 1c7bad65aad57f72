import { faultOf, LanternError } from '../faults.ts';
import { isRecord, textOf } from '../json.ts';
import type { InboxCall, InboxParts } from './parts.ts';
import { isEvent } from './verify.ts';
import type { AkepEvent, Resume } from './wire.ts';

/** A page behind a cursor. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

export interface PageWish extends InboxCall {
  readonly cursor: string | null;
  readonly limit: number;
  /** Let the server hold the reply this long when there is nothing (K12). */
  readonly waitSeconds: number;
}

/** Null when nothing came in time. A cursor that is no longer kept is told, and read on from the oldest (K17). */
export async function readEvents(parts: InboxParts, wish: PageWish): Promise<Page<AkepEvent> | null> {
  try {
    return await readEventsAt(parts, wish);
  } catch (error) {
    const oldestCursor = oldestIn(error);
    if (oldestCursor === null || oldestCursor === wish.cursor) throw error;
    await parts.record('cursor_expired', { expired_cursor: wish.cursor, oldest_cursor: oldestCursor });
    parts.onCursorExpired({ expiredCursor: wish.cursor, oldestCursor });
    return readEvents(parts, { ...wish, cursor: oldestCursor });
  }
}

async function readEventsAt(parts: InboxParts, wish: PageWish): Promise<Page<AkepEvent> | null> {
  const query = queryOf(wish);
  if (wish.waitSeconds > 0) query.set('timeout_seconds', String(wish.waitSeconds));
  const path = wish.waitSeconds > 0 ? '/akep/events/wait' : '/akep/events';
  const call = { method: 'GET', path: `${path}?${query}`, heldMs: wish.waitSeconds * 1_000 } as const;
  const body = await parts.http.send(call, wish.signal).catch(explained);
  return body === null ? null : demandPage(body, 'events', isEvent);
}

export async function readResumes(parts: InboxParts, wish: Omit<PageWish, 'waitSeconds'>) {
  const call = { method: 'GET', path: `/akep/resumes?${queryOf(wish)}` } as const;
  return demandPage(await parts.http.send(call, wish.signal).catch(explained), 'resumes', isResume);
}

function queryOf({ cursor, limit }: Pick<PageWish, 'cursor' | 'limit'>): URLSearchParams {
  const query = new URLSearchParams({ limit: String(limit) });
  if (cursor !== null) query.set('cursor', cursor);
  return query;
}

function oldestIn(error: unknown): string | null {
  return faultOf(error) === 'cursor_expired' && error instanceof LanternError
    ? (error.wire?.oldestCursor ?? null)
    : null;
}

function explained(error: unknown): never {
  const isAboutCursor = error instanceof LanternError && error.wire?.field === 'cursor';
  if (!isAboutCursor) throw error;
  const message =
    'The saved cursor does not belong to this inbox: use one cursor file for each agent and server, or remove the file to read from the beginning.';
  throw new LanternError('cursor_failed', message, { cause: error });
}

function demandPage<T>(body: unknown, list: string, isItem: (value: unknown) => value is T): Page<T> {
  const items = isRecord(body) ? body[list] : null;
  const nextCursor = isRecord(body) ? textOf(body.next_cursor) : null;
  if (!isRecord(body) || !Array.isArray(items) || !items.every(isItem) || nextCursor === null) {
    const message =
      'The server answered with something that is not an AKEP page: check the address and version.';
    throw new LanternError('bad_reply', message);
  }
  return { items, nextCursor, hasMore: body.has_more === true };
}

function isResume(value: unknown): value is Resume {
  return isRecord(value) && typeof value.resume_id === 'string' && typeof value.event_id === 'string';
}
