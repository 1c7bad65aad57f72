import { faultOf, LanternError } from '../faults.ts';
import { isRecord, textOf } from '../json.ts';
import type { InboxCall, InboxParts } from './parts.ts';
import { isEvent } from './verify.ts';
import type { AkepEvent, Resume } from './wire.ts';

/** The page after a cursor. */
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

/** Null when nothing came in time. An expired cursor is reported, and reading goes on from the oldest event (K17). */
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
  const body = await heldGet(parts, '/akep/events', wish);
  return body === null ? null : demandPage(body, 'events', isEvent);
}

/** Null when nothing came in time. */
export async function readResumes(parts: InboxParts, wish: PageWish): Promise<Page<Resume> | null> {
  const body = await heldGet(parts, '/akep/resumes', wish);
  return body === null ? null : demandPage(body, 'resumes', isResume);
}

/** The page after the cursor, or its waiting counterpart where the server may hold the reply (K12, K41). */
function heldGet(parts: InboxParts, list: string, wish: PageWish): Promise<unknown> {
  const query = queryOf(wish);
  if (wish.waitSeconds > 0) query.set('timeout_seconds', String(wish.waitSeconds));
  const path = wish.waitSeconds > 0 ? `${list}/wait` : list;
  const call = { method: 'GET', path: `${path}?${query}`, heldMs: wish.waitSeconds * 1_000 } as const;
  return parts.http.send(call, wish.signal).catch(explained);
}

const EARLY_PAUSE_MS = 1_000;

/** A stopping server releases all waiting clients at once; they should not all come back at once. */
export async function unhurried<T>(
  parts: InboxParts,
  wish: PageWish,
  read: (parts: InboxParts, wish: PageWish) => Promise<Page<T> | null>,
): Promise<Page<T> | null> {
  const startedMs = parts.clock.now();
  const page = await read(parts, wish);
  const wasHeld = parts.clock.now() - startedMs >= wish.waitSeconds * 500;
  const isEmpty = page === null || page.items.length === 0;
  if (isEmpty && !wasHeld) await parts.clock.sleep(EARLY_PAUSE_MS, wish.signal);
  return page;
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

export function isResume(value: unknown): value is Resume {
  return isRecord(value) && typeof value.resume_id === 'string' && typeof value.event_id === 'string';
}
