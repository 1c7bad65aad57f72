import type { Identity } from '../core/agents/key.ts';
import type { VerifyingKey } from '../core/events/store.ts';
import type { SpaceId } from '../core/ids.ts';
import type { Directory, HeadName, News, Store, Tx } from '../core/store.ts';
import type { AgentAddress } from '../core/tasks/store.ts';
import type { TaskRecord } from '../core/tasks/task.ts';
import { GroupCommit } from './batch.ts';
import type { SealHead } from './heads.ts';
import type { Sealer } from './rows/agents/agents.ts';
import { directory } from './rows/directory.ts';
import { Signals } from './signals.ts';
import type { Database, Prepared } from './sqlite/driver.ts';
import { openStoreError } from './sqlite/errors.ts';
import { FOLD, LogFolding, OWN_MARK } from './sqlite/log-folding.ts';
import { assertOurs, assertSound, migrateSqlite, sealedBy } from './sqlite/migrate.ts';
import { OthersNews } from './sqlite/others-news.ts';
import { assertDurable, type Durability, durability, SqliteRunner } from './sqlite/runner.ts';
import { assertSameFile, SameFiles } from './sqlite/same-file.ts';
import { SqliteSession } from './sqlite/session.ts';
import { InTurns, type Turns } from './sqlite/turns.ts';
import { UntilChanged, type Version } from './sqlite/until-changed.ts';
import type { Tables } from './tables.ts';
import { openRead, RowsBySpace } from './tx.ts';

export type SqliteOptions = {
  file: string;
  sealer: Sealer;
  sealHead: SealHead;
  turns?: Turns;
  /** True for a second store in the same process: the first one folds the log, and is told the news by this one. */
  isSecond?: boolean;
  /** The file that another thread has opened; no other, and none is created. */
  opened?: string | null;
  /** Throws unless we hold the keys that the store was sealed with; called before anything is changed. */
  admit?(sealedBy: string | null): void;
};

/** A delivery and its line in the ledger, or about as much. */
const ROWS_OF_NEWS = 2;
const OF_TASKS: ReadonlySet<keyof Tables> = new Set(['tasks']);

/** SQLite: one writer with group commit, a reader beside it. */
export class SqliteStore implements Store {
  /** A file needs no connection. */
  readonly isAway = false;
  readonly directory: Directory;
  readonly signals = new Signals();
  /** The reader's connection, for what only this database can answer (health, backup). */
  readonly session: SqliteSession;
  readonly #reads: RowsBySpace;
  readonly #commits: GroupCommit;
  readonly #folding: LogFolding | null;
  readonly #remembered: Remembered;
  readonly #others: OthersNews;
  readonly #files: SameFiles;

