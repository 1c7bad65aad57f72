import { LanternError } from '../faults.ts';
import { isRecord, textOf } from '../json.ts';
import type { InboxCall, InboxParts } from './parts.ts';
import { isEvent } from './verify.ts';
import type { AkepEvent } from './wire.ts';

/** Which part of the inbox. */
export interface PageCall extends InboxCall {
  /** What follows this place; left out, from the oldest event that is kept. */
  readonly cursor?: string | undefined;
  /** At most so many, 1…1000: 100. */
  readonly limit?: number | undefined;
  /** Instead of a cursor: the newest so many, in their order. */
  readonly last?: number | undefined;
  /** Let the server hold the reply this long, up to 60 s, when there is nothing yet. */
  readonly waitSeconds?: number | undefined;
}

/** A part of the inbox; `nextCursor` is the place behind it, also of an empty one. */
export interface EventPage {
  readonly events: readonly AkepEvent[];
  readonly nextCursor: string;
  readonly hasMore: boolean;
}

/** Null when nothing came within `waitSeconds`. */
export async function readPage(parts: InboxParts, call: PageCall): Promise<EventPage | null> {
  const { cursor, limit, last, waitSeconds = 0 } = call;
  const query = new URLSearchParams();
  if (cursor !== undefined) query.set('cursor', cursor);
  if (limit !== undefined) query.set('limit', String(limit));
  if (last !== undefined) query.set('last', String(last));
  if (waitSeconds > 0) query.set('timeout_seconds', String(waitSeconds));
  const path = `/akep/events${waitSeconds > 0 ? '/wait' : ''}?${query}`;
  const body = await parts.http.send({ method: 'GET', path, heldMs: waitSeconds * 1_000 }, call.signal);
  return body === null ? null : toPage(body);
}

function toPage(body: unknown): EventPage {
  const events = isRecord(body) ? body.events : null;
  const nextCursor = isRecord(body) ? textOf(body.next_cursor) : null;
  if (!isRecord(body) || !Array.isArray(events) || !events.every(isEvent) || nextCursor === null) {
    const message =
      'The server answered with something that is not an AKEP page: check the address and version.';
    throw new LanternError('bad_reply', message);
  }
  return { events, nextCursor, hasMore: body.has_more === true };
}
