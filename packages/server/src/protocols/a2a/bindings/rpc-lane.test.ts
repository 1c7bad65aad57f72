import { expect, test } from 'vitest';
import {
  aLaptop,
  anAgent,
  changeCard,
  TestCaller,
  useWorld,
  v1Message,
  v03Message,
} from '../../../testing/a2a/a2a.ts';

const world = useWorld();

/** A spelling of the same type that only the long way knows. */
const LONG = { 'content-type': 'application/json;charset=UTF-8' };
const ID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g;
const TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;
const UNLIKE = ['date', 'content-length', 'connection', 'keep-alive'];

async function told(reply: Response): Promise<string> {
  const shown = [...reply.headers].filter(([name]) => !UNLIKE.includes(name));
  const text = `${reply.status} ${JSON.stringify(shown)} ${await reply.text()}`;
  return text.replace(ID, 'ID').replace(TIME, 'AT');
}

const rpc = (method: string, params: unknown, id: unknown = 'call-1') => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
const at = (messageId: string) => ({ messageId });

type Case = [string, '1.0' | '0.3' | undefined, unknown, Record<string, string>?];

const CASES: Case[] = [
  ['a message', '1.0', rpc('SendMessage', v1Message('hello', at('lane-1')))],
  ['the same again', '1.0', rpc('SendMessage', v1Message('hello', at('lane-1')))],
  ['another with its id', '1.0', rpc('SendMessage', v1Message('other', at('lane-1')))],
  ['a message of 0.3', '0.3', rpc('message/send', v03Message('hello', at('lane-2')))],
  ['a message without a version', undefined, rpc('message/send', v03Message('hello', at('lane-3')))],
  [
    'a message with a key',
    '1.0',
    rpc('SendMessage', v1Message('x', at('lane-4'))),
    { 'idempotency-key': 'k' },
  ],
  ['a message without parts', '1.0', rpc('SendMessage', v1Message('x', { parts: [] }))],
  ['a message for no task', '1.0', rpc('SendMessage', v1Message('x', { taskId: 'nowhere' }))],
  ['a task that is not there', '1.0', rpc('GetTask', { id: 'nowhere' })],
  ['no task id', '0.3', rpc('tasks/get', {}, 7)],
  ['a method of the other version', '1.0', rpc('message/send', {})],
  ['a list', '1.0', rpc('ListTasks', { pageSize: 1, statusTimestampAfter: '2999-01-01T00:00:00Z' })],
  ['an unknown version', '1.0', rpc('GetTask', { id: 'x' }), { 'a2a-version': '9.9' }],
  ['no credential', '1.0', rpc('GetTask', { id: 'x' }), { authorization: '' }],
  ['a wrong credential', '1.0', rpc('GetTask', { id: 'x' }), { authorization: 'Bearer wk_test_nobody' }],
  ['a batch', '1.0', [rpc('GetTask', { id: 'x' })]],
  ['no JSON', '1.0', '{"jsonrpc":'],
  ['the same key twice', '1.0', '{"id":1,"id":2}'],
];

test.each(CASES)(
  '[A1] %s is answered alike in front of the framework and by it',
  async (_, version, body, more = {}) => {
    const ask = async (type: Record<string, string>) => {
      // An agent each: what one way has stored must not be a repeat for the other.
      const agent = await anAgent(world());
      const caller = new TestCaller(world(), agent, version === undefined ? {} : { version });
      if (_.endsWith('again') || _.endsWith('its id'))
        await caller.post(rpc('SendMessage', v1Message('hello', at('lane-1'))), type);
      const text = await told(await caller.post(body, { ...type, ...more }));
      return text.replaceAll(agent.agent.id, 'AGENT');
    };
    expect(await ask({})).toBe(await ask(LONG));
  },
);

test('[A10] a stream that was first looked at in front of the framework is served by it', async () => {
  const agent = await anAgent(world());
  const caller = new TestCaller(world(), agent, { version: '1.0' });
  const laptop = await aLaptop(world(), agent);
  const reply = await caller.stream('SendStreamingMessage', v1Message('hello'));
  const { taskId } = await laptop.ofType('task');
  await laptop.say({ type: 'completed', taskId });
  expect(reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
  expect(await reply.text()).toContain('TASK_STATE_COMPLETED');
});

test('[A9] a task that is asked for again shows what has happened since, in each dialect', async () => {
  const agent = await anAgent(world());
  await changeCard(world(), agent, { waitSeconds: 0 });
  const laptop = await aLaptop(world(), agent);
  const v1 = new TestCaller(world(), agent, { version: '1.0' });
  const v03 = new TestCaller(world(), agent, { version: '0.3' });
  const { task } = (await v1.call('SendMessage', v1Message('hello'))).result as unknown as {
    task: { id: string };
  };
  const states = async () => {
    const new_ = (await v1.call('GetTask', { id: task.id })).result;
    const old = (await v03.call('tasks/get', { id: task.id })).result;
    return [new_.status.state, old.status.state, new_.artifacts];
  };
  expect(await states()).toEqual(['TASK_STATE_SUBMITTED', 'submitted', undefined]);
  expect(await states()).toEqual(['TASK_STATE_SUBMITTED', 'submitted', undefined]);
  await laptop.say({ type: 'accepted', taskId: task.id });
  expect(await states()).toEqual(['TASK_STATE_WORKING', 'working', undefined]);
  const artifact = { artifactId: 'a', parts: [{ text: 'x' }] };
  await laptop.say({ type: 'artifact', taskId: task.id, artifact });
  await laptop.say({ type: 'completed', taskId: task.id });
  expect(await states()).toEqual(['TASK_STATE_COMPLETED', 'completed', [artifact]]);
});