  private constructor(writer: SqliteSession, reader: SqliteSession, options: SqliteOptions) {
    this.session = reader;
    const version = versionOf(writer);
    const remembered = rememberedWhile(version);
    this.#remembered = remembered;
    this.#reads = new RowsBySpace(reader, options.sealer, remembered);
    this.directory = remembering(directory(reader, options.sealer), remembered);
    const { isSecond = false } = options;
    const folding = isSecond ? null : this.#foldingOf(options.file, writer.db);
    this.#folding = folding;
    const others = new OthersNews({ session: reader, version, tell: (news) => this.#hearOthers(news) });
    this.#others = others;
    const files = new SameFiles(options.file, () => writer.db.exec(FOLD));
    this.#files = files;
    const assertThere = () => files.assertThere();
    const notesNews = () => !isSecond && !others.isListening;
    const runner = new SqliteRunner(
      writer,
      { ...options, folding, assertThere, notesNews },
      ({ tables, bodies }) => {
        files.wrote();
        for (const answers of Object.values(remembered)) answers.wrote(tables);
        this.#reads.bodies.expect(bodies);
      },
    );
    const inTurns = options.turns === undefined ? runner : new InTurns(runner, options.turns);
    this.#commits = new GroupCommit(inTurns, (news) => this.signals.tell(news));
    this.durability = () => durability(writer);
    this.#close = async () => {
      await folding?.stop();
      if (!writer.db.isOpen) return;
      // The driver keeps the file open while statements live, so SQLite does not do this by itself: afterwards the
      // database file is complete without its log.
      try {
        writer.db.exec('pragma wal_checkpoint(passive)');
      } catch {
        // The disk is full: everything stays in the log, and the next start finds it there.
      }
      writer.db.close();
      reader.db.close();
    };
  }

  /** The durability settings, as the database reports them. */
  readonly durability: () => Durability;
  readonly #close: () => Promise<void>;

  static open(options: SqliteOptions): SqliteStore {
    const { file } = options;
    const opened: SqliteSession[] = [];
    try {
      assertSameFile(file, options.opened ?? null);
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
    // At once: whoever was just answered may ask in this turn of the event loop, before the version is next checked.
    this.#remembered.tasks.wrote(OF_TASKS);
    this.#files.wrote();
    let changes = 0;
    for (const about of news.values()) changes += about.size;
    this.#folding?.wrote(changes * ROWS_OF_NEWS);
    this.signals.tell(news);
  }

  /** For a server: also hears what commands on the same file commit, within a quarter of a second. */
  async listen(): Promise<void> {
    await this.#others.start();
    this.signals.onAttended((isAttended) => this.#others.attend(isAttended));
  }

  #hearOthers(news: News | null): void {
    // As in `hear`: whoever is told may ask in this turn.
    for (const answers of Object.values(this.#remembered)) answers.forget();
    this.signals.tell(news ?? this.signals.everything());
  }

  #foldingOf(file: string, writer: Database): LogFolding {
    const askForTurn = () => void this.#commits.submit('', [], async () => {}).catch(() => {});
    return new LogFolding({ file, writer, askForTurn });
  }

  async stop(): Promise<void> {
    this.signals.onAttended(() => {});
    this.#others.attend(false);
    await this.#commits.close();
    await this.#close();
  }
}

type Remembered = ReturnType<typeof rememberedWhile>;

/** A test checks that the tables are the ones that are read. */
export function rememberedWhile(version: Version) {
  return {
    identities: new UntilChanged<Identity>(['keys', 'agents'], version),
    addresses: new UntilChanged<AgentAddress>(['spaces', 'agents', 'cards'], version),
    signers: new UntilChanged<VerifyingKey>(['producer_keys', 'producers'], version),
    tasks: new UntilChanged<TaskRecord>(['tasks'], version),
  };
}

/** Every request starts with a key, and every call with an agent's address; nearly always they were just seen. */
function remembering(found: Directory, { identities, addresses, signers }: Remembered): Directory {
  return {
    ...found,
    identityByDigest: (digest) => identities.get(digest, () => found.identityByDigest(digest)),
    agentAddress: (handle, agent) =>
      addresses.get(`${handle}/${agent}`, () => found.agentAddress(handle, agent)),
    producerKey: (id) => signers.get(id, () => found.producerKey(id)),
  };
}

/**
 * The writer's version number, which only changes when others commit. Asked at most once per turn of the event loop,
 * however many depend on it.
 */
export function versionOf({ db }: SqliteSession): Version {
  // Prepared when first needed: a prepared statement keeps the driver from releasing a closed file.
  let query: Prepared | undefined;
  let known: number | null = null;
  return () => {
    if (known !== null) return known;
    query ??= db.prepare('pragma data_version');
    setImmediate(() => {
      known = null;
    });
    known = (query.get() as { data_version: number }).data_version;
    return known;
  };
}

function prepareWriter(session: SqliteSession): void {
  // 8 KiB pages: a batch of 64 deliveries commits in two thirds of the time that 4 KiB pages take.
  session.db.exec('pragma page_size = 8192; pragma journal_mode = wal; pragma synchronous = full');
  session.db.exec('pragma cache_size = -65536; pragma foreign_keys = on');
  session.db.exec(`pragma wal_autocheckpoint = ${OWN_MARK}`);
  assertDurable(session);
  // A read-only folder or file opens without an error; only taking the lock fails.
  session.db.exec('begin immediate; rollback');
}

function openReader(file: string): SqliteSession {
  const session = new SqliteSession(file);
  session.db.exec('pragma query_only = on; pragma cache_size = -65536');
  return session;
}
