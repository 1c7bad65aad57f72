import { setTimeout as sleep } from 'node:timers/promises';
import { isAway } from '../core/faults.ts';
import type { Room } from '../core/room.ts';
import type { Job } from '../core/sending/job.ts';
import { giveBack, type Leased, RENEW_EVERY, renew } from '../core/sending/lease-jobs.ts';
import { toRetryAfterSeconds } from '../core/sending/retry.ts';
import type { Ended } from '../core/sending/settle-jobs.ts';
import type { Micros } from '../core/time.ts';
import type { Letter, Mailer } from './mailer.ts';
import type { Outbound, OutboundRequest, Outcome } from './outbound/outbound.ts';
import { prepareCallback, type Senders } from './prepare/callback.ts';
import { prepareDigest } from './prepare/digest.ts';
import { prepareForward } from './prepare/forward.ts';
import type { Prepared, SignCallback } from './prepare/prepared.ts';
import { type PushParts, preparePush } from './prepare/push.ts';
import { Records } from './records.ts';

export interface CourierParts {
  room: Room;
  outbound: Pick<Outbound, 'send' | 'stop'>;
  /** Null when no mail server was named. */
  mailer: Pick<Mailer, 'send' | 'stop'> | null;
  sign: SignCallback;
  push: PushParts;
  /** Something that should not happen, for the log. */
  warn(problem: unknown, message: string): void;
}

const GIVE_BACK_AGAIN_MS = 500;

const ACCEPTED = 202;

/** The job's content is damaged, or sealed with a key that is missing. It is retried: the key may come back. */
const UNREADABLE: Prepared = { kind: 'refused', outcome: 'unreadable' };

/** Carries one leased job out: prepares it as things are now, sends it, and records how that ended. */
export class Courier {
  readonly #parts: CourierParts;
  readonly #stopping: AbortSignal;
  readonly #records: Records;

  constructor(parts: CourierParts, stopping: AbortSignal) {
    this.#parts = parts;
    this.#stopping = stopping;
    this.#records = new Records(parts.room);
  }

  /** How it ended; null when nothing was tried and the job is given back. */
  async attempt(leased: Leased, senders: Senders): Promise<Ended | null> {
    const { room } = this.#parts;
    const { job } = leased;
    const at = room.clock.now();
    const prepared = await this.#prepare(leased, senders).catch((problem: unknown) => {
      this.#parts.warn(problem, `${job.kind} ${job.id} could not be prepared`);
      // A store that cannot be reached says nothing about the job; every other problem belongs on its record.
      return isAway(problem) ? null : UNREADABLE;
    });
    if (prepared !== null) return this.#carryOut(job, prepared, at);
    await this.#pause();
    return null;
  }

  async record(job: Job, ended: Ended | null): Promise<void> {
    await (ended === null ? this.#giveBack(job) : this.#records.settle({ job, ended }));
  }

  async #prepare({ job, request }: Leased, senders: Senders): Promise<Prepared> {
    const { room, push } = this.#parts;
    if (request === null) return UNREADABLE;
    switch (job.kind) {
      case 'callback':
        return prepareCallback(this.#parts, job, request, senders);
      case 'digest':
        return prepareDigest(room, job, request);
      case 'forward':
        return prepareForward(this.#parts, job, request);
      case 'push':
        return preparePush(push, room, job, request);
    }
  }

  /** Null when we are stopping: the next worker sends it. */
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

  async #send(job: Job, request: OutboundRequest): Promise<Outcome> {
    const { room, outbound, warn } = this.#parts;
    const renewing = setInterval(() => {
      renew(room, job).catch((problem: unknown) => warn(problem, `the lease of ${job.id} was not renewed`));
    }, RENEW_EVERY / 1000);
    try {
      return await outbound.send(request);
    } finally {
      clearInterval(renewing);
    }
  }

  async #mail(letter: Letter, at: Micros): Promise<Ended> {
    const { mailer } = this.#parts;
    if (mailer === null) return { ...untried('no_mail_server', at), isOver: true };
    const { status, durationMs } = await mailer.send(letter);
    const outcome = status === null ? 'mail_server' : 'answered';
    return { at, durationMs: Math.round(durationMs), outcome, status, retryAfterSeconds: null };
  }

  /** Repeated while the store is away: nobody else would send the job before its lease ends (L8). */
  async #giveBack(job: Job): Promise<void> {
    const { room } = this.#parts;
    for (;;) {
      try {
        await giveBack(room, job);
        return;
      } catch (problem) {
        const isOver = this.#stopping.aborted || room.clock.now() >= (job.leasedUntil ?? 0);
        if (isOver || !isAway(problem)) throw problem;
      }
      await this.#pause();
    }
  }

  async #pause(): Promise<void> {
    await sleep(GIVE_BACK_AGAIN_MS, undefined, { signal: this.#stopping }).catch(() => {});
  }
}

function toEnded(outcome: Outcome, at: Micros): Ended {
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

function untried(outcome: string, at: Micros): Ended {
  return { at, durationMs: 0, outcome, status: null, retryAfterSeconds: null };
}
