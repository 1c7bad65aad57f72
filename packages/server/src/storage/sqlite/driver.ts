import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';

/**
 * SQLite, imported only here. The package is Node's own `node:sqlite` for versions of Node that lack it, with its
 * binary inside: a fresh machine needs no compiler. When every Node we support has it, only this file changes.
 */
export class Database extends DatabaseSync {}
export type Prepared = StatementSyncInstance;
