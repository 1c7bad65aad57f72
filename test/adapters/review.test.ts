import { review } from '@lanternroom/adapters';
import { answerApprovals } from '@lanternroom/adapters/ai-sdk';
import { overseen } from '@lanternroom/adapters/mastra';
import { createWake, memoryLog } from '@lanternroom/sdk/wake';
import { expect, it, onTestFinished } from 'vitest';
import { ManualClock, World } from '../../packages/server/src/testing/world.ts';

const SECOND = 1_000_000;
const CALL = { id: ['run-1', 'c1'], tool: 'refund', args: { order: 'A-17', amount: 40 } };

/** A server and a client that share one clock, which the test turns. */
async function open() {
  const clock = new ManualClock();
  const world = await World.open({ clock, env: { LANTERNROOM_UNDO_SECONDS: '0' } });
  onTestFinished(() => world.stop());
  const log = memoryLog();
  const time = { now: () => clock.now() / 1_000, sleep: async () => undefined };
  const client = (kept = log) =>
    createWake({ url: world.url, apiKey: world.agent.key, agentId: 'agent-01', clock: time, log: kept });
  const wake = client();
  const look = (over: object = {}) =>
    review('test', { ...CALL, ...over }, { wake, wait: false, timeoutSeconds: 60 });
  const rows = async () => {
    const reply = await world.desk('GET', '/desk/deliveries?from=2000-01-01T00:00:00Z');
    return (
      (await reply.json()) as {
        deliveries: { withdrawn_at: string | null; headline: string; summary: string }[];
      }
    ).deliveries;
  };
  return { world, wake, client, log, look, rows };
}

it('[W27] a question that nobody answered in time is taken back, so that nobody approves what will not run', async () => {
  const { world, wake, look, rows } = await open();
  const { deliveryId } = await look();
  await world.tick(61 * SECOND);
  expect(await look()).toMatchObject({
    kind: 'refuse',
    message: expect.stringContaining('Nobody answered in time'),
  });
  expect((await rows())[0]?.withdrawn_at).not.toBeNull();
  expect((await world.decide(deliveryId, { status: 'approved' })).status).toBe(409);
  // Made again, it is still the same question, and still not run.
  expect((await look()).kind).toBe('refuse');
  expect((await review('test', CALL, { wake })).kind).toBe('refuse');
  expect(await rows()).toHaveLength(1);
});

it('[W16] an answer that came after the time was up, but before it was taken back, counts', async () => {
  const { world, look } = await open();
  const { deliveryId } = await look();
  await world.tick(61 * SECOND);
  await world.decide(deliveryId, { status: 'approved', feedback: 'Sorry, I was out.' });
  expect(await look()).toMatchObject({
    kind: 'run',
    args: CALL.args,
    edited: false,
    note: expect.stringContaining('I was out'),
  });
});

it('[W12] an answer is found again long after the server has forgotten the key', async () => {
  const { world, look, rows } = await open();
  const { deliveryId } = await look();
  await world.decide(deliveryId, { status: 'approved' });
  await world.tick(3 * 86_400 * SECOND);
  expect(await look()).toMatchObject({ kind: 'run', deliveryId });
  expect(await rows()).toHaveLength(1);
});

it('[W12] calls that differ in a date alone are two questions', async () => {
  const { look, rows } = await open();
  for (const day of ['2026-03-08', '2026-03-09']) await look({ args: { on: new Date(day) } });
  expect(await rows()).toHaveLength(2);
});

it('[W23] arguments that came back as they were shown are an instruction, also those with a date', async () => {
  const { world, look } = await open();
  const args = { on: new Date('2026-03-08'), note: undefined };
  const { deliveryId } = await look({ args });
  const shown = { tool: 'refund', arguments: { on: '2026-03-08T00:00:00.000Z' } };
  await world.decide(deliveryId, {
    status: 'redirected',
    edited_content: { ...shown, purpose: 'Ask her first.' },
  });
  expect(await look({ args })).toMatchObject({ kind: 'refuse' });
});

it('[W23] arguments that are not JSON are told, and nobody is asked', async () => {
  const { look, rows } = await open();
  const cycle: { own?: unknown } = {};
  cycle.own = cycle;
  for (const args of [{ amount: 40n }, cycle])
    await expect(look({ args })).rejects.toMatchObject({ fault: 'wrong_usage' });
  expect(await rows()).toEqual([]);
});

