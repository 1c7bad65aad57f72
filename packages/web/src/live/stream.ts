import { asking, sessionQuery } from '../api/questions.ts';
import { isLoggedOut } from '../api/refused.ts';
import { kept } from '../api/request.ts';
import { catchUp, lookAgain, take } from './news.ts';

const GATHER_MS = 120;
const AGAIN_MS = 2000;
/**
 * After so many tries without a session the line rests. Not at once: somebody may be logging in right now, in another
 * tab.
 */
const STRANGE_MOST = 3;
/** How long connecting may take. After that, the server's `hello` says how often it sends something. */
const STANDS_MS = 30_000;
const BEATS_MISSED = 3;

/** Whether the live line is connected; the page says so when it is not. */
let connected = true;
const listeners = new Set<() => void>();
export const line = {
  connected: () => connected,
  subscribe: (listener: () => void) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
};

function mark(state: boolean): void {
  if (state === connected) return;
  connected = state;
  for (const tell of listeners) tell();
}

const lines = new Set<LiveLine>();

/**
 * Listens until it is stopped. Reconnects by itself after a restart of the server, and then reads everything again.
 */
export function listen(): () => void {
  const live = new LiveLine();
  lines.add(live);
  live.start();
  return () => {
    lines.delete(live);
    live.stop();
  };
}

/** Somebody has logged in again, so the line ends its rest. */
export function listenAgain(): void {
  for (const live of lines) live.comeBack();
}

type Timer = ReturnType<typeof setTimeout>;
type Hello = { ledger_seq?: number; beat_seconds?: number };

class LiveLine {
  readonly #gathered = new Gathered();
  #source: EventSource | null = null;
  #again: Timer | undefined;
  #silence: Timer | undefined;
  #mostSilentMs = STANDS_MS;
  #wasDown = false;
  #isFirst = true;
  /** How many times in a row the server said that nobody is logged in here. */
  #strange = 0;

  start(): void {
    this.#connect();
    document.addEventListener('visibilitychange', this.#seen);
    addEventListener('online', this.#online);
  }

  stop(): void {
    document.removeEventListener('visibilitychange', this.#seen);
    removeEventListener('online', this.#online);
    this.#hangUp();
    this.#gathered.stop();
  }

  comeBack(): void {
    this.#strange = 0;
    this.#hangUp();
    this.#connect();
  }

  // Somebody who comes back to this tab may have logged in in another one.
  #seen = () => {
    if (this.#strange >= STRANGE_MOST && document.visibilityState === 'visible') this.comeBack();
  };

  #online = () => (connected ? lookBeyondKept() : this.comeBack());

  #connect = () => {
    const source = new EventSource('/desk/stream');
    this.#source = source;
    this.#mostSilentMs = STANDS_MS;
    this.#heard();
    source.addEventListener('hello', (event) => this.#greeted(JSON.parse(event.data) as Hello));
    source.addEventListener('beat', () => {
      this.#heard();
      lookBeyondKept();
    });
    source.addEventListener('change', (event) => {
      this.#heard();
      this.#gathered.add((JSON.parse(event.data) as { about: string }).about);
    });
    source.addEventListener('reconnect', this.#lost);
    source.addEventListener('error', this.#lost);
  };

  #greeted({ ledger_seq, beat_seconds }: Hello): void {
    if (beat_seconds !== undefined) this.#mostSilentMs = beat_seconds * BEATS_MISSED * 1000;
    this.#heard();
    this.#strange = 0;
    mark(true);
    // What came from the offline cache is as outdated as what was shown before a silence.
    if (this.#wasDown || kept.at() !== null) void lookAgain();
    else if (this.#isFirst) void catchUp(ledger_seq);
    this.#wasDown = false;
    this.#isFirst = false;
  }

  // A connection can die without notice: a laptop that slept, a network that changed, a proxy that hangs.
  #heard = () => {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(this.#lost, this.#mostSilentMs);
  };

  #lost = () => {
    this.#hangUp();
    this.#wasDown = true;
    mark(false);
    this.#again = setTimeout(this.#connect, AGAIN_MS);
    // Perhaps the session has ended, or now belongs to somebody else: this request finds out.
    void asking.fetchQuery({ ...sessionQuery, staleTime: 0 }).catch((error) => {
      // Reconnecting is useless until somebody has logged in.
      if (isLoggedOut(error) && ++this.#strange >= STRANGE_MOST) this.#hangUp();
    });
  };

  #hangUp(): void {
    this.#source?.close();
    clearTimeout(this.#again);
    clearTimeout(this.#silence);
  }
}

/** A short outage need not break the line, but requests made during it were answered from the offline cache. */
function lookBeyondKept(): void {
  if (kept.at() !== null) void lookAgain();
}

/** Collects the changes that the line announces, until they are read. */
class Gathered {
  readonly #about = new Set<string>();
  #timer: Timer | undefined;
  #stopped = false;

  add(about: string): void {
    this.#about.add(about);
    this.#timer ??= setTimeout(this.#flush, GATHER_MS);
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  // Later changes wait until these are read, so that a storm of them is read only as fast as the page can.
  #flush = async () => {
    const ids = [...this.#about];
    this.#about.clear();
    await take(ids).catch(() => {});
    this.#timer = this.#about.size > 0 && !this.#stopped ? setTimeout(this.#flush, GATHER_MS) : undefined;
  };
}
