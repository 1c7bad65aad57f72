import { isRecord, parseJson } from '../json.ts';
import { type AgentFrame, readWork, type WorkFrame } from './frames.ts';

/** What a journal holds, line by line. */
export type Entry =
  | { readonly entry: 'taken'; readonly frame: WorkFrame }
  | { readonly entry: 'begun' | 'ended'; readonly turn: string }
  | { readonly entry: 'out'; readonly turn: string; readonly frame: AgentFrame }
  | { readonly entry: 'acked'; readonly id: string }
  /** The name that the hub has given to the connection. */
  | { readonly entry: 'linked'; readonly id: string };

export interface Turn {
  readonly frame: WorkFrame;
  hasBegun: boolean;
  /** Ids of everything that was said in this turn, so that a resumed turn does not say it twice. */
  readonly said: Set<string>;
}

/** Ids that are remembered after their turn has ended, for acknowledgements that got lost. */
const REMEMBERED = 10_000;

/**
 * Everything the agent's side must not forget: what is to be done, what was begun, what was said and not yet
 * acknowledged. Reading a journal's lines one after the other rebuilds it.
 */
export class Book {
  readonly turns = new Map<string, Turn>();
  readonly outbox = new Map<string, AgentFrame>();
  /** The last connection, which the hub may still believe to be open. */
  link: string | null = null;
  readonly #past = new Set<string>();

  static from(lines: Iterable<string>): Book {
    const book = new Book();
    for (const line of lines) {
      const entry = readEntry(line);
      if (entry !== null) book.apply(entry);
    }
    return book;
  }

  /** Whether this turn was already taken. */
  knows(id: string): boolean {
    return this.turns.has(id) || this.#past.has(id);
  }

  hasEnded(id: string): boolean {
    return this.#past.has(id);
  }

  apply(entry: Entry): void {
    switch (entry.entry) {
      case 'taken':
        this.turns.set(entry.frame.turn, { frame: entry.frame, hasBegun: false, said: new Set() });
        return;
      case 'begun': {
        const turn = this.turns.get(entry.turn);
        if (turn !== undefined) turn.hasBegun = true;
        return;
      }
      case 'out':
        this.turns.get(entry.turn)?.said.add(entry.frame.id);
        this.outbox.set(entry.frame.id, entry.frame);
        return;
      case 'acked':
        this.outbox.delete(entry.id);
        return;
      case 'linked':
        this.link = entry.id;
        return;
      case 'ended':
        this.turns.delete(entry.turn);
        this.#remember(entry.turn);
    }
  }

  #remember(id: string): void {
    this.#past.add(id);
    const [oldest] = this.#past;
    if (this.#past.size > REMEMBERED && oldest !== undefined) this.#past.delete(oldest);
  }

  /** The fewest lines that rebuild this book. */
  *lines(): Generator<Entry> {
    if (this.link !== null) yield { entry: 'linked', id: this.link };
    for (const turn of this.#past) yield { entry: 'ended', turn };
    for (const { frame, hasBegun } of this.turns.values()) {
      yield { entry: 'taken', frame };
      if (hasBegun) yield { entry: 'begun', turn: frame.turn };
    }
    yield* this.#spoken();
  }

  *#spoken(): Generator<Entry> {
    const turnOf = new Map<string, string>();
    for (const [id, { said }] of this.turns) for (const one of said) turnOf.set(one, id);
    for (const [id, frame] of this.outbox) {
      yield { entry: 'out', turn: turnOf.get(id) ?? '', frame };
      turnOf.delete(id);
    }
    // Said and acknowledged, in turns that are still running: only the id needs to be remembered.
    for (const [id, turn] of turnOf) {
      yield { entry: 'out', turn, frame: { id, type: 'accepted', taskId: '' } };
      yield { entry: 'acked', id };
    }
  }
}

/** Null for a half-written line after a crash, and for what a newer version wrote. */
function readEntry(line: string): Entry | null {
  const value = parseJson(line);
  if (!isRecord(value)) return null;
  const { entry, turn, id, frame } = value;
  if (entry === 'taken') {
    const work = readWork(frame);
    return work === null ? null : { entry, frame: work };
  }
  if ((entry === 'begun' || entry === 'ended') && typeof turn === 'string') return { entry, turn };
  if ((entry === 'acked' || entry === 'linked') && typeof id === 'string') return { entry, id };
  if (entry === 'out' && typeof turn === 'string' && isSaid(frame)) return { entry, turn, frame };
  return null;
}

// It comes from our own file: the compiler checked its shape when it was written.
function isSaid(frame: unknown): frame is AgentFrame {
  return isRecord(frame) && typeof frame.id === 'string' && typeof frame.type === 'string';
}
