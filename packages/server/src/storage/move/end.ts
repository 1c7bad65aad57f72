import { MIGRATIONS } from '../migrations.ts';
import { Database } from '../sqlite/driver.ts';
import { inSqlite } from '../sqlite/migrate.ts';

export type Row = Record<string, unknown>;

/** One side of a move. `?` stands for a value, on both databases. */
export interface End {
  /** As a person may read it, without a password. */
  readonly name: string;
  /** Nobody else can write until `unlock` or the end of the process. */
  lock(tables: readonly Layout[]): Promise<void>;
  query(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  run(sql: string, values?: readonly unknown[]): Promise<void>;
  /** Ends what `lock` began, and keeps it. */
  unlock(): Promise<void>;
  /** From now on every change is refused, even from connections that are already open. */
  refuseChanges(tables: readonly Layout[], sentence: string): Promise<void>;
  close(): Promise<void>;
}

/** A table as both databases have it. `key` is empty where rows have no identity of their own. */
export type Layout = { name: string; columns: readonly string[]; key: readonly string[] };

/** The tables, read from the migrations themselves: a table that is added later is moved too. */
export function layouts(): Layout[] {
  const db = new Database(':memory:');
  try {
    for (const sql of MIGRATIONS.flat()) db.exec(inSqlite(sql));
    const names = db.prepare("select name from sqlite_master where type = 'table' order by name").all();
    return (names as { name: string }[]).map(({ name }) => layout(db, name));
  } finally {
    db.close();
  }
}

function layout(db: Database, name: string): Layout {
  const columns = db.prepare(`pragma table_info("${name}")`).all() as { name: string; pk: number }[];
  const key = columns.filter((column) => column.pk > 0).sort((a, b) => a.pk - b.pk);
  return { name, columns: columns.map((column) => column.name), key: key.map((column) => column.name) };
}
