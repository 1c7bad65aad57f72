import { type Announcement, assertCleanRefusal, type BatchRunner, type Done, type Unit } from '../batch.ts';
import { HeadCache, type SealHead } from '../heads.ts';
import type { Sealer } from '../rows/agents/agents.ts';
import type { Written } from '../rows/events/bodies.ts';
import { openTx, RowsBySpace } from '../tx.ts';
import type { Prepared } from './driver.ts';
import { storageFault } from './errors.ts';
import type { LogFolding } from './log-folding.ts';
import { noteNews } from './others-news.ts';
import type { SqliteSession } from './session.ts';

/** A driver was seen to fall back to NORMAL silently after the first transaction. */
export function assertDurable(session: SqliteSession): void {
  const { synchronous, journalMode } = durability(session);
  if (synchronous !== 2 || journalMode !== 'wal') {
    throw new Error(`the store is not durable: synchronous=${synchronous}, journal_mode=${journalMode}`);
  }
}

export type Durability = { synchronous: number; journalMode: string };

export function durability({ db }: SqliteSession): Durability {
  const { synchronous } = db.prepare('pragma synchronous').get() as { synchronous: number };
  const { journal_mode } = db.prepare('pragma journal_mode').get() as { journal_mode: string };
  return { synchronous, journalMode: journal_mode };
}

/** What a commit has changed, for the caches. */
export type Changed = { tables: ReadonlySet<string>; bodies: readonly Written[] };

type RunnerOptions = {
  sealer: Sealer;
  sealHead: SealHead;
  /** Null if another thread folds the log. */
  folding: LogFolding | null;
  /** Throws if what is written now would be lost. */
  assertThere(): void;
  /** Whether a server on the same file, if there is one, has to be told of this. */
  notesNews(): boolean;
};

export class SqliteRunner implements BatchRunner {
  readonly #session: SqliteSession;
  readonly #rows: RowsBySpace;
  readonly #options: RunnerOptions;
  readonly #begin: Prepared;
  readonly #commit: Prepared;
  readonly #changed: (by: Changed) => void;
  #proven = false;

  constructor(session: SqliteSession, options: RunnerOptions, changed: (by: Changed) => void) {
    this.#session = session;
    this.#changed = changed;
    this.#options = options;
    this.#rows = new RowsBySpace(session, options.sealer);
    this.#begin = session.db.prepare('begin immediate');
    this.#commit = session.db.prepare('commit');
  }

  async commit(units: readonly Unit[]): Promise<Done[]> {
    const { folding, assertThere, notesNews } = this.#options;
    const writes = this.#session.writes;
    if (folding?.isNearlyDone) await folding.finish();
    try {
      assertThere();
      this.#begin.run();
      const heads = new HeadCache(this.#session, this.#options.sealHead);
      const done: Done[] = [];
      for (const unit of units) done.push(await this.#runUnit(unit, heads));
      if (notesNews())
        await noteNews(
          heads,
          done.flatMap(({ announced }) => announced),
        );
      await heads.flush();
      const bodies = await this.#rows.bodies.flush();
      this.#commit.run();
      folding?.wrote(this.#session.writes - writes);
      this.#changed({ tables: this.#session.written, bodies });
      this.#session.written.clear();
      this.#proveOnce();
      return done;
    } catch (reason) {
      this.#rows.bodies.forget();
      if (this.#session.db.isTransaction) this.#session.db.exec('rollback');
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
