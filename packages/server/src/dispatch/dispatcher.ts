import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAway } from '../core/faults.ts';
import type { JobId, SpaceId } from '../core/ids.ts';
import { entry } from '../core/maps.ts';
import type { Room } from '../core/room.ts';
import type { Job } from '../core/sending/job.ts';
import { toRetryAfterSeconds } from '../core/sending/retry.ts';
import { claim, type Ended, giveBack, type Leased, RENEW_EVERY, renew } from '../core/sending/settle-job.ts';
import type { Topic } from '../core/store.ts';
import type { Micros } from '../core/time.ts';
import type { Letter, Mailer } from './mailer.ts';
import type { Outbound, OutboundRequest, Outcome } from './outbound/outbound.ts';
import { type Prepared, prepareCallback, prepareDigest, Senders } from './prepare.ts';
import { prepareForward } from './prepare-forward.ts';
import { type PushParts, preparePush } from './prepare-push.ts';
import { Receivers } from './receivers.ts';
import { Records } from './records.ts';

export interface DispatcherParts {
  room: Room;
  outbound: Pick<Outbound, 'send' | 'stop'>;
  /** Null when no mail server was named. */
  mailer: Pick<Mailer, 'send' | 'stop'> | null;
  push: PushParts;
  wakeups: { on(topic: Topic, wake: () => void): () => void };
  /** Something that should not happen, for the log. */
  warn(problem: unknown, message: string): void;
}

const PAGE = 128;
const SOME = 16;
/** Pages that are looked through when the first ones are all of receivers that may get nothing more. */
const MOST_PAGES = 4;
/** A look that took this long had many to skip, of one that hangs; the next one waits for a few times as long. */
const LONG_LOOK_MS = 8;
const REST_AFTER_LONG_LOOK = 4;
/** Looks again this often even when nothing was announced: another process may have queued something. */
const BACKSTOP_MS = 5_000;

const GIVE_BACK_AGAIN_MS = 500;

const ACCEPTED = 202;

/** Damaged, or sealed with a key that is gone. Tried again: the key may come back. */
const UNREADABLE: Prepared = { kind: 'refused', outcome: 'unreadable' };

const PREPARE = { callback: prepareCallback, digest: prepareDigest, forward: prepareForward };

