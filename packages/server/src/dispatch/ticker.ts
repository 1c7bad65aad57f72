import { settleHeld } from '../core/deliveries/decision/effect.ts';
import { wakeSnoozed } from '../core/deliveries/triage.ts';
import { closeExpiredWaits, retireEvents } from '../core/events/retention.ts';
import { isFault } from '../core/faults.ts';
import type { SpaceId } from '../core/ids.ts';
import { removeEnded, removeOldHeads } from '../core/leftovers.ts';
import { SESSIONS } from '../core/people/login/login.ts';
import { queueDigest } from '../core/people/preferences/digest.ts';
import { type Room, record } from '../core/room.ts';
import { catchUpAfterSetBack, isSetBack } from '../core/set-back.ts';
import { SERVER, type Topic, type Tx } from '../core/store.ts';
import { retireContent } from '../core/tasks/content/content.ts';
import { sweepLost } from '../core/tasks/presence.ts';
import { retireTasks } from '../core/tasks/retention.ts';
import { DAY, type Micros, toIso } from '../core/time.ts';
import { Caution } from './caution.ts';
import { Round } from './round.ts';

export interface TickerParts {
  room: Room;
  wakeups: { on(topic: Topic, wake: () => void): () => void };
  retentionDays: number;
  /** Signs the ends of the ledgers. */
  checkpoint(): Promise<void>;
  /** Writes down now and then who was last seen when. */
  presence: readonly { flushIfDue(): Promise<void> }[];
  warn(problem: unknown, message: string): void;
}

const LONGEST_SLEEP_MS = 1_000;
const CHORES_EVERY: Micros = 60 * 1_000_000;
const SAY_AGAIN_AFTER_MS = 60_000;
const LEAPT = 'the clock was set forward, or this machine has slept; nothing old is removed for six hours';
const PAGE = 200;
const SMALL_STEP = 500;

/** What happens by the clock: held decisions take effect, snoozed deliveries return, digests go out, old data is removed. */
export class Ticker {
  readonly #parts: TickerParts;
  #timer: NodeJS.Timeout | null = null;
  #ticking: Promise<void> | null = null;
  #choring: Promise<void> | null = null;
  #stopped = false;
  #removesAt: Micros = 0;
  #signsAt: Micros = 0;
  /** How much went wrong in the last round. */
  #troubles = 0;
  /** The problems that were logged since the last good round, and when each may be logged again. */
  readonly #complaints = new Map<string, number>();
  #restUntil = 0;
  /** True when nothing that was due in the last round could be settled. */
  #isStuck = false;
  #latest: Micros = Number.POSITIVE_INFINITY;
  /** Spaces whose deadlines were set before the clock was turned back; they are corrected as soon as the store allows. */
  readonly #toCatchUp = new Set<SpaceId>();
  readonly #headMarks = new Map<SpaceId, string>();
  readonly #caution = new Caution();
  #off = () => {};

  constructor(parts: TickerParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#off = this.#parts.wakeups.on('held', () => this.#plan());
    this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#off();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#ticking;
    await this.#choring;
  }

