import {
  type Announcement,
  assertCleanRefusal,
  type BatchRunner,
  type Done,
  type Queue,
  type Unit,
} from '../batch.ts';
import { HeadCache, type SealHead } from '../heads.ts';
import type { Sealer } from '../rows/agents/agents.ts';
import type { KeptPlaceIds } from '../rows/deliveries/place-ids.ts';
import { openTx, RowsBySpace } from '../tx.ts';
import { BatchSession, scoutSession } from './batch.ts';
import { isAftermath, isAway, isConflict, isStale, storageFault, unsureFault } from './errors.ts';
import { lockHeads, makeHeads, wantedBy } from './heads.ts';
import { bumpIdentities } from './identities.ts';
import type { Lane } from './lane.ts';
import type { PgLink } from './link.ts';

export type RunnerParts = {
  lane: Lane;
  sealer: Sealer;
  sealHead: SealHead;
  placeIds: KeptPlaceIds;
  /** Where each ledger ends now, for the check that notices missed wake-ups. */
  committed(ledgers: ReadonlyMap<string, number>): void;
};

/**
 * A replica that freezes in the middle of a batch loses its connection, and with it its locks, before the others have
 * waited too long.
 */
const SETTINGS = [
  "statement_timeout = '10s'",
  "lock_timeout = '8s'",
  "idle_in_transaction_session_timeout = '5s'",
  'synchronous_commit = on',
];
const LEFT_DURABLE = SETTINGS.slice(0, -1);
const MOST_TRIES = 5;

/**
 * Units in one transaction: heads are locked first, in sorted order, then one unit runs after the other. The next
 * batch begins on the same connection as soon as the last has sent its commit, so it has its locks when that is on
 * disk.
 */
export class PostgresRunner implements BatchRunner {
  readonly #parts: RunnerParts;
  /** Resolves when no transaction is open any more, as far as the connection was told. */
  #turn: Promise<void> = Promise.resolve();

  constructor(parts: RunnerParts) {
    this.#parts = parts;
  }

  async commit(units: readonly Unit[], queue: Queue): Promise<Done[]> {
    for (let tried = 1; ; tried++) {
      const { before, release } = this.#takeTurn();
      try {
        await before;
        const link = await this.#parts.lane.get();
        const leave = () => {
          release();
          queue.next();
        };
        return await this.#run(new Batch(link, units, this.#parts), queue, leave);
      } catch (reason) {
        if ((isConflict(reason) || isStale(reason)) && tried < MOST_TRIES) continue;
        throw storageFault(this.#parts.lane.told(reason));
      } finally {
        release();
      }
    }
  }

  async #run(batch: Batch, queue: Queue, leave: () => void): Promise<Done[]> {
    try {
      await batch.begin(queue);
      const done = await batch.work();
      const { answered } = await batch.commit();
      if (batch.mayBeFollowed) leave();
      await answered;
      this.#parts.committed(batch.ledgers());
      return done;
    } catch (reason) {
      const first = isAftermath(reason) ? await batch.firstProblem(reason) : reason;
      await batch.rollback();
      throw first;
    }
  }

  #takeTurn(): { before: Promise<void>; release: () => void } {
    const before = this.#turn;
    let release = () => {};
    this.#turn = new Promise((resolve) => {
      release = resolve;
    });
    return { before, release };
  }
}

class Batch {
  readonly #link: PgLink;
  readonly #units: readonly Unit[];
  readonly #parts: RunnerParts;
  readonly #session: BatchSession;
  readonly #heads: HeadCache;
  readonly #rows: RowsBySpace;
  #at = 0;
  #scouted = false;
  /**
   * A transaction that was told to commit has ended, whatever the outcome; the connection may be in other hands by
   * now.
   */
  #ended = false;

