import { readFileSync } from 'node:fs';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { aLaptop, anAgent, TestCaller, useWorld, v03Message } from '../../../testing/a2a/a2a.ts';
import { type HubFrame, Laptop } from '../../../testing/a2a/laptop.ts';
import { HUB_FRAMES } from './frames.ts';

const world = useWorld({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });

type Kind = keyof typeof HUB_FRAMES;
type Listed = { properties: Record<string, unknown>; required?: readonly string[] };

const listed = (type: string) => HUB_FRAMES[type as Kind] as unknown as Listed;

/** Every kind of frame that is about a task, as the hub really sends it. */
async function everyTaskFrame(): Promise<HubFrame[]> {
  const agent = await anAgent(world());
  const caller = new TestCaller(world(), agent);
  const laptop = await aLaptop(world(), agent);
  const sent = await caller.call('message/send', {
    ...v03Message('Deploy it'),
    configuration: { blocking: false },
  });
  const { id: taskId } = sent.result;
  const seen = [JSON.parse(laptop.texts[0] ?? '{}') as HubFrame, await laptop.ofType('task')];
  seen.push(await laptop.say({ type: 'input_required', taskId, text: 'May I?' }));
  const { deliveries } = (await (await world().desk('GET', '/desk/deliveries')).json()) as {
    deliveries: { delivery_id: string; task_id: string }[];
  };
  const question = deliveries.find((row) => row.task_id === taskId)?.delivery_id ?? '';
  await world().decide(question, { status: 'approved', feedback: 'Go', edited_content: { to: 'staging' } });
  seen.push(await laptop.ofType('decision'));
  await caller.call('message/send', {
    ...v03Message('Hurry', { taskId }),
    configuration: { blocking: false },
  });
  seen.push(await laptop.ofType('message'));
  seen.push(await laptop.say({ type: 'completed' }));
  await caller.call('tasks/cancel', { id: taskId });
  return [...seen, await laptop.ofType('cancel')];
}

test('[A13] real frames have exactly the members that are listed', async () => {
  const frames = await everyTaskFrame();
  const kinds = ['hello', 'task', 'ack', 'decision', 'message', 'error', 'cancel'];
  expect(frames.map(({ type }) => type)).toEqual(kinds);
  for (const frame of frames) {
    const { properties, required = [] } = listed(frame.type);
    const names = Object.keys(frame);
    expect([frame.type, names.filter((name) => !(name in properties))]).toEqual([frame.type, []]);
    expect([frame.type, required.filter((name) => !names.includes(name))]).toEqual([frame.type, []]);
    expect([...Compile(HUB_FRAMES[frame.type as Kind]).Errors(frame)]).toEqual([]);
  }
  const decision = frames.find(({ type }) => type === 'decision') ?? {};
  // Nothing optional is missing either: the task had words before it.
  expect(Object.keys(decision).sort()).toEqual(Object.keys(listed('decision').properties).sort());
});

test('[A13] an event frame has exactly the members that are listed', async () => {
  const agent = await anAgent(world());
  const laptop = await Laptop.connect(world().url, agent.key, { query: '?events=1' });
  const id = await world().deliver({ agent_id: agent.agent.id }, agent.key);
  await world().decide(id, { status: 'approved' });
  const event = await laptop.ofType('event');
  expect(Object.keys(event).sort()).toEqual(Object.keys(listed('event').properties).sort());
  await laptop.close();
});

test('[A13] the table in the specification names the same members', () => {
  const spec = readFileSync(new URL('../../../../../../spec/a2a.md', import.meta.url), 'utf8');
  const rows = [...spec.matchAll(/^\| (?:hub|both) +\| `(\w+)` +\| (.*?) +\| \w+ +\|$/gm)];
  expect(rows.map(([, type]) => type).sort()).toEqual(Object.keys(HUB_FRAMES).sort());
  for (const [, type = '', cell = ''] of rows) {
    // "the same" as the row above, and the members of K21, are told in words.
    if (type === 'message' || type === 'resume') continue;
    const named = [...(cell.split(';')[0] ?? '').matchAll(/`(\w+)(\?)?`/g)];
    const { properties, required = [] } = listed(type);
    const members = Object.keys(properties).filter((name) => name !== 'type');
    expect([type, named.map(([, name]) => name).sort()]).toEqual([type, members.sort()]);
    const optional = named.filter(([, , mark]) => mark !== undefined).map(([, name]) => name);
    expect([type, optional]).toEqual([type, members.filter((name) => !required.includes(name))]);
  }
});
