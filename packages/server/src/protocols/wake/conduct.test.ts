import { type Clock, createWake, faultOf, memoryLog, type WakeOptions } from '@lanternroom/sdk';
import { expect, it } from 'vitest';
import { revokeKeys } from '../../core/agents/keys.ts';
import { orThrow } from '../../core/faults.ts';
import { AT_ONCE, client, openStillWorld, openWorld, swept } from '../../testing/wake.ts';
import type { World } from '../../testing/world.ts';

const DRAFT = { type: 'question', headline: 'The release is ready', summary: 'Ship 2.1 today?' } as const;

/** The client's clock: sleeping lets the time of both sides pass, or of nobody. */
function agentClock(sleep: (ms: number) => void = () => {}): Clock & { naps: number[] } {
  const naps: number[] = [];
  let now = Date.UTC(2026, 10, 15, 9);
  return {
    naps,
    now: () => now,
    sleep: async (ms) => {
      naps.push(ms);
      now += ms;
      sleep(ms);
    },
  };
}

/** A client, its log, and the alerts that it raised. */
function agentIn(world: World, over: Partial<WakeOptions> = {}) {
  const log = memoryLog();
  const alerts: string[] = [];
  const wake = client(world, { log, alert: (error) => alerts.push(error.fault), ...over });
  return { wake, log, alerts };
}

async function faultBy(work: Promise<unknown>): Promise<string | null> {
  return work.then(
    () => null,
    (error: unknown) => faultOf(error),
  );
}

it('[W23] approved may proceed, rejected and redirected may not; redirected brings both parts', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const { wake } = agentIn(world);
  const answerTo = async (answer: Record<string, unknown>) => {
    const { deliveryId } = await wake.deliver(DRAFT);
    await world.decide(deliveryId, answer);
    return wake.waitFor(deliveryId);
  };
  expect(await answerTo({ status: 'approved' })).toMatchObject({ status: 'approved', mayProceed: true });
  const rejected = { status: 'rejected', feedback: 'Not today.' };
  expect(await answerTo(rejected)).toMatchObject({ ...rejected, mayProceed: false });
  const edited = { version: '2.1.1', notes: ['a', null, 3] };
  expect(
    await answerTo({ status: 'redirected', feedback: 'Bump it.', edited_content: edited }),
  ).toMatchObject({
    mayProceed: false,
    instructions: { feedback: 'Bump it.', editedContent: edited },
  });
});

it('[W23] it goes on after the timeout only with an assumption, which is in the log first', async () => {
  const world = await openWorld();
  const { wake, log } = agentIn(world, { clock: agentClock() });
  const { deliveryId } = await wake.deliver({ ...DRAFT, timeoutSeconds: 60 });
  const quiet = await wake.waitFor(deliveryId, { timeoutMs: 900 });
  expect(quiet).toMatchObject({ status: 'timed_out', mayProceed: false, assumption: null });
  const assumption = 'Nobody objects to the draft.';
  const assumed = await wake.waitFor(deliveryId, { timeoutMs: 900, onTimeout: { assumption } });
  expect(assumed).toMatchObject({ status: 'timed_out', mayProceed: true, assumption });
  expect(log.lines.at(-1)).toContain(assumption);
});

it('[W23] an answer to somebody else’s delivery is refused, also with the right key', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const { wake } = agentIn(world);
  const elsewhere = await world.deliver();
  const { deliveryId } = await wake.deliver(DRAFT);
  await world.decide(elsewhere, { status: 'approved' });
  await world.decide(deliveryId, { status: 'approved' });
  expect(await faultBy(wake.check(elsewhere))).toBe('foreign_delivery');
  const seen = [];
  for await (const answer of wake.sweep()) seen.push(answer.deliveryId);
  expect(seen).toEqual([deliveryId]);
  await wake.adopt(elsewhere);
  expect(await wake.check(elsewhere)).toMatchObject({ status: 'approved' });
});