  constructor(link: PgLink, units: readonly Unit[], parts: RunnerParts) {
    this.#link = link;
    this.#units = units;
    this.#parts = parts;
    this.#session = new BatchSession(link, () => this.#scoutOnce());
    this.#heads = new HeadCache(this.#session, parts.sealHead);
    this.#rows = new RowsBySpace(this.#session, parts.sealer, { placeIds: parts.placeIds });
  }

  /** A pooler gives the connection away with the answer to a commit. */
  get mayBeFollowed(): boolean {
    return !this.#link.greeting.isPooled;
  }

  /** Units that arrived while we waited for the locks, and need no others, join. */
  async begin(queue: Queue): Promise<void> {
    const wanted = wantedBy(this.#units);
    const settings = this.#link.greeting.isHasty ? SETTINGS : LEFT_DURABLE;
    for (;;) {
      const begun = this.#link.begin('', settings);
      const [locked] = await Promise.all([lockHeads(this.#link, wanted, this.#heads), begun]);
      if (locked) break;
      await this.#link.exec('rollback');
      await makeHeads(this.#link, wanted);
    }
    queue.join(({ space, heads }) => heads.every((name) => this.#heads.knows(space, name)));
  }

  async work(): Promise<Done[]> {
    const done: Done[] = [];
    for (const unit of this.#units) {
      done.push(await this.#runUnit(unit));
      this.#at++;
    }
    return done;
  }

  async #runUnit(unit: Unit): Promise<Done> {
    const announced: Announcement[] = [];
    const before = this.#session.writes + this.#heads.writes;
    const heads = this.#heads.forSpace(unit.space, unit.heads);
    const tell = (topic: Announcement['topic'], about = '') => announced.push({ topic, about });
    const value = await unit.work(openTx(this.#rows.of(unit.space), heads, tell));
    assertCleanRefusal(value, this.#session.writes + this.#heads.writes !== before);
    return { unit, value, announced };
  }

  /** Runs the remaining units, all at once and without effect, to see what they will read. */
  async #scoutOnce(): Promise<void> {
    const coming = this.#units.slice(this.#at + 1);
    if (this.#scouted || coming.length === 0) return;
    this.#scouted = true;
    const rows = new RowsBySpace(scoutSession(this.#link, this.#session.memory), this.#parts.sealer, {
      placeIds: this.#parts.placeIds,
    });
    await Promise.allSettled(
      coming.map(async (unit) => {
        const heads = this.#heads.copyFor(unit.space, unit.heads);
        await unit.work(openTx(rows.of(unit.space), heads, () => {}));
      }),
    );
  }

  /** Sends everything that is left, and the commit. */
  async commit(): Promise<{ answered: Promise<void> }> {
    await this.#heads.flush();
    await this.#rows.bodies.flush();
    this.#session.send();
    bumpIdentities(this.#link, this.#session);
    this.#ended = true;
    const ended = this.#link.exec('commit');
    ended.catch(() => {});
    const answered = this.#answer(ended);
    answered.catch(() => {}); // whoever waits for it hears it
    return { answered };
  }

  async #answer(ended: Promise<{ command: string }>): Promise<void> {
    try {
      // If the connection is lost, so is everything on it; but the commit may have arrived.
      await this.#session.settled();
      const { command } = await ended;
      // PostgreSQL answers the commit of a failed transaction with ROLLBACK, and without an error.
      if (command !== 'COMMIT') throw new Error('the transaction was rolled back');
    } catch (reason) {
      if (!isAway(reason)) throw reason;
      this.#parts.lane.told(reason);
      throw unsureFault();
    }
  }

  async rollback(): Promise<void> {
    if (!this.#ended) await this.#link.exec('rollback').catch(() => {});
  }

  /** Later statements only say that an earlier one failed; this finds the first. */
  async firstProblem(otherwise: unknown): Promise<unknown> {
    return this.#session.settled().then(
      () => otherwise,
      (reason: unknown) => reason,
    );
  }

  ledgers(): ReadonlyMap<string, number> {
    return this.#heads.written('ledger');
  }
}
