import { aborted } from '../clock.ts';
import { LanternError } from '../faults.ts';
import { readEvents, type ServerEvent } from '../http/sse.ts';
import { createWatch } from '../http/watch.ts';
import { parseJson } from '../json.ts';
import { patiently } from '../patience.ts';
import { isResume } from './pages.ts';
import type { InboxCall, InboxParts } from './parts.ts';
import { isEvent } from './verify.ts';
import type { AkepEvent, Resume } from './wire.ts';

/** Where the stream begins. */
export interface StreamOptions extends InboxCall {
  /** What follows this place; left out, from the oldest event that was not acknowledged. */
  readonly cursor?: string | undefined;
}

/** One item as it happens, with the place after it. */
export type Streamed =
  | { readonly type: 'event'; readonly event: AkepEvent; readonly cursor: string }
  | { readonly type: 'resume'; readonly resume: Resume; readonly cursor: string | null };

const PAUSE_MS = 1_000;

/** Continues after a restart of the server or a dead connection, from where it was. */
export async function* stream(
  parts: InboxParts,
  options: StreamOptions,
): AsyncGenerator<Streamed, void, undefined> {
  let cursor = options.cursor;
  for (let isFirst = true; ; isFirst = false) {
    for await (const item of streamOnce(parts, { ...options, cursor }, isFirst)) {
      yield item;
      cursor = item.cursor ?? cursor;
    }
    await parts.clock.sleep(PAUSE_MS, options.signal);
  }
}

/** One connection, until it breaks off or is silent for too long. Refusals are thrown. */
async function* streamOnce(
  parts: InboxParts,
  options: StreamOptions,
  isFirst: boolean,
): AsyncGenerator<Streamed, void, undefined> {
  const watch = createWatch(options.signal);
  try {
    const open = () => parts.http.open({ method: 'GET', path: pathOf(options.cursor) }, watch.signal);
    // The first look neither waits nor retries: a wrong address is reported at once.
    const body = await (isFirst ? open() : patiently(parts, options, open));
    for await (const sent of readEvents(watch.over(body))) {
      const item = itemOf(sent);
      if (item === null) continue;
      watch.rest();
      yield item;
      watch.goOn();
    }
  } catch (error) {
    if (options.signal?.aborted) throw aborted(options.signal);
    if (error instanceof LanternError && error.fault !== 'aborted') throw error;
  } finally {
    watch.end();
  }
  if (options.signal?.aborted) throw aborted(options.signal);
}

function pathOf(cursor: string | undefined): string {
  const query = cursor === undefined ? '' : `?${new URLSearchParams({ cursor })}`;
  return `/akep/events/stream${query}`;
}

/** Null for what this version does not know: a newer server may send more. */
function itemOf({ id, name, data }: ServerEvent): Streamed | null {
  const value = parseJson(data);
  if (name === 'event' && id !== null && isEvent(value)) return { type: 'event', event: value, cursor: id };
  if (name === 'resume' && isResume(value)) return { type: 'resume', resume: value, cursor: id };
  return null;
}
