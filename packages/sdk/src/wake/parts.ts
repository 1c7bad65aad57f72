import type { Clock } from '../clock.ts';
import type { Http } from '../http/http.ts';
import type { Journal } from './journal.ts';

/** What every verb of the client works with. */
export interface Parts {
  readonly http: Http;
  readonly journal: Journal;
  readonly clock: Clock;
}

/** For every call: aborting the signal ends it with the fault `aborted`. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}
