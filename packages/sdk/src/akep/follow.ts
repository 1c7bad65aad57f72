import { aborted } from '../clock.ts';
import { LanternError } from '../faults.ts';
import { patiently } from '../patience.ts';
import type { Place } from './cursor.ts';
import { type Page, readEvents, readResumes, unhurried } from './pages.ts';
import type { InboxCall, InboxParts } from './parts.ts';
import type { AkepEvent, Resume } from './wire.ts';

/** One thing for the agent: something is known now, or a paused run may go on. */
export type InboxItem =
  | { readonly type: 'event'; readonly event: AkepEvent }
  | { readonly type: 'resume'; readonly resume: Resume };

/** What is read, and when reading ends. */
export interface FollowOptions extends InboxCall {
  /** Only these event types; the others are skipped and stay unacknowledged. */
  readonly types?: readonly string[] | undefined;
  /** End when everything that is there was handed out, instead of waiting for more. */
  readonly once?: boolean | undefined;
  /** How many are fetched at a time, 1…1000: 100. */
  readonly limit?: number | undefined;
}

export type Wanted = FollowOptions & { readonly lists: readonly (keyof Place)[] };

const WAIT_SECONDS = 50;
const DEFAULT_LIMIT = 100;

/**
 * Events in order, and after each page the resumes they caused. An item counts as handled when the next one is asked
 * for; a reader who leaves before that gets it again.
 */
export async function* follow(parts: InboxParts, wanted: Wanted): AsyncGenerator<InboxItem, void, undefined> {
  // The first look neither waits nor retries: a wrong address is reported at once.
  for (let isFirst = true; ; isFirst = false) {
    const isPatient = !isFirst && wanted.once !== true;
    const look = <T>(call: () => Promise<T>) => (isPatient ? patiently(parts, wanted, call) : call());
    const waitSeconds = isPatient ? WAIT_SECONDS : 0;
    const hasEvents = wanted.lists.includes('events');
    const page = hasEvents ? await look(() => nextEvents(parts, wanted, waitSeconds)) : null;
    if (page !== null) yield* handOut(parts, 'events', eventItems(page, wanted.types), wanted);
    if (page?.hasMore) continue;
    // Every resume comes with an event: after waiting for events there is no need to wait again.
    const resumeWait = hasEvents ? 0 : waitSeconds;
    if (wanted.lists.includes('resumes'))
      yield* allResumes(parts, { ...wanted, waitSeconds: resumeWait }, look);
    if (wanted.once) return;
  }
}

async function nextEvents(
  parts: InboxParts,
  wanted: Wanted,
  waitSeconds: number,
): Promise<Page<AkepEvent> | null> {
  const { cursor } = await parts.bookmark.at('events');
  const { signal, limit = DEFAULT_LIMIT } = wanted;
  const page = await unhurried(parts, { cursor, limit, waitSeconds, signal }, readEvents);
  if (page?.hasMore && page.nextCursor === cursor) throw stuck();
  return page;
}

async function* allResumes(
  parts: InboxParts,
  wanted: Wanted & { waitSeconds: number },
  look: <T>(call: () => Promise<T>) => Promise<T>,
): AsyncGenerator<InboxItem, void, undefined> {
  for (;;) {
    const { cursor } = await parts.bookmark.at('resumes');
    const { signal, limit = DEFAULT_LIMIT, waitSeconds } = wanted;
    const page = await look(() => unhurried(parts, { cursor, limit, waitSeconds, signal }, readResumes));
    if (page === null) return;
    const items = page.items.map((resume) => ({ type: 'resume', resume }) as const);
    yield* handOut(parts, 'resumes', { ...page, items }, wanted);
    if (!page.hasMore) return;
    if (page.nextCursor === cursor) throw stuck();
  }
}

function eventItems(page: Page<AkepEvent>, types: readonly string[] | undefined): Page<InboxItem> {
  const events = page.items.filter((event) => types === undefined || types.includes(event.event_type));
  return { ...page, items: events.map((event) => ({ type: 'event', event }) as const) };
}

async function* handOut(
  parts: InboxParts,
  list: keyof Place,
  page: Page<InboxItem>,
  call: InboxCall,
): AsyncGenerator<InboxItem, void, undefined> {
  const { done } = await parts.bookmark.at(list);
  const left = page.items.filter((item) => !done.includes(idOf(item)));
  for (const [index, item] of left.entries()) {
    if (call.signal?.aborted) throw aborted(call.signal);
    yield item;
    const isLast = index === left.length - 1;
    if (!isLast) await parts.bookmark.mark(list, idOf(item));
  }
  await parts.bookmark.turn(list, page.nextCursor);
}

/** Ids are unique per producer only (K8). */
function idOf(item: InboxItem): string {
  if (item.type === 'resume') return item.resume.resume_id;
  return `${item.event.source.producer_id} ${item.event.event_id}`;
}

function stuck(): LanternError {
  const message =
    'The server says there is more but gives no new cursor, so the inbox cannot be read on: report it.';
  return new LanternError('bad_reply', message);
}