it('[W23] a question that the server no longer has is asked again', async () => {
  const { client, look, log, rows } = await open();
  const { deliveryId } = await look();
  // As if the server had been set up again: the log names a delivery that it does not know.
  const gone = memoryLog();
  for (const line of log.lines) await gone.append(line.replaceAll(deliveryId, crypto.randomUUID()));
  const wake = client(gone);
  expect(await review('test', CALL, { wake, wait: false, timeoutSeconds: 60 })).toEqual({
    kind: 'pending',
    deliveryId,
  });
  expect(await rows()).toHaveLength(1);
});

it.each([
  ['a text', 'Refund half of it.'],
  ['another tool', { tool: 'close_account', arguments: { order: 'A-17' } }],
  ['no arguments', { tool: 'refund' }],
  ['the same arguments', { tool: 'refund', arguments: { amount: 40, order: 'A-17' } }],
])('[W23] a redirect with %s runs nothing', async (_, edited) => {
  const { world, look } = await open();
  const { deliveryId } = await look();
  await world.decide(deliveryId, {
    status: 'redirected',
    feedback: 'Not like that.',
    edited_content: edited,
  });
  expect(await look()).toMatchObject({ kind: 'refuse', message: expect.stringContaining('Not like that.') });
});

it('[W23] an approval with edited arguments runs the edited ones, never the original', async () => {
  const { world, look } = await open();
  const { deliveryId } = await look();
  const args = { order: 'A-17', amount: 20 };
  await world.decide(deliveryId, {
    status: 'approved',
    edited_content: { tool: 'refund', arguments: args },
  });
  expect(await look()).toMatchObject({ kind: 'run', args, edited: true });
});

it('[W9] whatever a model puts into names and arguments makes a headline and summary that the server takes', async () => {
  const { look, rows } = await open();
  const nasty = `line\nbreak\u202e\u0007\u2028${'😀'.repeat(400)}`;
  await look({ tool: nasty, args: { [nasty]: nasty } });
  const [row] = await rows();
  expect([...(row?.headline ?? '')].length).toBeLessThanOrEqual(120);
  expect([...(row?.summary ?? '')].length).toBeLessThanOrEqual(280);
});

it('[W13] a refusal of the server is thrown, and nothing runs', async () => {
  const { look, rows } = await open();
  const secret = ['ghp', 'aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789'].join('_');
  await expect(look({ args: { token: secret } })).rejects.toMatchObject({ fault: 'refused' });
  expect(await rows()).toEqual([]);
});

it('[W13] of calls that are held together one that is refused ends the wait for the others', async () => {
  const { world, rows } = await open();
  let waits: () => void = () => undefined;
  const waiting = new Promise<void>((resolve) => {
    waits = resolve;
  });
  let left = 0;
  const held: typeof fetch = async (input, init) => {
    if (!String(input).includes('/response/')) {
      // Refused when the other one is already waited for.
      if (String(init?.body).includes('ghp_')) await waiting;
      return fetch(input, init);
    }
    return new Promise((_, reject) => {
      waits();
      init?.signal?.addEventListener('abort', () => {
        left += 1;
        reject(init.signal?.reason);
      });
    });
  };
  const wake = createWake({ url: world.url, apiKey: world.agent.key, log: memoryLog(), fetch: held });
  const secret = ['ghp', 'aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789'].join('_');
  const call = (id: string, input: object) => [
    { type: 'tool-call' as const, toolCallId: id, toolName: 'refund', input },
    { type: 'tool-approval-request' as const, toolCallId: id, approvalId: `approval-${id}` },
  ];
  const content = [...call('c1', CALL.args), ...call('c2', { token: secret })];
  const answering = answerApprovals([{ role: 'assistant', content }], { wake });
  await expect(answering).rejects.toMatchObject({ fault: 'refused' });
  expect(left).toBe(1);
  expect(await rows()).toHaveLength(1);
});

it('[W23] a Mastra 1 tool is called as that version calls it, and refuses a call without an id', async () => {
  const { world, wake } = await open();
  const entered: unknown[] = [];
  const tool = { id: 'refund', execute: async (...given: unknown[]) => void entered.push(given) };
  const held = overseen(tool, { wake, wait: false });
  const about = { agent: { toolCallId: 'c1' } };
  const first = (await held.execute(CALL.args, about)) as unknown as { status: string; deliveryId: string };
  expect(first.status).toBe('pending');
  await world.decide(first.deliveryId, { status: 'approved' });
  await held.execute(CALL.args, about);
  expect(entered).toEqual([[CALL.args, about]]);
  await expect(held.execute(CALL.args, {})).rejects.toMatchObject({ fault: 'wrong_usage' });
  expect(entered).toHaveLength(1);
});