  #run(): void {
    this.#ticking ??= this.#look()
      .then(() => this.#complaints.clear())
      .catch((problem: unknown) => this.#complain(problem, this.#troubles))
      .finally(() => {
        this.#ticking = null;
        // What is due and cannot be done stays due. The pause ends at a fixed time: if each piece of news restarted
        // it, it would never end.
        if (this.#troubles > 0 || this.#isStuck) this.#restUntil = performance.now() + LONGEST_SLEEP_MS;
        this.#plan();
      });
  }

  /** Logs one line for a round, and the same problem only now and then: a damaged row fails in every round. */
  #complain(problem: unknown, troubles: number): void {
    const [what, now] = [problem instanceof Error ? problem.message : String(problem), performance.now()];
    if (now < (this.#complaints.get(what) ?? 0)) return;
    this.#complaints.set(what, now + SAY_AGAIN_AFTER_MS);
    const more = troubles - 1;
    this.#parts.warn(problem, `the ticker stumbled${more > 0 ? `, and ${more} times more` : ''}`);
  }

  /** One round with its chores, to the end whatever fails. For tests, which set the clock and then call this. */
  async tick(): Promise<void> {
    await this.#choring;
    const { round, now } = await this.#settleDue();
    await this.#chores(round, now, true);
    // A round that the clock has started may still be running.
    await this.#ticking;
    await this.#choring;
    this.#sum(round);
  }

  /** The same with the chores beside the round: no decision waits while thousands of old rows are removed. */
  async #look(): Promise<void> {
    const { round, now } = await this.#settleDue();
    if (this.#caution.see(now)) this.#parts.warn(new Error(`it is ${toIso(now)} now`), LEAPT);
    if (this.#choring === null && this.#hasChores(now)) this.#choring = this.#choresBeside(now);
    this.#sum(round);
  }

  async #choresBeside(now: Micros): Promise<void> {
    const round = new Round(() => this.#stopped);
    await this.#chores(round, now, this.#caution.isOver);
    this.#choring = null;
    if (round.troubles.length > 0) this.#complain(round.troubles[0], round.troubles.length);
  }

  #hasChores(now: Micros): boolean {
    return now >= this.#signsAt || (now >= this.#removesAt && this.#caution.isOver);
  }

  #sum({ troubles }: Round): void {
    this.#troubles = troubles.length;
    if (troubles.length > 0) throw troubles[0];
  }

  async #settleDue(): Promise<{ round: Round; now: Micros }> {
    const { room, presence } = this.#parts;
    const { directory } = room.store;
    const now = room.clock.now();
    const round = new Round(() => this.#stopped);
    await round.try(() => this.#noteTime(now));
    for (const id of this.#toCatchUp) await round.try(() => this.#catchUp(id));
    await this.#settleHeld(round, now);
    await round.each(
      () => directory.snoozedDue(now, PAGE),
      ({ space, delivery }) => wakeSnoozed(room, space, delivery),
    );
    await round.each(
      () => directory.digestsDue(now, PAGE),
      ({ space, person }) => queueDigest(room, space, person),
    );
    await round.try(() => sweepLost(room));
    for (const one of presence) await round.try(() => one.flushIfDue());
    return { round, now };
  }

  /** What is due and cannot be settled stays due, and is no reason to look again at once. */
  async #settleHeld(round: Round, now: Micros): Promise<void> {
    const { room } = this.#parts;
    let [settled, left] = [0, 0];
    await round.each(
      () => room.store.directory.heldDue(now, PAGE),
      async ({ space, delivery }) => {
        if (isFault(await settleHeld(room, space, delivery))) left++;
        else settled++;
      },
    );
    this.#isStuck = left > 0 && settled === 0;
  }

  /** Also at the start, because the clock may have been changed while the server was down. */
  async #noteTime(now: Micros): Promise<void> {
    const { room } = this.#parts;
    // Against the latest time that was seen, because small steps add up.
    if (!isSetBack(this.#latest, now)) {
      this.#latest = Math.max(this.#latest, now);
      return;
    }
    this.#removesAt = 0;
    this.#signsAt = 0;
    this.#latest = Number.POSITIVE_INFINITY; // until it is known whom that concerns
    for (const { id } of await room.store.directory.spaces()) this.#toCatchUp.add(id);
    this.#latest = now;
  }

  async #catchUp(space: SpaceId): Promise<void> {
    await catchUpAfterSetBack(this.#parts.room, space);
    this.#toCatchUp.delete(space);
  }

  async #chores(round: Round, now: Micros, mayRemove: boolean): Promise<void> {
    if (mayRemove && now >= this.#removesAt) {
      this.#removesAt = now + CHORES_EVERY;
      await this.#removeOld(round, now);
    }
    if (now < this.#signsAt) return;
    this.#signsAt = now + CHORES_EVERY;
    await round.try(() => this.#parts.checkpoint());
  }

  async #removeOld(round: Round, now: Micros): Promise<void> {
    const { room, retentionDays } = this.#parts;
    const before = now - retentionDays * DAY;
    await round.try(async () => {
      for (const { id } of await room.store.directory.spaces()) {
        await round.try(() => room.store.write(id, [], (tx) => this.#retire(tx, now)));
        await round.clear(() => this.#clearKeys(id, now));
        await round.clear(() => this.#retireAnswered(id, before));
        await this.#retireEvents(round, id, now);
        await round.clear(() => retireTasks(room, id, before));
        await round.clear(() => retireContent(room, id, now - DAY));
        await this.#clearLeftovers(round, id, now);
      }
    });
    await this.#clearLeftovers(round, SERVER, now);
  }

  /** One step for each agent, because a platform has thousands of them. */
  async #retireEvents(round: Round, space: SpaceId, now: Micros): Promise<void> {
    const { room } = this.#parts;
    await round.try(async () => {
      const agents = await room.store.read(space, (tx) => tx.agents.names(Number.MAX_SAFE_INTEGER));
      for (const agent of agents) {
        await round.try(() => closeExpiredWaits(room, { space, agent, now }));
        await round.clear(() => retireEvents(room, { space, agent, now }));
      }
    });
  }

  async #clearLeftovers(round: Round, space: SpaceId, now: Micros): Promise<void> {
    const { room, retentionDays } = this.#parts;
    const leaving = { now, retentionDays };
    await round.clear(() => removeEnded(room, space, leaving));
    await round.clear(async () => {
      const { mark, isMore } = await removeOldHeads(room, space, leaving, this.#headMarks.get(space) ?? '');
      this.#headMarks.set(space, mark);
      return isMore;
    });
  }

  async #retire(tx: Tx, now: Micros): Promise<void> {
    if ((await tx.people.deleteExpiredSessions(now)) > 0) tx.announce(`desk:${tx.space}`, SESSIONS);
    await tx.producers.deleteRefusalsBefore(now - 7 * DAY);
  }

  async #clearKeys(space: SpaceId, now: Micros): Promise<boolean> {
    const clear = (tx: Tx) => tx.idempotency.deleteExpired(now, SMALL_STEP);
    return (await this.#parts.room.store.write(space, [], clear)) === SMALL_STEP;
  }

  /** Removals are in the ledger, too: how many rows and from before when, never what they said. */
  #retireAnswered(space: SpaceId, before: Micros): Promise<boolean> {
    const { room } = this.#parts;
    return room.store.write(space, ['ledger'], async (tx) => {
      const count = await tx.deliveries.deleteAnsweredBefore(before, SMALL_STEP);
      if (count === 0) return false;
      const data = { count, before: toIso(before) };
      const entry = { actor: 'system', action: 'deliveries.expired', subject: space, data };
      await record(room, tx, room.clock.now(), entry);
      return count === SMALL_STEP;
    });
  }

  #plan(): void {
    if (this.#stopped || this.#ticking !== null) return;
    void this.#sleepTime().then((millis) => {
      if (this.#stopped || this.#ticking !== null) return;
      if (this.#timer !== null) clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#run(), millis);
    });
  }

  async #sleepTime(): Promise<number> {
    const { room } = this.#parts;
    const rest = this.#restUntil - performance.now();
    if (rest > 0) return rest;
    const next = await room.store.directory.nextHeldAt().catch(() => null);
    if (next === null) return LONGEST_SLEEP_MS;
    return Math.min(LONGEST_SLEEP_MS, Math.max(1, Math.ceil((next - room.clock.now()) / 1000)));
  }
}
