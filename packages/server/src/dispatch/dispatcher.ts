import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAway } from '../core/faults.ts';
import type { JobId, SpaceId } from '../core/ids.ts';
import type { Room } from '../core/room.ts';
import type { Job } from '../core/sending/job.ts';
import { toRetryAfterSeconds } from '../core/sending/retry.ts';
import { claim, type Ended, giveBack, type Leased, RENEW_EVERY, renew } from '../core/sending/settle-job.ts';
import type { Topic } from '../core/store.ts';
import type { Micros } from '../core/time.ts';
import type { Letter, Mailer } from './mailer.ts';
import type { Outbound, OutboundRequest, Outcome } from './outbound.ts';
import { type Prepared, prepareCallback, prepareDigest, Senders } from './prepare.ts';
import { prepareForward } from './prepare-forward.ts';
import { type PushParts, preparePush } from './prepare-push.ts';
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

const PER_RECEIVER = 4;
const AT_ONCE = 256;
const PAGE = 128;
/** Looks again this often even when nothing was announced: another process may have queued something. */
const BACKSTOP_MS = 5_000;

const GIVE_BACK_AGAIN_MS = 500;

const ACCEPTED = 202;

/** Damaged, or sealed with a key that is gone. Tried again: the key may come back. */
const UNREADABLE: Prepared = { kind: 'refused', outcome: 'unreadable' };

const PREPARE = { callback: prepareCallback, digest: prepareDigest, forward: prepareForward };

/**
 * The way out: claim, send, record. Jobs are leased, so that several workers can share them; receivers are kept
 * apart by origin, so that a hung one holds up four of our requests and nobody else's.
 */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #stopping = new AbortController();
  readonly #records: Records;
  readonly #running = new Map<string, Promise<void>>();
  readonly #perOrigin = new Map<string, number>();
  #off = () => {};
  #timer: NodeJS.Timeout | null = null;
  #looking: Promise<void> | null = null;
  #again = false;

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
    const busy = [...this.#perOrigin].filter(([, n]) => n >= PER_RECEIVER).map(([origin]) => origin);
    const due = await room.store.directory.jobsDue(room.clock.now(), PAGE, busy);
    const free = due.filter((job) => !this.#running.has(job.id) && this.#admit(job));
    const senders = new Senders(room);
    // Until they are ours: before that the next look would find them again.
    const claims = [...bySpace(free)].map(([space, jobs]) => this.#claim(space, jobs, senders));
    const failed = (await Promise.allSettled(claims)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    if (free.length > 0 && due.length === PAGE) this.#again = true;
  }

  #admit(job: Job): boolean {
    const already = this.#perOrigin.get(job.origin) ?? 0;
    if (already >= PER_RECEIVER || this.#running.size >= AT_ONCE) return false;
    this.#perOrigin.set(job.origin, already + 1);
    return true;
  }

  #release({ origin }: Job): void {
    const left = (this.#perOrigin.get(origin) ?? 1) - 1;
    if (left > 0) this.#perOrigin.set(origin, left);
    else this.#perOrigin.delete(origin);
  }

  /** Starts those that are ours now. A store that takes nothing is not asked again at once: nobody ends, so nobody looks. */
  async #claim(space: SpaceId, jobs: readonly Job[], senders: Senders): Promise<void> {
    const ours = new Map<JobId, Leased>();
    try {
      for (const one of await claim(this.#parts.room, space, jobs)) ours.set(one.job.id, one);
    } finally {
      for (const job of jobs) {
        const leased = ours.get(job.id);
        if (leased === undefined) this.#release(job);
        else this.#start(leased, senders);
      }
    }
  }

  #start(leased: Leased, senders: Senders): void {
    const { job } = leased;
    const work = this.#attempt(leased, senders)
      .catch((problem: unknown) => this.#parts.warn(problem, `${job.kind} ${job.id} could not be recorded`))
      .finally(() => {
        this.#running.delete(job.id);
        this.#release(job);
        this.#look();
      });
    this.#running.set(job.id, work);
  }

  async #attempt(leased: Leased, senders: Senders): Promise<void> {
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

  async #pause(): Promise<void> {
    await sleep(GIVE_BACK_AGAIN_MS, undefined, { signal: this.#stopping.signal }).catch(() => {});
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
    const next = await this.#parts.room.store.directory.nextJobAt();
    const wait = next === null ? BACKSTOP_MS : Math.ceil((next - this.#parts.room.clock.now()) / 1000);
    // What is due but belongs to a busy receiver is looked for again when one of its requests ends.
    this.#plan(Math.min(BACKSTOP_MS, wait <= 0 ? BACKSTOP_MS : wait));
  }

  #plan(millis: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    if (this.#stopping.signal.aborted) return;
    this.#timer = setTimeout(() => this.#look(), millis);
  }
}

function bySpace(jobs: readonly Job[]): Map<SpaceId, Job[]> {
  const found = new Map<SpaceId, Job[]>();
  for (const job of jobs) {
    const known = found.get(job.space);
    if (known === undefined) found.set(job.space, [job]);
    else known.push(job);
  }
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
