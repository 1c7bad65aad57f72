import Database from 'libsql';
import type { Identity } from '../core/agents/key.ts';
import type { VerifyingKey } from '../core/events/store.ts';
import type { SpaceId } from '../core/ids.ts';
import type { Directory, HeadName, News, Store, Tx } from '../core/store.ts';
import type { AgentAddress } from '../core/tasks/store.ts';
import type { TaskRecord } from '../core/tasks/task.ts';
import {
  type Announcement,
  assertCleanRefusal,
  type BatchRunner,
  type Done,
  GroupCommit,
  type Unit,
} from './batch.ts';
import { HeadCache, type SealHead } from './heads.ts';
import type { Sealer } from './rows/agents.ts';
import { directory } from './rows/directory.ts';
import { Signals } from './signals.ts';
import { openStoreError, storageFault } from './sqlite/errors.ts';
import { LogFolding, OWN_MARK } from './sqlite/log-folding.ts';
import { assertOurs, assertSound, migrateSqlite, sealedBy } from './sqlite/migrate.ts';
import { InTurns, type Turns } from './sqlite/turns.ts';
import { UntilChanged, type Version } from './sqlite/until-changed.ts';
import type { Session, Statement } from './statement.ts';
import { openRead, openTx, RowsBySpace } from './tx.ts';

export type SqliteOptions = {
  file: string;
  sealer: Sealer;
  sealHead: SealHead;
  turns?: Turns;
  /** Not where another thread of the process has opened the same file and does it. */
  foldsLog?: boolean;
  /** Throws unless we hold the keys that it was sealed with; asked before anything is changed. */
  admit?(sealedBy: string | null): void;
};

type Prepared = {
  bind(params: object): unknown[];
  query: Database.Statement;
  /** Columns that may hold bytes. */
  bytes: readonly string[];
};

/** One connection with its prepared statements. libsql is synchronous; the promises are there for the other driver. */
export class SqliteSession implements Session {
  readonly db: Database.Database;
  /** Rows written since the last look: tells whether a refused unit left something behind. */
  writes = 0;
  readonly #prepared = new Map<Statement<never, unknown>, Prepared>();

  constructor(file: string) {
    this.db = new Database(file);
    this.db.exec('pragma busy_timeout = 5000');
  }