it('[W23] after 401 it stops and says so once', async () => {
  const world = await openWorld();
  const { wake, alerts } = agentIn(world);
  await wake.deliver(DRAFT);
  orThrow(await revokeKeys(world.room, { space: world.space.id, agent: 'agent-01' }, 'test'));
  expect(await faultBy(wake.deliver(DRAFT))).toBe('unauthorized');
  expect(await faultBy(wake.deliver(DRAFT))).toBe('unauthorized');
  expect(alerts).toEqual(['unauthorized']);
});

it('[W23] on 429 it waits as long as it is told, and then delivers', async () => {
  const { world, clock } = await openStillWorld({ LANTERNROOM_RATE_TEST: '20/1' });
  const time = agentClock((ms) => clock.turn(ms * 1000));
  const { wake, alerts } = agentIn(world, { clock: time });
  await wake.deliver(DRAFT);
  await wake.deliver(DRAFT);
  expect(time.naps).toEqual([180_000]);
  expect(alerts).toEqual([]);
  expect((await swept(world, '')).total).toBe(2);
});

it('[W23] a second 429 raises one alert', async () => {
  const { world } = await openStillWorld({ LANTERNROOM_RATE_TEST: '20/1' });
  const { wake, alerts } = agentIn(world, { clock: agentClock() });
  await wake.deliver(DRAFT);
  expect(await faultBy(wake.deliver(DRAFT))).toBe('rate_limited');
  expect(await faultBy(wake.deliver(DRAFT))).toBe('rate_limited');
  expect(alerts).toEqual(['rate_limited']);
  expect((await swept(world, '')).total).toBe(1);
});

it('[W23] a refusal is told in the words of the server, and is not retried', async () => {
  const world = await openWorld();
  const clock = agentClock();
  const { wake } = agentIn(world, { clock });
  await expect(wake.deliver({ ...DRAFT, headline: 'x'.repeat(121) })).rejects.toMatchObject({
    fault: 'refused',
    message: expect.stringContaining('headline may have at most 120 characters.'),
    wire: { status: 422, code: 'invalid_field', field: 'headline' },
  });
  expect(clock.naps).toEqual([]);
});

it('[W23] it takes its own delivery back, and meets a conflict after the answer', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const { wake } = agentIn(world);
  const first = await wake.deliver(DRAFT);
  const withdrawn = await wake.withdraw(first.deliveryId, 'The build failed.');
  expect(withdrawn).toMatchObject({
    status: 'rejected',
    feedback: 'Withdrawn by the agent: The build failed.',
    withdrawnAt: expect.any(String),
  });
  const second = await wake.deliver(DRAFT);
  await world.decide(second.deliveryId, { status: 'rejected' });
  expect(await faultBy(wake.withdraw(second.deliveryId, 'Too late.'))).toBe('conflict');
});

it('[W23] its log knows every delivery and answer, and never the key', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const { wake, log } = agentIn(world);
  const { deliveryId } = await wake.deliver({
    ...DRAFT,
    details: { env: world.agent.key.replace('wk_', 'wk-') },
  });
  await world.decide(deliveryId, { status: 'approved' });
  await wake.check(deliveryId);
  const events = log.lines.map((line) => JSON.parse(line).event);
  expect(events).toEqual(['deliver', 'delivered', 'answer']);
  expect(log.lines.join('\n')).not.toContain(world.agent.key);
  const restarted = client(world, { log });
  expect(await restarted.check(deliveryId)).toMatchObject({ status: 'approved' });
});

it('[W23] a live key does not travel over plain http', async () => {
  const world = await openWorld();
  const { key } = await world.addAgent({ id: 'live', tier: 'live' });
  expect(() => createWake({ url: world.url, apiKey: key, log: memoryLog() })).toThrow(/test keys only/);
  expect(() => createWake({ url: 'http://192.0.2.1', apiKey: world.agent.key, log: memoryLog() })).toThrow(
    /https/,
  );
});
