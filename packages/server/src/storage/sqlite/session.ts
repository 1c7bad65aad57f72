import { Insert, type Session, type Statement } from '../statement.ts';
import { Database, type Prepared as Query } from './driver.ts';
import { storageFault } from './errors.ts';

type Prepared = {
  bind(params: object): unknown[];
  query: Query;
  /** The names of the columns it returns. A newer version may add a column while we run, and so change what `*` means. */
  columns: readonly string[];
  /** The tables it touches; needed for statements that write. */
  tables: ReadonlySet<string> | null;
};

/**
 * One connection with its prepared statements. The driver is synchronous; the promises are there for PostgreSQL's
 * sake.
 */
export class SqliteSession implements Session {
  readonly db: Database;
  /** Rows written since the last look: shows whether a refused unit left something behind. */
  writes = 0;
  /** The tables that were written since somebody cleared it. */
  readonly written = new Set<string>();
  readonly #prepared = new Map<Statement<never, unknown>, Prepared>();

  constructor(file: string) {
    this.db = new Database(file);
    this.db.exec('pragma busy_timeout = 5000');
  }

  async all<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    const prepared = this.#prepare(statement);
    const { query, bind } = prepared;
    const rows = orFault(() => query.all(...bind(params))) as unknown as unknown[][];
    const columns = rows[0] === undefined ? [] : columnsFor(prepared, rows[0]);
    return rows.map((values) => toRow(columns, values) as R);
  }

  async one<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    const prepared = this.#prepare(statement);
    const { query, bind } = prepared;
    const values = orFault(() => query.get(...bind(params))) as unknown as unknown[] | undefined;
    return values && (toRow(columnsFor(prepared, values), values) as R);
  }

  async run<P extends object, R>(statement: Statement<P, R>, params: P): Promise<number> {
    const prepared = this.#prepare(statement);
    const { query, bind } = prepared;
    prepared.tables ??= statement.reach.tables;
    for (const table of prepared.tables) this.written.add(table);
    this.writes++;
    if (!(statement instanceof Insert)) return orFault(() => query.run(...bind(params))).changes;
    // Nobody asks how many rows an insert changed, and the driver would allocate an object to say so.
    orFault(() => query.get(...bind(params)));
    return 1;
  }

  #prepare<P extends object, R>(statement: Statement<P, R>): Prepared {
    const key = statement as unknown as Statement<never, unknown>;
    let prepared = this.#prepared.get(key);
    if (prepared === undefined) {
      const { sql, bind } = statement.compile('sqlite');
      const query = this.db.prepare(sql);
      query.setReturnArrays(true);
      prepared = { bind, query, columns: columnsOf(query), tables: null };
      this.#prepared.set(key, prepared);
    }
    return prepared;
  }
}

function columnsOf(query: Query): string[] {
  return query.columns().map(({ name }) => name);
}

function columnsFor(prepared: Prepared, values: readonly unknown[]): readonly string[] {
  if (prepared.columns.length !== values.length) prepared.columns = columnsOf(prepared.query);
  return prepared.columns;
}

/**
 * The driver's own row objects take half as long again and stay slow to read, because they are built property by
 * property.
 */
function toRow(columns: readonly string[], values: readonly unknown[]): object {
  const row: Record<string, unknown> = {};
  for (let i = 0; i < columns.length; i++) row[columns[i] as string] = values[i];
  return row;
}

/** A page that cannot be read is found by whoever needs it: they get a fault, and the log gets the details. */
function orFault<T>(work: () => T): T {
  try {
    return work();
  } catch (reason) {
    throw storageFault(reason);
  }
}
