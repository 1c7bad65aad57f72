import { expect, it } from 'vitest';
import { fromIso, HOUR, type Micros, SECOND } from '../../core/time.ts';
import { signal } from '../../testing/network/receivers.ts';
import {
  AT_ONCE,
  announceJobs,
  attemptsOf,
  type CallbackRecord,
  type HookAnswer,
  ledger,
  openHook,
  openStillWorld,
} from '../../testing/wake.ts';
import type { ManualClock, World } from '../../testing/world.ts';

const STEP_SECONDS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

type Hooked = { world: World; clock: ManualClock; id: string; calls: unknown[] };

/** One approved delivery whose receiver answers the n-th call as told. */
async function openApproved(
  answer: (count: number) => HookAnswer | Promise<HookAnswer>,
  env: Record<string, string> = {},
): Promise<Hooked> {
  const hook = await openHook((_, count) => answer(count));
  const { world, clock } = await openStillWorld({ ...AT_ONCE, ...env });
  const { key } = await world.addAgent({ id: 'hooked', callbacks: [hook.origin] });
  const id = await world.deliver({ agent_id: 'hooked', callback_webhook: `${hook.origin}/a` }, key);
  await world.decide(id, { status: 'approved' });
  return { world, clock, id, calls: hook.calls };
}

function dueIn({ callbacks }: CallbackRecord, now: Micros): number | null {
  const due = callbacks[0]?.due_at ?? null;
  return due === null ? null : ((fromIso(due) ?? 0) - now) / SECOND;
}

function sendAgain(world: World, { callbacks }: CallbackRecord): Promise<Response> {
  return world.desk('POST', `/desk/callbacks/${callbacks[0]?.job_id}/send-again`);
}

it('[W22] nine retries, each within a fifth of its step and every one on the record; then it is given up', async () => {
  const { world, clock, id, calls } = await openApproved(() => ({ status: 503 }));
  for (const [index, step] of STEP_SECONDS.entries()) {
    const record = await attemptsOf(world, id, index + 1);
    expect(record.callbacks).toMatchObject([{ state: 'due', attempts: index + 1 }]);
    const wait = dueIn(record, clock.now()) ?? 0;
    expect(wait).toBeGreaterThanOrEqual(step * 0.8);
    expect(wait).toBeLessThanOrEqual(step * 1.2);
    clock.turn(Math.round(wait * SECOND));
    announceJobs(world);
  }
  const record = await attemptsOf(world, id, 10);
  expect(record.callbacks).toMatchObject([{ state: 'given_up', attempts: 10, due_at: null }]);
  expect(record.attempts.map(({ number, outcome, status }) => [number, outcome, status])).toEqual(
    Array.from({ length: 10 }, (_, i) => [i + 1, 'answered', 503]),
  );
  expect(calls).toHaveLength(10);
  expect(await ledger(world, 'callback.attempted')).toHaveLength(10);
});

it('[W22][D82] what is still tried keeps its delivery, however soon old ones leave', async () => {
  const { world, id } = await openApproved(() => ({ status: 503 }), { LANTERNROOM_RETENTION_DAYS: '1' });
  await attemptsOf(world, id, 1);
  for (let tried = 2; tried <= 10; tried++) {
    await world.tick(30 * HOUR);
    announceJobs(world);
    await attemptsOf(world, id, tried);
  }
  await world.tick(60 * SECOND);
  expect((await world.desk('GET', `/desk/deliveries/${id}`)).status).toBe(404);
});

it('[W22] nothing is sent before it is due', async () => {
  const { world, clock, id, calls } = await openApproved((count) => ({ status: count === 1 ? 500 : 200 }));
  const record = await attemptsOf(world, id, 1);
  const wait = Math.round((dueIn(record, clock.now()) ?? 0) * SECOND);
  clock.turn(wait - 1);
  await world.restart();
  expect(await attemptsOf(world, id, 1)).toMatchObject({ attempts: [{ number: 1 }] });
  expect(calls).toHaveLength(1);
  clock.turn(1);
  announceJobs(world);
  expect(await attemptsOf(world, id, 2)).toMatchObject({ callbacks: [{ state: 'done', due_at: null }] });
  expect(calls).toHaveLength(2);
});

it.each([200, 202, 204, 299])('[W22] %i is done, and nothing more is planned', async (status) => {
  const { world, id } = await openApproved(() => ({ status }));
  const record = await attemptsOf(world, id, 1);
  expect(record).toMatchObject({
    callbacks: [{ state: 'done', attempts: 1, due_at: null }],
    attempts: [{ outcome: 'answered', status }],
  });
});