/** The way out: claim, send, record. Jobs are leased, so that several workers can share them. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #stopping = new AbortController();
  readonly #records: Records;
  readonly #running = new Map<string, Promise<void>>();
  readonly #receivers = new Receivers();
  #off = () => {};
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #again = false;
  #lookedAt: Micros = 0;
  #restMs = 0;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#records = new Records(parts.room);
    // Every running attempt listens to it, which is no leak.
    setMaxListeners(0, this.#stopping.signal);
  }

  start(): void {
    this.#off = this.#parts.wakeups.on('jobs', () => this.#look());
    this.#look();
  }

  /** Running attempts are cut short and given back; whoever comes next sends them. */
  async stop(): Promise<void> {
    this.#off();
    this.#stopping.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#looking;
    await Promise.all(this.#running.values());
    await this.#parts.outbound.stop();
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
    // Somebody may have ended while the next look was planned, and been told that one is under way.
    if (this.#again && !this.#stopping.signal.aborted) this.#look();
  }

  async #takeDue(): Promise<void> {
    const { room } = this.#parts;
    const free = await this.#findFree();
    const senders = new Senders(room);
    // Until they are ours: before that the next look would find them again.
    const claims = [...bySpace(free)].map(([space, jobs]) => this.#claim(space, jobs, senders));
    const failed = (await Promise.allSettled(claims)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  /** Those that are due and whose receivers may get them, each with its place taken. */
  async #findFree(): Promise<Job[]> {
    const { store, clock } = this.#parts.room;
    this.#lookedAt = clock.now();
    const passed = new Set(this.#receivers.full());
    // No more than there is room for, and some that may be of the same receiver.
    const limit = Math.min(PAGE, 2 * this.#receivers.room + SOME);
    for (let page = 0; page < MOST_PAGES && this.#receivers.room > 0; page++) {
      const startedAt = performance.now();
      const due = await store.directory.jobsDue(this.#lookedAt, limit, [...passed]);
      const tookMs = performance.now() - startedAt;
      if (tookMs > LONG_LOOK_MS) this.#restMs = tookMs * REST_AFTER_LONG_LOOK;
      const free = due.filter((job) => !this.#running.has(job.id) && this.#admit(job, passed));
      this.#again ||= free.length > 0 && due.length === limit;
      if (free.length > 0 || due.length < limit) return free;
    }
    return [];
  }

  #admit({ origin }: Job, passed: Set<string>): boolean {
    const isAdmitted = this.#receivers.admit(origin);
    if (!isAdmitted) passed.add(origin);
    return isAdmitted;
  }

  /** Starts those that are ours now. A store that takes nothing is not asked again at once: nobody ends, so nobody looks. */
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
    const work = this.#attempt(leased, senders)
      .catch((problem: unknown) => {
        this.#parts.warn(problem, `${job.kind} ${job.id} could not be recorded`);
        return null;
      })
      .then((tookMs) => {
        this.#running.delete(job.id);
        this.#receivers.release(job.origin, tookMs);
        this.#look();
      });
    this.#running.set(job.id, work);
  }

  /** How long it took; null when it was given back. */
  async #attempt(leased: Leased, senders: Senders): Promise<number | null> {
    const { room } = this.#parts;
    const { job } = leased;
    const at = room.clock.now();
    const prepared = await this.#prepare(leased, senders).catch((problem: unknown) => {
      this.#parts.warn(problem, `${job.kind} ${job.id} could not be prepared`);
      // A store that is away says nothing about the job; whatever else is in the way belongs on the record.
      return isAway(problem) ? null : UNREADABLE;
    });
    if (prepared === null) await this.#pause();
    const ended = prepared === null ? null : await this.#carryOut(job, prepared, at);
    await (ended === null ? this.#giveBack(job) : this.#records.settle({ job, ended }));
    return ended?.durationMs ?? null;
  }

  /** Again and again while the store is away: until the lease is out nobody else would send it (L8). */
  async #giveBack(job: Job): Promise<void> {
    const { room } = this.#parts;
    const { signal } = this.#stopping;
    for (;;) {
      try {
        await giveBack(room, job);
        return;
      } catch (problem) {
        const isOver = signal.aborted || room.clock.now() >= (job.leasedUntil ?? 0);
        if (isOver || !isAway(problem)) throw problem;
      }
      await this.#pause();
    }
  }

  async #pause(millis = GIVE_BACK_AGAIN_MS): Promise<void> {
    await sleep(millis, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }

  async #rest(): Promise<void> {
    const millis = this.#restMs;
    this.#restMs = 0;
    if (millis > 0) await this.#pause(millis);
  }

  async #prepare({ job, request }: Leased, senders: Senders): Promise<Prepared> {
    const { room, push } = this.#parts;
    if (request === null) return UNREADABLE;
    return job.kind === 'push'
      ? preparePush(push, room, job, request)
      : PREPARE[job.kind](room, job, request, senders);
  }

  /** Null when we are stopping: whoever comes next sends it. */
  async #carryOut(job: Job, prepared: Prepared, at: Micros): Promise<Ended | null> {
    switch (prepared.kind) {
      case 'http': {
        const outcome = await this.#send(job, prepared.request);
        return !outcome.ok && outcome.kind === 'aborted' ? null : toEnded(outcome, at);
      }
      case 'mail':
        return this.#mail(prepared.letter, at);
      case 'placed':
        return { ...untried('placed', at), status: ACCEPTED };
      case 'refused':
        return untried(prepared.outcome, at);
      case 'over':
        return { ...untried(prepared.outcome, at), isOver: true };
    }
  }

  async #mail(letter: Letter, at: Micros): Promise<Ended> {
    const { mailer } = this.#parts;
    if (mailer === null) return { ...untried('no_mail_server', at), isOver: true };
    const { status, durationMs } = await mailer.send(letter);
    const outcome = status === null ? 'mail_server' : 'answered';
    return { at, durationMs: Math.round(durationMs), outcome, status, retryAfterSeconds: null };
  }

  async #send(job: Job, request: OutboundRequest): Promise<Outcome> {
    const { room, outbound, warn } = this.#parts;
    const renewing = setInterval(() => {
      renew(room, job).catch((problem: unknown) => warn(problem, `the lease of ${job.id} was not renewed`));
    }, RENEW_EVERY / 1000);
    try {
      return await outbound.send({ ...request, signal: this.#stopping.signal });
    } finally {
      clearInterval(renewing);
    }
  }

  async #planNext(): Promise<void> {
    const { store, clock } = this.#parts.room;
    // What was due then belongs to a busy receiver, and is looked for again when one of its requests ends.
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

function toEnded(outcome: Outcome, at: number): Ended {
  const durationMs = Math.round(outcome.durationMs);
  if (!outcome.ok) return { at, durationMs, outcome: outcome.kind, status: null, retryAfterSeconds: null };
  const { retryAfter } = outcome.headers;
  return {
    at,
    durationMs,
    outcome: 'answered',
    status: outcome.status,
    retryAfterSeconds: retryAfter === undefined ? null : toRetryAfterSeconds(retryAfter, at / 1000),
  };
}

function untried(outcome: string, at: number): Ended {
  return { at, durationMs: 0, outcome, status: null, retryAfterSeconds: null };
}
