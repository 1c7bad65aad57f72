import { ReadMemory } from '../read-memory.ts';
import { Insert, type Session, type Statement } from '../statement.ts';
import type { PgLink } from './link.ts';

/** With this many rows, an insert is sent at once: the database works on them while the next ones are sealed. */
const CROWD = 32;
/** Bound rows are sent in groups of these sizes, so that few statements need to be prepared. */
const SIZES = [32, 16, 8, 4, 3, 2, 1] as const;
/** Fewer rows are cheaper in a prepared statement than in a COPY. */
const WORTH_COPYING = 4;

/**
 * The session of one transaction, made for a database that is a network round trip away. Inserts are held back and
 * sent together; everything else sends them first. The first read that must travel takes along the reads of the later
 * units (`scout`), so that a batch costs a few round trips and not a few per unit.
 */
export class BatchSession implements Session {
  /** Rows written so far: tells whether a refused unit left something behind. */
  writes = 0;
  readonly touched = new Set<string>();
  readonly memory = new ReadMemory();
  readonly #link: PgLink;
  readonly #scout: () => Promise<void>;
  #held = new Map<Insert<object>, object[]>();
  #sent: Promise<unknown>[] = [];

  constructor(link: PgLink, scout: () => Promise<void>) {
    this.#link = link;
    this.#scout = scout;
  }

  async all<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    const known = this.memory.get(statement, params);
    if (known !== undefined) return known;
    this.send();
    const rows = this.#link.all(statement, params);
    await Promise.all([rows, this.#scout()]);
    return rows;
  }

  async one<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    return (await this.all(statement, params))[0];
  }

  async run<P extends object, R>(statement: Statement<P, R>, params: P): Promise<number> {
    this.writes++;
    if (statement instanceof Insert) return this.#hold(statement, params);
    const { tables } = statement.reach;
    for (const table of tables) this.touched.add(table);
    this.send();
    const changed = await this.#link.run(statement, params);
    this.memory.changed(tables);
    return changed;
  }

  /** Sends what is held back. `settled` reports whether it succeeded. */
  send(): void {
    const held = this.#held;
    this.#held = new Map();
    for (const [insert, rows] of held) this.#insert(insert, rows);
  }

  /** Nobody waits for it before the commit. */
  keep(sent: Promise<unknown>): void {
    sent.catch(() => {}); // looked at in `settled`
    this.#sent.push(sent);
  }

  /** Throws the first error of what was sent, if there was one. */
  async settled(): Promise<void> {
    for (const one of this.#sent) await one;
  }

  #hold(insert: Insert<object>, row: object): number {
    const rows = this.#held.get(insert);
    if (rows === undefined) this.#held.set(insert, [row]);
    else if (rows.push(row) >= CROWD) {
      this.#insert(insert, rows);
      this.#held.delete(insert);
      this.#link.flush();
    }
    this.touched.add(insert.table);
    this.memory.inserted(insert.table, row as Record<string, unknown>);
    return 1;
  }

  #insert(insert: Insert<object>, rows: readonly object[]): void {
    const isCopied = rows.length >= WORTH_COPYING && !insert.replaces && !this.#link.greeting.isPooled;
    if (isCopied) this.keep(this.#link.copy(insert, rows));
    else this.#bind(insert, rows);
  }

  #bind(insert: Insert<object>, rows: readonly object[]): void {
    for (let at = 0; at < rows.length; ) {
      const size = SIZES.find((s) => s <= rows.length - at) ?? 1;
      const { sql, bind } = insert.compileMany('postgres', size);
      this.keep(this.#link.query(sql, bind(rows.slice(at, at + size))));
      at += size;
    }
  }
}

/**
 * The session of a unit that only runs to see what it will read. It changes nothing: an insert is dropped, and any
 * other change reports that it found no row, which ends whatever loop it is in.
 */
export function scoutSession(link: PgLink, memory: ReadMemory): Session {
  const all = <P extends object, R>(statement: Statement<P, R>, params: P): Promise<R[]> => {
    const known = memory.get(statement, params);
    if (known !== undefined) return known;
    const rows = link.all(statement, params);
    rows.catch(() => {}); // whoever needs it for real finds out
    memory.put(statement, params, rows);
    return rows;
  };
  return {
    all,
    one: async (statement, params) => (await all(statement, params))[0],
    run: async (statement) => (statement instanceof Insert ? 1 : 0),
  };
}
