import { DatabaseSync, type DatabaseSyncInstance, type StatementSyncInstance } from '@photostructure/sqlite';

/**
 * SQLite itself, in one place. The package is Node's own `node:sqlite` for versions of Node that do not have it yet, with its
 * binary inside: a fresh machine needs no compiler. When ours is a Node that has it, this file is what changes.
 */
export type Database = DatabaseSyncInstance;
export type Prepared = StatementSyncInstance;

export function openDatabase(file: string, options: { readOnly?: boolean } = {}): Database {
  return new DatabaseSync(file, options);
}
