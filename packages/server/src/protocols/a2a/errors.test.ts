import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { fresh, TestCaller, v1Message } from '../../testing/a2a/a2a.ts';
import { Laptop } from '../../testing/a2a/laptop.ts';
import { captureLog } from '../../testing/log.ts';
import { World } from '../../testing/world.ts';

const CANARY = 'canary-7f3a';

/** A task whose words do not open any more: something that nobody foresaw. */
async function brokenTask(damage: Uint8Array | string) {
  const log = captureLog();
  const world = await World.open({ env: { LANTERNROOM_LOG: 'warn' } });
  onTestFinished(() => world.stop());
  const caller = new TestCaller(world, world.agent, { version: '1.0' });
  const sent = await caller.call('SendMessage', v1Message(CANARY));
  const { id } = sent.result.task as { id: string };
  if (typeof damage === 'string') await world.sql(damage);
  else await world.sql('update task_log set body = ?', damage);
  await world.restart();
  // Restarted, it listens elsewhere.
  return { log, world, id, caller: new TestCaller(world, world.agent, { version: '1.0' }) };
}

const steady = performance.now.bind(performance);
let later = 0;

/** One line a second is written about a store that is away, whoever asks: every test is a minute after the one before. */
beforeEach(() => {
  later += 60_000;
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => steady() + later);
  return () => spy.mockRestore();
});

const DOORS = {
  'JSON-RPC': async (caller: TestCaller, id: string) => (await caller.call('GetTask', { id })).error.message,
  'HTTP+JSON': async (caller: TestCaller, id: string) =>
    ((await (await caller.rest('GET', `/tasks/${id}`)).json()) as { error: { message: string } }).error
      .message,
};

test.each(Object.entries(DOORS))(
  '[A11] %s: an internal error is logged once, with the cause and the id of the request, and without content',
  async (_, ask) => {
    const { log, caller, id } = await brokenTask(Buffer.from([0]));
    expect(await ask(caller, id)).toMatch(/^Internal error/);
    const lines = log().filter(({ level }) => Number(level) >= 50);
    expect(lines).toMatchObject([
      { msg: 'unexpected error', reqId: expect.stringMatching(/./), err: { stack: expect.any(String) } },
    ]);
    expect(JSON.stringify(lines)).not.toContain(CANARY);
    expect(JSON.stringify(lines)).not.toContain('wk_test_');
  },
);

test.each(Object.entries(DOORS))(
  '[A11] %s: so is the cause of what is told as "unavailable"',
  async (_, ask) => {
    const { log, caller, id, world } = await brokenTask('select 1');
    const other = await caller.call('SendMessage', v1Message('another', { messageId: fresh() }));
    const { id: moved } = other.result.task as { id: string };
    // A sealed record in another's row is damage like any other.
    await world.sql(
      `update task_log set body = (select body from task_log l join tasks t on t.seq = l.task_seq where t.task_id = '${moved}' and l.pos = 1) where task_seq = (select seq from tasks where task_id = '${id}')`,
    );
    expect(await ask(caller, id)).not.toMatch(/^Internal error/);
    const lines = log().filter(({ level }) => Number(level) >= 50);
    expect(lines).toMatchObject([{ reqId: expect.stringMatching(/./), err: { stack: expect.any(String) } }]);
    expect(JSON.stringify(lines)).not.toContain(CANARY);
  },
);

test('[A13] a frame that could not be kept is told to the laptop, and its cause to the log', async () => {
  const { log, world, id } = await brokenTask('select 1');
  const laptop = await Laptop.connect(world.url, world.agent.key);
  onTestFinished(() => laptop.vanish());
  await world.sql('update task_log set body = ?', Buffer.from([0]));
  const frame = { type: 'input_required', taskId: id, text: CANARY };
  expect(await laptop.say(frame)).toMatchObject({ type: 'error', code: 'unavailable' });
  const lines = log().filter(({ msg }) => msg === 'a frame could not be kept');
  expect(lines).toHaveLength(1);
  expect(JSON.stringify(lines)).not.toContain(CANARY);
});