  async all<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    const { query, bind, bytes } = this.#prepare(statement);
    const rows = orFault(() => query.all(bind(params))) as Record<string, unknown>[];
    if (bytes.length > 0) for (const row of rows) wrapBytes(row, bytes);
    return rows as R[];
  }

  async one<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    const { query, bind } = this.#prepare(statement);
    return orFault(() => query.get(bind(params))) as R | undefined;
  }

  async run<P extends object, R>(statement: Statement<P, R>, params: P): Promise<number> {
    const { query, bind } = this.#prepare(statement);
    this.writes++;
    return orFault(() => query.run(bind(params))).changes;
  }

  #prepare<P extends object, R>(statement: Statement<P, R>): Prepared {
    const key = statement as unknown as Statement<never, unknown>;
    let prepared = this.#prepared.get(key);
    if (prepared === undefined) {
      const { sql, bind } = statement.compile('sqlite');
      const query = this.db.prepare(sql);
      const bytes = query.columns().filter((column) => column.type === 'BLOB');
      prepared = { bind, query, bytes: bytes.map((column) => column.name) };
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

/** The driver gives bytes of one row as a Buffer, and of many rows as bare ArrayBuffers. */
function wrapBytes(row: Record<string, unknown>, columns: readonly string[]): void {
  for (const name of columns) {
    const value = row[name];
    if (value instanceof ArrayBuffer) row[name] = new Uint8Array(value);
  }
}

/** A delivery and its line in the ledger. */
const ROWS_OF_NEWS = 2;

/** SQLite: one writer with group commit, a reader beside it. */
export class SqliteStore implements Store {
  readonly directory: Directory;
  readonly signals = new Signals();
  /** The reader's connection, for what only this database can answer (health, backup). */
  readonly session: SqliteSession;
  readonly #reads: RowsBySpace;
  readonly #commits: GroupCommit;
  readonly #folding: LogFolding | null;

  private constructor(writer: SqliteSession, reader: SqliteSession, options: SqliteOptions) {
    this.session = reader;
    const tasks = new UntilChanged<TaskRecord>(versionOf(reader));
    this.#reads = new RowsBySpace(reader, options.sealer, { tasks });
    const identities = new UntilChanged<Identity>(versionOf(reader));
    const addresses = new UntilChanged<AgentAddress>(versionOf(reader));
    const signers = new UntilChanged<VerifyingKey>(versionOf(reader));
    this.directory = remembering(directory(reader, options.sealer), { identities, addresses, signers });
    const folding = options.foldsLog === false ? null : this.#foldingOf(options.file, writer.db);
    this.#folding = folding;
    const runner = new SqliteRunner(writer, { ...options, folding }, () => {
      identities.forget();
      addresses.forget();
      signers.forget();
      tasks.forget();
    });
    const inTurns = options.turns === undefined ? runner : new InTurns(runner, options.turns);
    this.#commits = new GroupCommit(inTurns, (news) => this.signals.tell(news));
    this.durability = () => durability(writer);
    this.#close = async () => {
      await folding?.stop();
      if (!writer.db.open) return;
      // The driver keeps a file open while statements live, so SQLite does not do this by itself: afterwards the
      // database file is whole without its log.
      writer.db.exec('pragma wal_checkpoint(passive)');
      writer.db.close();
      reader.db.close();
    };
  }

  /** How the writer commits, as the database says it. */
  readonly durability: () => Durability;
  readonly #close: () => Promise<void>;

  static open(options: SqliteOptions): SqliteStore {
    const { file } = options;
    const opened: SqliteSession[] = [];
    try {
      const writer = new SqliteSession(file);
      opened.push(writer);
      assertOurs(writer.db);
      if (options.admit !== undefined) {
        assertSound(writer.db);
        options.admit(sealedBy(writer.db));
      }
      prepareWriter(writer);
      migrateSqlite(writer.db);
      const reader = openReader(file);
      opened.push(reader);
      return new SqliteStore(writer, reader, options);
    } catch (reason) {
      for (const session of opened) session.db.close();
      throw openStoreError(reason, file);
    }
  }

  async read<T>(space: SpaceId, work: (tx: Tx) => Promise<T>): Promise<T> {
    return work(openRead(this.#reads.of(space), this.session));
  }

  write<T>(space: SpaceId, heads: readonly HeadName[], work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#commits.submit(space, heads, work);
  }

  /** News of what another thread of the process has committed. */
  hear(news: News): void {
    for (const about of news.values()) this.#folding?.wrote(about.size * ROWS_OF_NEWS);
    this.signals.tell(news);
  }

  #foldingOf(file: string, writer: Database.Database): LogFolding {
    const askForTurn = () => void this.#commits.submit('', [], async () => {}).catch(() => {});
    return new LogFolding({ file, writer, askForTurn });
  }

  async stop(): Promise<void> {
    await this.#commits.close();
    await this.#close();
  }
}

type Remembered = {
  identities: UntilChanged<Identity>;
  addresses: UntilChanged<AgentAddress>;
  signers: UntilChanged<VerifyingKey>;
};

/** Every request starts with a key, and a call with an agent's address; nearly always they were just seen. */
function remembering(found: Directory, { identities, addresses, signers }: Remembered): Directory {
  return {
    ...found,
    identityByDigest: (digest) => identities.get(digest, () => found.identityByDigest(digest)),
    agentAddress: (handle, agent) =>
      addresses.get(`${handle}/${agent}`, () => found.agentAddress(handle, agent)),
    producerKey: (id) => signers.get(id, () => found.producerKey(id)),
  };
}

function versionOf({ db }: SqliteSession): Version {
  // Prepared when first needed: a statement keeps the driver from letting go of a file that was closed.
  let query: Database.Statement | undefined;
  return () => {
    query ??= db.prepare('pragma data_version');
    return (query.get() as { data_version: number }).data_version;
  };
}

function prepareWriter(session: SqliteSession): void {
  // 8 KiB pages: a batch of 64 deliveries commits in two thirds of the time of 4 KiB ones (bench, 2026-11).
  session.db.exec('pragma page_size = 8192; pragma journal_mode = wal; pragma synchronous = full');
  session.db.exec('pragma cache_size = -65536; pragma foreign_keys = on');
  session.db.exec(`pragma wal_autocheckpoint = ${OWN_MARK}`);
  assertDurable(session);
  // A folder or file that may only be read opens without complaint; the lock is what it cannot give.
  session.db.exec('begin immediate; rollback');
}

function openReader(file: string): SqliteSession {
  const session = new SqliteSession(file);
  session.db.exec('pragma query_only = on; pragma cache_size = -65536');
  return session;
}

/** A driver was seen to fall back to NORMAL after the first transaction, silently. */
function assertDurable(session: SqliteSession): void {
  const { synchronous, journalMode } = durability(session);
  if (synchronous !== 2 || journalMode !== 'wal') {
    throw new Error(`the store is not durable: synchronous=${synchronous}, journal_mode=${journalMode}`);
  }
}

type Durability = { synchronous: number; journalMode: string };

function durability({ db }: SqliteSession): Durability {
  const { synchronous } = db.prepare('pragma synchronous').get() as { synchronous: number };
  const { journal_mode } = db.prepare('pragma journal_mode').get() as { journal_mode: string };
  return { synchronous, journalMode: journal_mode };
}

type RunnerOptions = Pick<SqliteOptions, 'sealer' | 'sealHead'> & { folding: LogFolding | null };

class SqliteRunner implements BatchRunner {
  readonly #session: SqliteSession;
  readonly #rows: RowsBySpace;
  readonly #options: RunnerOptions;
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #changed: () => void;
  #proven = false;

  constructor(session: SqliteSession, options: RunnerOptions, changed: () => void) {
    this.#session = session;
    this.#changed = changed;
    this.#options = options;
    this.#rows = new RowsBySpace(session, options.sealer);
    this.#begin = session.db.prepare('begin immediate');
    this.#commit = session.db.prepare('commit');
  }

  async commit(units: readonly Unit[]): Promise<Done[]> {
    const { folding } = this.#options;
    const writes = this.#session.writes;
    folding?.finish();
    try {
      this.#begin.run();
      const heads = new HeadCache(this.#session, this.#options.sealHead);
      const done: Done[] = [];
      for (const unit of units) done.push(await this.#runUnit(unit, heads));
      await heads.flush();
      await this.#rows.bodies.flush();
      this.#commit.run();
      folding?.wrote(this.#session.writes - writes);
      this.#changed();
      this.#proveOnce();
      return done;
    } catch (reason) {
      this.#rows.bodies.forget();
      if (this.#session.db.inTransaction) this.#session.db.exec('rollback');
      throw storageFault(reason);
    }
  }

  async #runUnit(unit: Unit, cache: HeadCache): Promise<Done> {
    const announced: Announcement[] = [];
    const before = this.#session.writes + cache.writes;
    const heads = cache.forSpace(unit.space, unit.heads);
    const value = await unit.work(
      openTx(this.#rows.of(unit.space), heads, (topic, about = '') => announced.push({ topic, about })),
    );
    assertCleanRefusal(value, this.#session.writes + cache.writes !== before);
    return { unit, value, announced };
  }

  #proveOnce(): void {
    if (this.#proven) return;
    assertDurable(this.#session);
    this.#proven = true;
  }
}