it('[W22] 410 stops for good', async () => {
  const { world, clock, id, calls } = await openApproved(() => ({ status: 410 }));
  const record = await attemptsOf(world, id, 1);
  expect(record.callbacks).toMatchObject([{ state: 'gone', due_at: null }]);
  clock.turn(10 * 86_400 * SECOND);
  await world.restart();
  announceJobs(world);
  expect((await attemptsOf(world, id, 1)).attempts).toHaveLength(1);
  expect(calls).toHaveLength(1);
});

it.each([
  ['6', 6],
  ['3600', 6],
  ['soon', null],
])('[W22] Retry-After: %s is honoured within the step of 5 s', async (header, wanted) => {
  const { world, clock, id } = await openApproved(() => ({
    status: 429,
    headers: { 'retry-after': header },
  }));
  const wait = dueIn(await attemptsOf(world, id, 1), clock.now()) ?? 0;
  if (wanted !== null) expect(wait).toBe(wanted);
  expect(wait).toBeGreaterThanOrEqual(4);
  expect(wait).toBeLessThanOrEqual(6);
});

it('[W22] nobody listens: the attempt is on the record and tried again', async () => {
  const hook = await openHook(() => ({ status: 200 }));
  const { world } = await openStillWorld(AT_ONCE);
  const target = 'http://127.0.0.1:9';
  const { key } = await world.addAgent({ id: 'hooked', callbacks: [hook.origin, target] });
  const id = await world.deliver({ agent_id: 'hooked', callback_webhook: `${target}/a` }, key);
  await world.decide(id, { status: 'approved' });
  const record = await attemptsOf(world, id, 1);
  expect(record.attempts).toMatchObject([{ outcome: 'connect', status: null }]);
  expect(record.callbacks).toMatchObject([{ state: 'due' }]);
});

it.each([410, 503, 200])(
  '[W22] after %i it can be sent again by hand, with the same bytes and id',
  async (status) => {
    const calls: string[] = [];
    const hook = await openHook(({ body, headers }) => {
      calls.push(`${headers['webhook-id']} ${body}`);
      return { status: calls.length === 1 ? status : 200 };
    });
    const { world } = await openStillWorld(AT_ONCE);
    const { key } = await world.addAgent({ id: 'hooked', callbacks: [hook.origin] });
    const id = await world.deliver({ agent_id: 'hooked', callback_webhook: `${hook.origin}/a` }, key);
    await world.decide(id, { status: 'approved' });
    const first = await attemptsOf(world, id, 1);
    expect((await sendAgain(world, first)).status).toBe(200);
    const record = await attemptsOf(world, id, 2);
    expect(record.callbacks).toMatchObject([{ state: 'done', attempts: 2 }]);
    expect(calls).toHaveLength(2);
    expect(calls[1]).toBe(calls[0]);
    expect(await ledger(world, 'callback.requeued')).toMatchObject([
      { actor: `person:${world.owner.id}`, subject: id },
    ]);
  },
);

it('[W22] sent again while an attempt is under way, both are on the record, and the second says how it ended', async () => {
  const [arrived, answer] = [signal(), signal()];
  const { world, id, calls } = await openApproved(async (count) => {
    if (count > 1) return { status: 200 };
    arrived.fire();
    await answer.seen;
    return { status: 503 };
  });
  await arrived.seen;
  const running = await attemptsOf(world, id, 0);
  // Twice, as by a hand that is not sure: only one attempt is under way.
  expect((await sendAgain(world, running)).status).toBe(200);
  expect((await sendAgain(world, running)).status).toBe(200);
  answer.fire();
  const record = await attemptsOf(world, id, 2);
  expect(record.attempts).toMatchObject([
    { number: 1, outcome: 'answered', status: 503 },
    { number: 2, outcome: 'answered', status: 200 },
  ]);
  expect(record.callbacks).toMatchObject([{ state: 'done', attempts: 2, due_at: null }]);
  expect(calls).toHaveLength(2);
  expect(await ledger(world, 'callback.attempted')).toHaveLength(2);
});

it('[W22] sent again while an attempt is under way, it is sent again also when that attempt got through', async () => {
  const [arrived, answer] = [signal(), signal()];
  const { world, id, calls } = await openApproved(async (count) => {
    if (count === 1) {
      arrived.fire();
      await answer.seen;
    }
    return { status: count === 1 ? 200 : 503 };
  });
  await arrived.seen;
  await sendAgain(world, await attemptsOf(world, id, 0));
  answer.fire();
  const record = await attemptsOf(world, id, 2);
  expect(record.attempts.map(({ number, status }) => [number, status])).toEqual([
    [1, 200],
    [2, 503],
  ]);
  expect(record.callbacks).toMatchObject([{ state: 'due', attempts: 2 }]);
  expect(calls).toHaveLength(2);
});
