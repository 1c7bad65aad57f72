import { describe, expect, onTestFinished, test } from 'vitest';
import type { Tier } from '../../../core/agents/key.ts';
import {
  aLaptop,
  anAgent,
  fresh,
  TestCaller,
  useWorld,
  v03Message,
  type Wire,
} from '../../../testing/a2a/a2a.ts';
import { Laptop } from '../../../testing/a2a/laptop.ts';
import { ManualClock, World } from '../../../testing/world.ts';

const world = useWorld({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });

async function stage(on: World = world(), tier: Tier = 'test') {
  const agent = on === world() ? await on.addAgent({ id: fresh('agent'), tier }) : on.agent;
  const caller = new TestCaller(on, agent);
  const laptop = on === world() ? await aLaptop(on, agent) : await Laptop.connect(on.url, agent.key);
  const sent = await caller.call('message/send', {
    ...v03Message('Deploy it'),
    configuration: { blocking: false },
  });
  const { id, contextId } = sent.result;
  return { agent, caller, laptop, id, contextId };
}

type Row = Wire & { delivery_id: string; task_id: string; state: string; headline: string };

async function deskItems(taskId: string, on: World = world()): Promise<Row[]> {
  const reply = await on.desk('GET', '/desk/deliveries?limit=200');
  const { items, deliveries } = (await reply.json()) as { items?: Row[]; deliveries?: Row[] };
  return (items ?? deliveries ?? []).filter((row) => row.task_id === taskId);
}

async function deskItem(taskId: string, on: World = world()): Promise<Row> {
  const [row] = await deskItems(taskId, on);
  if (row === undefined) throw new Error('nothing on the desk');
  return row;
}

const stateOf = async (caller: TestCaller, id: string) =>
  (await caller.call('tasks/get', { id })).result.status.state;

