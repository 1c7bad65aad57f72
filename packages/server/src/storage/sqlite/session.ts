import type { Session, Statement } from '../statement.ts';
import { Database, type Prepared as Query } from './driver.ts';
import { storageFault } from './errors.ts';

type Prepared = {
  bind(params: object): unknown[];
  query: Query;
  /** What it is about; asked of statements that write. */
  tables: ReadonlySet<string> | null;
};

/** One connection with its prepared statements. The driver is synchronous; the promises are there for the other driver. */
export class SqliteSession implements Session {
  readonly db: Database;
  /** Rows written since the last look: tells whether a refused unit left something behind. */
  writes = 0;
  /** The tables that were written since somebody cleared it. */
  readonly written = new Set<string>();
  readonly #prepared = new Map<Statement<never, unknown>, Prepared>();

  constructor(file: string) {
    this.db = new Database(file);
    this.db.exec('pragma busy_timeout = 5000');
  }

  async all<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    const { query, bind } = this.#prepare(statement);
    return orFault(() => query.all(...bind(params))) as R[];
  }

  async one<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    const { query, bind } = this.#prepare(statement);
    return orFault(() => query.get(...bind(params))) as R | undefined;
  }

  async run<P extends object, R>(statement: Statement<P, R>, params: P): Promise<number> {
    const prepared = this.#prepare(statement);
    const { query, bind } = prepared;
    prepared.tables ??= statement.reach.tables;
    for (const table of prepared.tables) this.written.add(table);
    this.writes++;
    return orFault(() => query.run(...bind(params))).changes;
  }

  #prepare<P extends object, R>(statement: Statement<P, R>): Prepared {
    const key = statement as unknown as Statement<never, unknown>;
    let prepared = this.#prepared.get(key);
    if (prepared === undefined) {
      const { sql, bind } = statement.compile('sqlite');
      prepared = { bind, query: this.db.prepare(sql), tables: null };
      this.#prepared.set(key, prepared);
    }
    return prepared;
  }
}

/** A page that cannot be read is found by whoever needs it: they get a fault, and the log the whole story. */
function orFault<T>(work: () => T): T {
  try {
    return work();
  } catch (reason) {
    throw storageFault(reason);
  }
}
