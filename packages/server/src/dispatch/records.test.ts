import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../config.ts';
import { foundSpace } from '../core/agents/found.ts';
import { orThrow } from '../core/faults.ts';
import type { Job } from '../core/sending/job.ts';
import { claim, LEASE } from '../core/sending/lease-jobs.ts';
import { openGround } from '../main.ts';
import { freshFolder } from '../testing/folders.ts';
import { aJob, anAttempt } from '../testing/stores/things.ts';
import { Records } from './records.ts';

const ENDED = { durationMs: 5, outcome: 'answered', status: 200, retryAfterSeconds: null };

async function opened(count: number) {
  const ground = await openGround(readConfig({ flags: { data: freshFolder() }, env: {} }));
  onTestFinished(() => ground.stop());
  const { room } = ground;
  const { id: space } = orThrow(await foundSpace(room, 'home', 'test'));
  const jobs = Array.from({ length: count }, (_, i) =>
    aJob({ space, id: `job-${i}`, delivery: `delivery-${i}` }),
  );
  await room.store.write(space, [], async (tx) => {
    for (const job of jobs) await tx.jobs.insert(job, { url: 'https://example.com/hook', body: '{}' });
  });
  const records = new Records(room);
  const settle = (job: Job) => records.settle({ job, ended: { ...ENDED, at: room.clock.now() } });
  const ledgerEnd = () => room.store.read(space, async (tx) => (await tx.heads.get('ledger'))?.n ?? 0);
  const claimed = (await claim(room, space, jobs)).map(({ job }) => job);
  return { room, space, claimed, settle, ledgerEnd };
}

test('[D20] attempts that end together, or while others are written, are each on the record once', async () => {
  const { room, space, claimed, settle, ledgerEnd } = await opened(300);
  const before = await ledgerEnd();
  const first = claimed.slice(0, 200).map(settle);
  await first[0];
  const rest = claimed.slice(200).map(settle);
  expect(await Promise.all([...first, ...rest])).toEqual(claimed.map(() => true));
  expect(await ledgerEnd()).toBe(before + claimed.length);
  await room.store.read(space, async (tx) => {
    for (const { id, delivery } of claimed) {
      expect(await tx.jobs.get(id)).toMatchObject({ state: 'done', attempts: 1, leasedUntil: null });
      expect(await tx.jobs.attempts(delivery)).toMatchObject([{ job: id, number: 1 }]);
    }
  });
});

test('[D20][D28] one that cannot be recorded, and one whose lease was lost, harm no other', async () => {
  const { room, space, claimed, settle, ledgerEnd } = await opened(6);
  const [bad, lost, ...well] = claimed;
  if (bad === undefined || lost === undefined) throw new Error('nothing was claimed');
  // Its number is taken, so that writing it fails.
  await room.store.write(space, [], (tx) =>
    tx.jobs.insertAttempt(anAttempt({ space, job: bad.id, delivery: bad.delivery })),
  );
  const expired = (lost.leasedUntil ?? 0) + 1;
  await room.store.write(space, [], (tx) => tx.jobs.lease([lost], expired, expired + LEASE));
  const before = await ledgerEnd();
  const settled = await Promise.allSettled([bad, lost, ...well].map(settle));
  expect(settled.map((one) => (one.status === 'fulfilled' ? one.value : 'failed'))).toEqual([
    'failed',
    false,
    ...well.map(() => true),
  ]);
  expect(await ledgerEnd()).toBe(before + well.length);
  await room.store.read(space, async (tx) => {
    expect(await tx.jobs.get(bad.id)).toMatchObject({ state: 'due', attempts: 0 });
    expect(await tx.jobs.attempts(lost.delivery)).toEqual([]);
  });
});
