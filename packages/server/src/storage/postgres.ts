import type { SpaceId } from '../core/ids.ts';
import { type Directory, type HeadName, type News, SERVER, type Store, type Tx } from '../core/store.ts';
import { GroupCommit } from './batch.ts';
import { readHead, type SealHead } from './heads.ts';
import { DatabaseClock } from './postgres/clock.ts';
import { Remembered, remembering } from './postgres/identities.ts';
import { Lane, laneSession, Whereabouts } from './postgres/lane.ts';
import { migratePostgres } from './postgres/migrate.ts';
import { SnapshotReads } from './postgres/reads.ts';
import { PostgresRunner } from './postgres/runner.ts';
import { PostgresWakeups } from './postgres/wakeups.ts';
import type { Sealer } from './rows/agents/agents.ts';
import { KeptPlaceIds } from './rows/deliveries/place-ids.ts';
import { directory } from './rows/directory.ts';
import { Signals } from './signals.ts';
import type { Session } from './statement.ts';

export type PostgresOptions = {
  url: string;
  sealer: Sealer;
  sealHead: SealHead;
  warn?: (message: string) => void;
  /** True for a second store in the same process: the first one has seen to the schema, and listens for both. */
  isSecond?: boolean;
};

/** Concurrent reads; with writing, look-ups, notifying and listening that makes eight connections. */
const READERS = 4;
const ASK_TIME_EVERY_MS = 10_000;

/** PostgreSQL: any number of replicas on one database, any of which may die at any moment. */
export class PostgresStore implements Store {
  readonly directory: Directory;
  readonly signals = new Signals();
  readonly clock: DatabaseClock;
  /** Single statements outside any transaction, for what only storage may ask (audit, moving). */
  readonly session: Session;
  readonly wakeups: PostgresWakeups;
  readonly #where: Whereabouts;
  readonly #lanes: readonly Lane[];
  readonly #reads: SnapshotReads;
  readonly #commits: GroupCommit;
  readonly #clockTimer: NodeJS.Timeout;

  private constructor(
    { sealer, sealHead, warn = () => {}, isSecond = false }: PostgresOptions,
    where: Whereabouts,
    clock: DatabaseClock,
  ) {
    this.#where = where;
    this.clock = clock;
    const lane = () => new Lane(where);
    const [writing, asking, telling, listening] = [lane(), lane(), lane(), lane()];
    const readers = Array.from({ length: READERS }, lane);
    this.#lanes = [writing, asking, telling, listening, ...readers];
    this.session = laneSession(asking);
    const placeIds = new KeptPlaceIds();
    this.#reads = new SnapshotReads(readers, sealer, placeIds);
    this.directory = remembering(directory(this.session, sealer), new Remembered(this.session));
    this.wakeups = new PostgresWakeups({
      signals: this.signals,
      listening,
      telling,
      session: this.session,
      warn,
    });
    const committed = (ends: ReadonlyMap<string, number>) => this.wakeups.committed(ends);
    this.#commits = new GroupCommit(
      new PostgresRunner({ lane: writing, sealer, sealHead, placeIds, committed }),
      (news) => {
        this.signals.tell(news);
        this.wakeups.tell(news);
      },
    );
    if (!isSecond) where.onBack(() => this.wakeups.back());
    this.#clockTimer = setInterval(() => void this.#askTime(asking), ASK_TIME_EVERY_MS).unref();
  }

  /** Throws when the database cannot be reached, is newer than we are, takes no writes, or belongs to somebody else. */
  static async open(options: PostgresOptions): Promise<PostgresStore> {
    const clock = new DatabaseClock();
    const where = new Whereabouts(options.url, (greeting) => clock.heard(greeting.clock));
    try {
      const link = await where.connect(() => {});
      try {
        if (!options.isSecond) await migratePostgres(link);
      } finally {
        await link.close();
      }
      const store = new PostgresStore(options, where, clock);
      if (!options.isSecond) await store.wakeups.start();
      return store;
    } catch (reason) {
      where.stop();
      throw reason;
    }
  }

  get isAway(): boolean {
    return this.#where.isAway;
  }

  read<T>(space: SpaceId, work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#reads.read(space, work);
  }

  write<T>(space: SpaceId, heads: readonly HeadName[], work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.#commits.submit(space, heads, work);
  }

  /** News of what another thread of this process has committed; that thread has told the other replicas. */
  hear(news: News): void {
    this.signals.tell(news);
  }

  async stop(): Promise<void> {
    await this.#commits.close();
    clearInterval(this.#clockTimer);
    await this.wakeups.stop();
    this.#where.stop();
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  async #askTime(lane: Lane): Promise<void> {
    try {
      this.clock.heard(await (await lane.get()).time());
    } catch {} // it is away; the next connection brings the time along
  }
}

/** The master keys that the store has recorded; null if none. Changes nothing. */
export async function sealedBy(url: string): Promise<string | null> {
  const link = await new Whereabouts(url, () => {}).connect(() => {});
  try {
    const { rows } = await link.exec("select to_regclass('lanternroom_schema') is not null as made");
    if (!(rows[0] as { made: boolean }).made) return null;
    return (await readHead(link, SERVER, 'vault'))?.text ?? null;
  } finally {
    await link.close();
  }
}
