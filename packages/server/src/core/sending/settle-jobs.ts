import { orThrow } from '../faults.ts';
import type { SpaceId } from '../ids.ts';
import { type Room, record } from '../room.ts';
import type { Tx } from '../store.ts';
import { afterPush } from '../tasks/push/push.ts';
import type { Micros } from '../time.ts';
import type { Attempt, Job, JobState } from './job.ts';
import { type NextAttempt, nextAttempt } from './retry.ts';

/** How an attempt ended, in the words of the record. `status` is null when nobody answered. */
export type Ended = {
  at: Micros;
  durationMs: number;
  outcome: string;
  status: number | null;
  retryAfterSeconds: number | null;
  /** Nobody wants it any more: no further attempt, whatever the schedule says. */
  isOver?: true;
};

/** A job whose attempt has ended. */
export type Attempted = { job: Job; ended: Ended };

/** Plain values, fit for another thread. */
export type AttemptPage = { space: SpaceId; page: readonly Attempted[] };

/**
 * Records attempts and plans the next ones (W22). Returns for each attempt whether it was recorded: not if another
 * worker has taken the job over meanwhile.
 */
export async function settleJobs(room: Room, attempts: AttemptPage): Promise<boolean[]> {
  return orThrow(await (room.intake?.take('attempts', attempts) ?? recordAttempts(room, attempts)));
}

export function recordAttempts(room: Room, { space, page }: AttemptPage): Promise<boolean[]> {
  return room.store.write(space, ['ledger'], async (tx) => {
    const results = page.map((attempted) => resultOf(room, attempted));
    const settled = await tx.jobs.settle(results);
    const recorded: boolean[] = [];
    for (const result of results) {
      const state = settled.has(result.id) ? result.state : await stateOfSentAgain(tx, result);
      if (state !== null) await note(room, tx, { ...result, state });
      recorded.push(state !== null);
    }
    return recorded;
  });
}

/**
 * What has become of a job that was sent again by hand while this attempt was under way, whose number was kept for it.
 * Null when it is another worker that has the job now.
 */
async function stateOfSentAgain(tx: Tx, { job, attempts: number }: Result): Promise<JobState | null> {
  const now = await tx.jobs.get(job.id);
  if (now === null || now.attempts < number) return null;
  const recorded = await tx.jobs.attempts(job.delivery);
  const isTaken = recorded.some((attempt) => attempt.job === job.id && attempt.number === number);
  return isTaken ? null : now.state;
}

function resultOf(room: Room, { job, ended }: Attempted) {
  const attempts = job.attempts + 1;
  const next = whatNext(room, job.kind, attempts, ended);
  const dueAt = next.kind === 'retry' ? room.clock.now() + next.delayMs * 1000 : ended.at;
  return { job, ended, id: job.id, fence: job.fence, state: STATE_AFTER[next.kind], dueAt, attempts };
}

type Result = Attempted & { state: JobState; attempts: number };

async function note(room: Room, tx: Tx, { job, ended, state, attempts: number }: Result): Promise<void> {
  const attempt: Attempt = {
    space: job.space,
    job: job.id,
    delivery: job.delivery,
    number,
    ...withoutHint(ended),
  };
  await tx.jobs.insertAttempt(attempt);
  if (job.kind === 'push') await afterPush(room, tx, job, state);
  await record(room, tx, room.clock.now(), {
    actor: 'system',
    action: `${job.kind}.attempted`,
    subject: job.delivery,
    data: { job: job.id, attempt: number, outcome: ended.outcome, status: ended.status, state },
  });
  tx.announce('jobs');
  tx.announce(`desk:${tx.space}`, job.delivery);
}

/** A digest that is hours late is noise, so it is given up early. */
const DIGEST_ATTEMPTS = 4;

function whatNext(room: Room, kind: Job['kind'], attempt: number, ended: Ended): NextAttempt {
  if (ended.isOver) return { kind: 'gone' };
  const { status, retryAfterSeconds } = ended;
  const next = nextAttempt({ attempt, status, retryAfterSeconds, random: room.ids.fraction() });
  const isLate = kind === 'digest' && attempt >= DIGEST_ATTEMPTS;
  return next.kind === 'retry' && isLate ? { kind: 'exhausted' } : next;
}

const STATE_AFTER = { done: 'done', retry: 'due', gone: 'gone', exhausted: 'given_up' } as const;

function withoutHint({ at, durationMs, outcome, status }: Ended) {
  return { at, durationMs, outcome, status };
}
