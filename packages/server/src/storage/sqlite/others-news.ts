import { type News, SERVER, type Topic } from '../../core/store.ts';
import type { Announcement } from '../batch.ts';
import { type HeadCache, readHead } from '../heads.ts';
import { fromNews } from '../intake/wire.ts';
import type { Session } from '../statement.ts';
import type { Version } from './until-changed.ts';

/** What one commit announced. */
type Told = [Topic, string[]][];

/** Only while somebody waits for something; a look takes two microseconds. */
const LOOK_MS = 250;
/** A server that is further behind tells everybody to look again. */
const MOST_CHARACTERS = 16_000;

/** Written by a process that is no server, in the transaction that makes the news: who sees the change finds both. */
export async function noteNews(heads: HeadCache, announced: readonly Announcement[]): Promise<void> {
  if (announced.length === 0) return;
  const own = heads.forSpace(SERVER, ['news']);
  const before = await own.get('news');
  const told = announced.map(({ topic, about }): Told[number] => [topic, [about]]);
  const notes = [...readNotes(before?.text), told];
  while (JSON.stringify(notes).length > MOST_CHARACTERS) notes.shift();
  own.set('news', { n: (before?.n ?? 0) + 1, at: 0, text: JSON.stringify(notes) });
}

/** Those that are kept, the newest last. */
function readNotes(text = '[]'): Told[] {
  return JSON.parse(text) as Told[];
}

type Parts = {
  session: Session;
  /** Changes with every commit of another connection. */
  version: Version;
  /** Null when it is not known any more what was announced. */
  tell(news: News | null): void;
};

/**
 * What commands commit while a server runs on the same file. Nothing but the file connects them: no socket that a
 * killed command leaves behind, and no second file that may be lost, locked or forgotten.
 */
export class OthersNews {
  readonly #parts: Parts;
  #seen = Number.NaN;
  #known = 0;
  #isListening = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** A server hears its own commits without it, and need not write them down. */
  get isListening(): boolean {
    return this.#isListening;
  }

  /** What was committed before is no news. */
  async start(): Promise<void> {
    this.#known = (await readHead(this.#parts.session, SERVER, 'news'))?.n ?? 0;
    this.#isListening = true;
  }

  /** An idle server is not woken for what nobody waits for. */
  attend(isAttended: boolean): void {
    clearInterval(this.#timer);
    if (!isAttended) return;
    this.#timer = setInterval(() => void this.#look().catch(() => {}), LOOK_MS).unref();
  }

  /** A store that cannot be read now is asked again; those who need it say what is wrong with it. */
  async #look(): Promise<void> {
    const { session, version, tell } = this.#parts;
    const now = version();
    if (now === this.#seen) return;
    const head = await readHead(session, SERVER, 'news');
    this.#seen = now;
    const missed = (head?.n ?? 0) - this.#known;
    if (missed === 0) return;
    this.#known += missed;
    const notes = readNotes(head?.text);
    const isKept = missed > 0 && missed <= notes.length;
    tell(isKept ? fromNews(notes.slice(-missed).flat()) : null);
  }
}
