import { aborted } from '../clock.ts';
import { LanternError } from '../faults.ts';
import { parseJson } from '../json.ts';
import { readEvents, type ServerEvent } from '../sse.ts';
import { createWatch } from '../watch.ts';
import { isResume } from './pages.ts';
import { type InboxCall, type InboxParts, patiently } from './parts.ts';
import { isEvent } from './verify.ts';
import type { AkepEvent, Resume } from './wire.ts';

export interface StreamOptions extends InboxCall {
  /** Behind this place; left out, from the oldest event that was not acknowledged. */
  readonly cursor?: string | undefined;
}

/** One thing as it happens, with the place behind it. */
export type Streamed =
  | { readonly type: 'event'; readonly event: AkepEvent; readonly cursor: string }
  | { readonly type: 'resume'; readonly resume: Resume; readonly cursor: string | null };

/** Goes on through a restart of the server and a dead connection, from where it was. */
export async function* stream(
  parts: InboxParts,
  options: StreamOptions,
): AsyncGenerator<Streamed, void, undefined> {
  let cursor = options.cursor ?? null;
  for (let isFirst = true; ; isFirst = false) {
    const watch = createWatch(options.signal);
    try {
      const query = cursor === null ? '' : `?${new URLSearchParams({ cursor })}`;
      const call = { method: 'GET', path: `/akep/events/stream${query}` } as const;
      const open = () => parts.http.open(call, watch.signal);
      // The first look neither waits nor forgives: a wrong address is told at once.
      const body = await (isFirst ? open() : patiently(parts, options, open));
      for await (const sent of readEvents(watch.over(body))) {
        const item = itemOf(sent);
        if (item === null) continue;
        watch.rest(true);
        yield item;
        watch.rest(false);
        cursor = item.cursor ?? cursor;
      }
    } catch (error) {
      if (options.signal?.aborted) throw aborted(options.signal);
      // Broken off, or silent for too long; what was refused is told.
      if (error instanceof LanternError && error.fault !== 'aborted') throw error;
    } finally {
      watch.end();
    }
    if (options.signal?.aborted) throw aborted(options.signal);
    await parts.clock.sleep(1_000, options.signal);
  }
}

/** Null for what this version does not know: a newer server may tell more. */
function itemOf({ id, name, data }: ServerEvent): Streamed | null {
  const value = parseJson(data);
  if (name === 'event' && id !== null && isEvent(value)) return { type: 'event', event: value, cursor: id };
  if (name === 'resume' && isResume(value)) return { type: 'resume', resume: value, cursor: id };
  return null;
}
