import type { Clock } from '../clock.ts';
import { faultOf } from '../faults.ts';
import type { Http } from '../http.ts';
import type { Recorder } from '../recorder.ts';
import type { Bookmark } from './cursor.ts';

/** What lay behind a cursor is no longer kept (K17): these events will not come. */
export interface Gap {
  readonly expiredCursor: string | null;
  readonly oldestCursor: string;
}

/** What every verb of the inbox works with. */
export interface InboxParts {
  readonly http: Http;
  readonly clock: Clock;
  readonly record: Recorder;
  readonly bookmark: Bookmark;
  readonly onCursorExpired: (gap: Gap) => void;
}

export interface InboxCall {
  readonly signal?: AbortSignal | undefined;
}

const LONGEST_PAUSE_MS = 60_000;

/** Goes on through a restart of the server, for as long as it takes. */
export async function patiently<T>(parts: InboxParts, call: InboxCall, look: () => Promise<T>): Promise<T> {
  for (let pauseMs = 1_000; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      return await look();
    } catch (trouble) {
      const fault = faultOf(trouble);
      if (fault !== 'unreachable' && fault !== 'server_failed') throw trouble;
      await parts.clock.sleep(pauseMs, call.signal);
    }
  }
}
