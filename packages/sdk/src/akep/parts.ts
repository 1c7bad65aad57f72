import type { Clock } from '../clock.ts';
import type { Http } from '../http/http.ts';
import type { Recorder } from '../log/recorder.ts';
import type { Bookmark } from './cursor.ts';

/** What came after a cursor is no longer kept (K17): these events will never arrive. */
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

/** For every call: aborting the signal ends it with the fault `aborted`. */
export interface InboxCall {
  readonly signal?: AbortSignal | undefined;
}
