import { DatabaseSync, type StatementSyncInstance } from '@photostructure/sqlite';

/**
 * SQLite itself, in one place. The package is Node's own `node:sqlite` for versions of Node that lack it, with its binary
 * inside: a fresh machine needs no compiler. When our floor is a Node that has it, this file is what changes.
 */
export class Database extends DatabaseSync {}
export type Prepared = StatementSyncInstance;
