import { settleHeld } from '../core/deliveries/effect.ts';
import { wakeSnoozed } from '../core/deliveries/triage.ts';
import { retireEvents } from '../core/events/retention.ts';
import type { SpaceId } from '../core/ids.ts';
import { removeLeftovers } from '../core/leftovers.ts';
import { queueDigest } from '../core/people/digest.ts';
import { SESSIONS } from '../core/people/login.ts';
import { type Room, record } from '../core/room.ts';
import { catchUpAfterSetBack } from '../core/set-back.ts';
import { SERVER, type Topic, type Tx } from '../core/store.ts';
import { sweepLost } from '../core/tasks/presence.ts';
import { retireTasks } from '../core/tasks/retention.ts';
import { DAY, type Micros, toIso } from '../core/time.ts';

export interface TickerParts {
  room: Room;
  wakeups: { on(topic: Topic, wake: () => void): () => void };
  retentionDays: number;
  /** Signs the ledgers' ends. */
  checkpoint(): Promise<void>;
  /** Who was heard of, written down now and then. */
  presence: readonly { flushIfDue(now: Micros): Promise<void> }[];
  warn(problem: unknown, message: string): void;
}

const LONGEST_SLEEP_MS = 1_000;
const CHORES_EVERY: Micros = 60 * 1_000_000;
const PAGE = 200;
const SMALL_STEP = 500;

/** What happens by the clock: held decisions take effect, snoozed things return, digests go out, old ones leave. */
export class Ticker {
  readonly #parts: TickerParts;
  #timer: NodeJS.Timeout | null = null;
  #ticking: Promise<void> | null = null;
  #stopped = false;
  #choresAt: Micros = 0;
  #lastTick: Micros = Number.POSITIVE_INFINITY;
  readonly #headMarks = new Map<SpaceId, string>();
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
  }

  #run(): void {
    this.#ticking ??= this.tick()
      .catch((problem: unknown) => this.#parts.warn(problem, 'the ticker stumbled'))
      .finally(() => {
        this.#ticking = null;
        this.#plan();
      });
  }

  /** One round; public so that a test can turn the clock and then the crank. */
  async tick(): Promise<void> {
    const { room } = this.#parts;
    const now = room.clock.now();
    await this.#noteTime(now);
    const held = await room.store.directory.heldDue(now, PAGE);
    await Promise.all(held.map(({ space, delivery }) => settleHeld(room, space, delivery)));
    const snoozed = await room.store.directory.snoozedDue(now, PAGE);
    await Promise.all(snoozed.map(({ space, delivery }) => wakeSnoozed(room, space, delivery)));
    for (const { space, person } of await room.store.directory.digestsDue(now, PAGE)) {
      await queueDigest(room, space, person);
    }
    await sweepLost(room);
    for (const presence of this.#parts.presence) await presence.flushIfDue(now);
    if (now >= this.#choresAt) {
      this.#choresAt = now + CHORES_EVERY;
      await this.#chores(now);
    }
  }

  /** At the start nobody knows what the clock did meanwhile. */
  async #noteTime(now: Micros): Promise<void> {
    const { room } = this.#parts;
    const wasSetBack = now < this.#lastTick;
    this.#lastTick = now;
    if (!wasSetBack) return;
    this.#choresAt = 0;
    for (const { id } of await room.store.directory.spaces()) await catchUpAfterSetBack(room, id);
  }

  async #chores(now: Micros): Promise<void> {
    const { room, retentionDays } = this.#parts;
    for (const { id } of await room.store.directory.spaces()) {
      await room.store.write(id, ['ledger'], async (tx) => {
        await tx.idempotency.deleteExpired(now, SMALL_STEP);
        await this.#retire(tx, now - retentionDays * DAY);
        if ((await tx.people.deleteExpiredSessions(now)) > 0) tx.announce(`desk:${id}`, SESSIONS);
        await tx.producers.deleteRefusalsBefore(now - 7 * DAY);
      });
      await retireEvents(room, id, now);
      await retireTasks(room, id, { endedBefore: now - retentionDays * DAY, unusedBefore: now - DAY });
      await this.#clearLeftovers(id, now);
    }
    await this.#clearLeftovers(SERVER, now);
    await this.#parts.checkpoint();
  }

  async #clearLeftovers(space: SpaceId, now: Micros): Promise<void> {
    const { room, retentionDays } = this.#parts;
    const mark = this.#headMarks.get(space) ?? '';
    this.#headMarks.set(space, await removeLeftovers(room, space, { now, retentionDays }, mark));
  }

  /** What leaves is on the record too: how many and from before when, never what. */
  async #retire(tx: Tx, before: Micros): Promise<void> {
    const { room } = this.#parts;
    const count = await tx.deliveries.deleteAnsweredBefore(before, SMALL_STEP);
    if (count === 0) return;
    const data = { count, before: toIso(before) };
    const entry = { actor: 'system', action: 'deliveries.expired', subject: tx.space, data };
    await record(room, tx, room.clock.now(), entry);
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
    const next = await room.store.directory.nextHeldAt().catch(() => null);
    if (next === null) return LONGEST_SLEEP_MS;
    return Math.min(LONGEST_SLEEP_MS, Math.max(1, Math.ceil((next - room.clock.now()) / 1000)));
  }
}
