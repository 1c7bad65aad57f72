import { setTimeout as sleep } from 'node:timers/promises';
import type { JobId, SpaceId } from '../core/ids.ts';
import { entry } from '../core/maps.ts';
import type { Job } from '../core/sending/job.ts';
import { claim, type Leased } from '../core/sending/lease-jobs.ts';
import type { Ended } from '../core/sending/settle-jobs.ts';
import type { Topic } from '../core/store.ts';
import type { Micros } from '../core/time.ts';
import { Courier, type CourierParts } from './courier.ts';
import { Senders } from './prepare/callback.ts';
import { Receivers } from './receivers.ts';

export interface DispatcherParts extends CourierParts {
  wakeups: { on(topic: Topic, wake: () => void): () => void };
}

const PAGE = 128;
const SOME = 16;
/** How many jobs we hold at once: those being sent, and those that wait to be recorded. */
const MOST_OURS = 768;
/** How many pages are searched when the first ones hold only jobs of receivers that are busy. */
const MOST_PAGES = 4;
/** A look that takes this long has skipped many jobs of a receiver that hangs; we then rest for a multiple of it. */
const LONG_LOOK_MS = 8;
const REST_AFTER_LONG_LOOK = 4;
/** How often it looks without being told: another process may have queued something. */
const BACKSTOP_MS = 5_000;

/** Finds due jobs, claims them and has them carried out. Jobs are leased, so that several workers can share them. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #stopping = new AbortController();
  readonly #courier: Courier;
  readonly #running = new Map<string, Promise<void>>();
  readonly #receivers = new Receivers();
  #off = () => {};
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #again = false;
  #lookedAt: Micros = 0;
  #lastLookMs = 0;
  #restMs = 0;
  /** Receivers that have more due jobs than free places, as of the last look. */
  #passed: ReadonlySet<string> = new Set();
  #isFull = false;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#courier = new Courier(parts, this.#stopping.signal);
  }

  start(): void {
    this.#off = this.#parts.wakeups.on('jobs', () => this.#look());
    this.#look();
  }

  /** Running attempts are cut short and given back; the next worker sends them. */
  async stop(): Promise<void> {
    this.#off();
    this.#stopping.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    const stopped = this.#parts.outbound.stop();
    await this.#looking;
    await Promise.all(this.#running.values());
    await stopped;
    this.#parts.mailer?.stop();
  }

  #look(): void {
    this.#again = true;
    this.#looking ??= this.#lookUntilQuiet();
  }

  async #lookUntilQuiet(): Promise<void> {
    try {
      while (this.#again && !this.#stopping.signal.aborted) {
        await this.#rest();
        this.#again = false;
        await this.#takeDue();
      }
      await this.#planNext();
    } catch (problem) {
      this.#parts.warn(problem, 'the dispatcher could not look for work');
      this.#plan(BACKSTOP_MS);
    } finally {
      this.#looking = null;
    }
    // An attempt may have ended while this look ran, and was told that a look is under way.
    if (this.#again && !this.#stopping.signal.aborted) this.#look();
  }

  async #takeDue(): Promise<void> {
    const { room } = this.#parts;
    const free = await this.#findFree();
    this.#isFull = this.#room <= 0;
    const senders = new Senders(room);
    // Before they are claimed, the next look would find them again.
    const claims = [...bySpace(free)].map(([space, jobs]) => this.#claim(space, jobs, senders));
    const failed = (await Promise.allSettled(claims)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  /** Due jobs whose receivers have a free place; the place is taken here. */
  async #findFree(): Promise<Job[]> {
    const { store, clock } = this.#parts.room;
    this.#lookedAt = clock.now();
    const passed = new Set(this.#receivers.full());
    this.#passed = passed;
    // As many as there is room for, and a few more, because some may belong to busy receivers.
    const limit = Math.min(PAGE, 2 * this.#room + SOME);
    for (let page = 0; page < MOST_PAGES && this.#room > 0; page++) {
      const startedAt = performance.now();
      const due = await store.directory.jobsDue(this.#lookedAt, limit, [...passed]);
      const tookMs = performance.now() - startedAt;
      // A single long look may be due to the machine.
      if (Math.min(tookMs, this.#lastLookMs) > LONG_LOOK_MS) this.#restMs = tookMs * REST_AFTER_LONG_LOOK;
      this.#lastLookMs = tookMs;
      const free = due.filter((job) => !this.#running.has(job.id) && this.#admit(job, passed));
      this.#again ||= free.length > 0 && due.length === limit;
      if (free.length > 0 || due.length < limit) return free;
    }
    return [];
  }

  get #room(): number {
    return Math.min(this.#receivers.room, MOST_OURS - this.#running.size);
  }

  #admit({ origin }: Job, passed: Set<string>): boolean {
    const isAdmitted = this.#receivers.admit(origin);
    if (!isAdmitted) passed.add(origin);
    return isAdmitted;
  }

  /** Starts the jobs that we have claimed. If the store refuses, nothing starts, so nothing ends and no new look follows at once. */
  async #claim(space: SpaceId, jobs: readonly Job[], senders: Senders): Promise<void> {
    const ours = new Map<JobId, Leased>();
    try {
      for (const one of await claim(this.#parts.room, space, jobs)) ours.set(one.job.id, one);
    } finally {
      for (const job of jobs) {
        const leased = ours.get(job.id);
        if (leased === undefined) this.#receivers.release(job.origin, null);
        else this.#start(leased, senders);
      }
    }
  }

  #start(leased: Leased, senders: Senders): void {
    const { job } = leased;
    const work = this.#carryOut(leased, senders)
      .catch((problem: unknown) => this.#parts.warn(problem, `${job.kind} ${job.id} could not be recorded`))
      .then(() => {
        this.#running.delete(job.id);
        this.#look();
      });
    this.#running.set(job.id, work);
  }

  /** The receiver is free as soon as it has answered; it need not wait until that is recorded on disk. */
  async #carryOut(leased: Leased, senders: Senders): Promise<void> {
    const { job } = leased;
    let ended: Ended | null = null;
    try {
      ended = await this.#courier.attempt(leased, senders);
    } finally {
      this.#receivers.release(job.origin, ended?.durationMs ?? null);
    }
    if (ended !== null && (this.#isFull || this.#passed.has(job.origin))) this.#look();
    await this.#courier.record(job, ended);
  }

  async #rest(): Promise<void> {
    const millis = this.#restMs;
    this.#restMs = 0;
    if (millis > 0) await sleep(millis, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }

  async #planNext(): Promise<void> {
    const { store, clock } = this.#parts.room;
    // What was due then belongs to a busy receiver; we look again when one of its requests ends.
    const next = await store.directory.nextJobAt(this.#lookedAt);
    const wait = next === null ? BACKSTOP_MS : Math.max(1, Math.ceil((next - clock.now()) / 1000));
    this.#plan(Math.min(BACKSTOP_MS, wait));
  }

  #plan(millis: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#stopping.signal.aborted) return;
    this.#timer = setTimeout(() => this.#look(), millis);
  }
}

function bySpace(jobs: readonly Job[]): Map<SpaceId, Job[]> {
  const found = new Map<SpaceId, Job[]>();
  for (const job of jobs) entry(found, job.space, () => []).push(job);
  return found;
}