describe('a question for a person', () => {
  test.each(['input_required', 'auth_required'])(
    '[A17] %s is on the desk, with words and artifacts',
    async (type) => {
      const { laptop, caller, id, contextId } = await stage();
      const artifact = { artifactId: 'plan', name: 'plan.md', parts: [{ text: '# Plan' }] };
      await laptop.say({ type: 'artifact', taskId: id, artifact });
      await laptop.say({ type, taskId: id, text: 'May I deploy to production?' });
      expect(await stateOf(caller, id)).toBe(type.replace('_', '-'));
      const row = await deskItem(id);
      expect(row).toMatchObject({
        type: 'question',
        headline: 'May I deploy to production?',
        thread_id: contextId,
      });
      const detail = await (await world().desk('GET', `/desk/deliveries/${row.delivery_id}`)).text();
      expect(detail).toContain('# Plan');
    },
  );

  test.each(['test', 'live'] as const)(
    '[A17] from a laptop with a %s key it is shown as that',
    async (tier) => {
      const { laptop, id } = await stage(world(), tier);
      await laptop.say({ type: 'input_required', taskId: id, text: 'May I?' });
      expect(await deskItem(id)).toMatchObject({ tier });
    },
  );

  const VERDICTS = [
    ['approved', 'Go ahead'],
    ['rejected', 'Too risky'],
    ['redirected', 'Deploy to staging'],
  ] as const;

  test.each(VERDICTS)(
    '[A17] %s: the task goes on with a message that carries the decision',
    async (status, feedback) => {
      const { laptop, caller, id } = await stage();
      await laptop.say({ type: 'input_required', taskId: id, text: 'May I?' });
      const { delivery_id: deliveryId } = await deskItem(id);
      expect((await world().decide(deliveryId, { status, feedback })).status).toBe(200);
      const frame = await laptop.ofType('decision');
      expect(frame).toMatchObject({
        taskId: id,
        deliveryId,
        decision: { status, feedback, edited_content: null },
        message: { role: 'ROLE_USER' },
      });
      const { result } = await caller.call('tasks/get', { id });
      expect(result.status.state).toBe('working');
      const [message] = (result.history as { role: string; parts: Wire[] }[]).slice(-1);
      expect(message).toMatchObject({
        role: 'user',
        parts: [
          { kind: 'text', text: expect.stringContaining(feedback) },
          { kind: 'data', data: { delivery_id: deliveryId, status, feedback, edited_content: null } },
        ],
      });
      await laptop.say({ type: 'completed', taskId: id, text: 'Deployed.' });
      expect(await stateOf(caller, id)).toBe('completed');
    },
  );

  test('[A17] edited content goes with the approval, and the agent hears of it by WAKE and AKEP as well', async () => {
    const { agent, laptop, id } = await stage();
    await laptop.say({ type: 'input_required', taskId: id, text: 'May I?' });
    const { delivery_id: deliveryId } = await deskItem(id);
    const edited = { version: '1.2.4' };
    await world().decide(deliveryId, { status: 'approved', edited_content: edited });
    const heard = await laptop.ofType('decision');
    expect(heard.decision).toEqual({ status: 'approved', feedback: null, edited_content: edited });
    expect(heard.message).toMatchObject({ parts: [{ text: 'Approved by a person, with changes' }, {}] });
    const polled = await world().get(`/wake/v1/response/${deliveryId}`, agent.key);
    expect(await polled.json()).toMatchObject({ status: 'approved', edited_content: edited });
    const inbox = (await (await world().get('/akep/events', agent.key)).json()) as {
      events: { subject: Wire; event_type: string }[];
    };
    expect(inbox.events).toMatchObject([{ event_type: 'human.approved', subject: { task_id: id } }]);
  });

  test('[D59][A17] numbers that the person edited keep their digits, for the agent and for the caller', async () => {
    const EDITED = '{"account":90071992547409931235,"rate":1.100,"list":[10000000000000000000001]}';
    const { agent, caller, laptop, id } = await stage();
    const decide = async (edited: string) => {
      await laptop.say({ type: 'input_required', taskId: id, text: 'May I?' });
      const { delivery_id } = (await deskItems(id)).find(({ state }) => state === 'pending') as Row;
      const at = `/desk/deliveries/${delivery_id}`;
      const { content_sha256 } = (await (await world().desk('GET', at)).json()) as Wire;
      const answer = `{"status":"approved","content_sha256":"${content_sha256}","edited_content":${edited}}`;
      const reply = await fetch(`${world().url}${at}/decision`, {
        method: 'POST',
        headers: { authorization: `Bearer ${world().token}`, 'content-type': 'application/json' },
        body: answer,
      });
      expect(reply.status).toBe(200);
      await laptop.ofType('decision');
      return laptop.texts.at(-1) ?? '';
    };
    const first = await decide(EDITED);
    expect(first.split(`"edited_content":${EDITED}`)).toHaveLength(3);
    const message = JSON.parse(first) as { decision: Wire; message: { parts: { data?: Wire }[] } };
    expect(message.message.parts[1]?.data).toMatchObject(message.decision);
    const second = await decide('{"n":1.0}');
    expect(second.split('"edited_content":{"n":1.0}')).toHaveLength(3);
    expect(second).toContain(`"edited_content":${EDITED}`);
    const texts = await Promise.all([
      caller.post({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id } }),
      new TestCaller(world(), agent, { version: '1.0' }).rest('GET', `/tasks/${id}?historyLength=9`),
      world().desk('GET', `/desk/tasks/${id}`),
    ]);
    for (const reply of texts) expect(await reply.text()).toContain(`"edited_content":${EDITED}`);
  });

  test("[A17] a caller's own answer resumes the task too, and the desk says that it was answered elsewhere", async () => {
    const { agent, caller, laptop, id } = await stage();
    await laptop.say({ type: 'input_required', taskId: id, text: 'Which one?' });
    const { delivery_id: deliveryId } = await deskItem(id);
    await caller.call('message/send', {
      ...v03Message('The red one', { taskId: id }),
      configuration: { blocking: false },
    });
    expect((await laptop.ofType('message')).message).toMatchObject({ parts: [{ text: 'The red one' }] });
    const detail = (await (await world().desk('GET', `/desk/deliveries/${deliveryId}`)).json()) as Wire;
    expect(detail).toMatchObject({ state: 'withdrawn' });
    const polled = await world().get(`/wake/v1/response/${deliveryId}`, agent.key);
    expect(((await polled.json()) as Wire).feedback).toMatch(/^Answered elsewhere/);
    const late = await world().decide(deliveryId, { status: 'approved' });
    expect([late.status, await late.text()]).toEqual([409, expect.stringContaining('answered elsewhere')]);
  });

  test('[A17] an approval covers that request alone: the next question is another one', async () => {
    const { caller, laptop, id } = await stage();
    await laptop.say({ type: 'input_required', taskId: id, text: 'First?' });
    const first = await deskItem(id);
    await laptop.say({ type: 'input_required', taskId: id, text: 'Second?' });
    const open = (await deskItems(id)).filter(({ state }) => state === 'pending');
    expect(open.map(({ headline }) => headline)).toEqual(['Second?']);
    expect((await world().decide(first.delivery_id, { status: 'approved' })).status).toBe(409);
    expect(await stateOf(caller, id)).toBe('input-required');
    await world().decide(open[0]?.delivery_id ?? '', { status: 'approved' });
    expect(await stateOf(caller, id)).toBe('working');
  });

  test('[A17] canceling a task takes its question from the desk', async () => {
    const { caller, laptop, id } = await stage();
    await laptop.say({ type: 'input_required', taskId: id, text: 'May I?' });
    const { delivery_id: deliveryId } = await deskItem(id);
    await caller.call('tasks/cancel', { id });
    expect((await world().decide(deliveryId, { status: 'approved' })).status).toBe(409);
    expect(await stateOf(caller, id)).toBe('canceled');
  });

  test('[A17] a held decision is invisible until its window ends; then the task goes on, once', async () => {
    const clock = new ManualClock();
    const own = await World.open({ clock, env: { LANTERNROOM_UNDO_SECONDS: '10' } });
    onTestFinished(() => own.stop());
    const { caller, laptop, id } = await stage(own);
    onTestFinished(() => laptop.vanish());
    await laptop.say({ type: 'input_required', taskId: id, text: 'May I?' });
    const { delivery_id: deliveryId } = await deskItem(id, own);
    await own.decide(deliveryId, { status: 'approved' });
    expect(await stateOf(caller, id)).toBe('input-required');
    expect(laptop.frames.filter(({ type }) => type === 'decision')).toEqual([]);
    await own.tick(11_000_000);
    expect(await laptop.ofType('decision')).toMatchObject({ deliveryId });
    expect(await stateOf(caller, id)).toBe('working');
    await own.tick(11_000_000);
    expect(((await caller.call('tasks/get', { id })).result.history as unknown[]).length).toBe(3);
  });

  test('[A17] the answer waits for a laptop that is asleep', async () => {
    const { agent, laptop, id } = await stage();
    await laptop.say({ type: 'input_required', taskId: id, text: 'May I?' });
    await laptop.close();
    await world().decide((await deskItem(id)).delivery_id, { status: 'approved' });
    const back = await aLaptop(world(), agent);
    expect(await back.ofType('decision')).toMatchObject({ taskId: id, decision: { status: 'approved' } });
  });
});

test('[K16] when the id is an A2A task of ours, its state wins over what events say', async () => {
  const { agent, laptop, id } = await stage();
  const read = async (taskId: string) => {
    const reply = await world().get(`/akep/tasks/${taskId}`, agent.key);
    return [reply.status, ((await reply.json()) as Wire).status];
  };
  expect(await read(id)).toEqual([200, 'submitted']);
  await laptop.say({ type: 'input_required', taskId: id, text: 'May I?' });
  await world().decide((await deskItem(id)).delivery_id, { status: 'approved' });
  expect(await read(id)).toEqual([200, 'working']);
  expect((await read(fresh('nobody')))[0]).toBe(404);
  const stranger = await anAgent(world());
  expect((await world().get(`/akep/tasks/${id}`, stranger.key)).status).toBe(404);
});
