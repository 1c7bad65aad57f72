import { resolve } from 'node:path';
import { Database } from '../sqlite/driver.ts';
import type { End, Layout, Row } from './end.ts';

/** A data folder as one side of a move. The move holds the folder's lock, so no server runs on it meanwhile. */
export class SqliteEnd implements End {
  readonly name: string;
  readonly #db: Database;

  constructor(folder: string, file: string) {
    // The full path, because a move may be continued from another working directory.
    this.name = `sqlite:${resolve(folder)}`;
    this.#db = new Database(file);
    this.#db.exec('pragma busy_timeout = 5000; pragma journal_mode = wal; pragma synchronous = full');
  }

  async lock(): Promise<void> {
    this.#db.exec('begin immediate');
  }

  async unlock(): Promise<void> {
    this.#db.exec('commit');
  }

  async query(sql: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.#db.prepare(sql).all(...values) as Row[];
  }

  async run(sql: string, values: readonly unknown[] = []): Promise<void> {
    this.#db.prepare(sql).run(...values);
  }

  async refuseChanges(tables: readonly Layout[], sentence: string): Promise<void> {
    for (const { name } of tables) {
      for (const change of ['insert', 'update', 'delete']) {
        this.#db.exec(`create trigger if not exists moved_${change}_${name} before ${change} on "${name}"
          begin select raise(abort, '${sentence.replaceAll("'", "''")}'); end`);
      }
    }
  }

  async close(): Promise<void> {
    // Explicitly: the driver keeps a closed file, and its lock, until its statements are collected.
    if (this.#db.isTransaction) this.#db.exec('rollback');
    this.#db.close();
  }
}
