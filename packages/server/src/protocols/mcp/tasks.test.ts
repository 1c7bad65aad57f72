import {
  hasTaskServerCapabilityV2,
  isCreateTaskResultV2,
  isDetailedTaskV2,
} from '@modelcontextprotocol/ext-tasks/core/v2';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { World } from '../../testing/world.ts';

const REVISION = '2026-07-28';
const QUESTION = {
  type: 'question',
  headline: 'Release 2.1 is ready',
  summary: 'Ship it today?',
  ask_now: true,
};

let world: World;
beforeEach(async () => {
  world = await World.open({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
});
afterEach(() => world.stop());

type Facts = Record<string, unknown>;
type Reply = { result?: Facts; error?: { code: number; message: string } };

/** One request as the newer era frames it, without a client that would hide the wire. */
async function ask(method: string, params: Facts, extensions: Facts, key = world.agent.key): Promise<Reply> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': REVISION,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { extensions },
  };
  const name = params.name ?? params.taskId;
  const reply = await world.post(
    '/mcp',
    { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } },
    key,
    {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': String(name) }),
    },
  );
  return (await reply.json()) as Reply;
}

const TASKS = { 'io.modelcontextprotocol/tasks': {} };
const deliver = { name: 'wake_deliver', arguments: QUESTION };

it('[M12] a question that is to be waited for is a task, and its end is the answer', async () => {
  const { result: discovered } = await ask('server/discover', {}, TASKS);
  expect(hasTaskServerCapabilityV2(discovered?.capabilities)).toBe(true);
  const { result: task } = await ask('tools/call', deliver, TASKS);
  expect(isCreateTaskResultV2(task), JSON.stringify(task)).toBe(true);
  const taskId = String(task?.taskId);
  const { result: working } = await ask('tasks/get', { taskId }, TASKS);
  expect([isDetailedTaskV2(working), working?.status]).toEqual([true, 'working']);
  await world.decide(taskId, { status: 'rejected', feedback: 'Not today.' });
  const { result: ended } = await ask('tasks/get', { taskId }, TASKS);
  expect([isDetailedTaskV2(ended), ended?.status], JSON.stringify(ended)).toEqual([true, 'completed']);
  expect(ended?.result).toMatchObject({
    structuredContent: { status: 'rejected', may_proceed: false, feedback: 'Not today.' },
  });
});

it('[M12] cancelling it takes the question back; nothing that a client sends answers it', async () => {
  const taskId = String((await ask('tools/call', deliver, TASKS)).result?.taskId);
  const inputResponses = { desk: { action: 'accept', content: { status: 'approved' } } };
  await ask('tasks/update', { taskId, inputResponses }, TASKS);
  expect((await ask('tasks/get', { taskId }, TASKS)).result?.status).toBe('working');
  expect((await ask('tasks/cancel', { taskId }, TASKS)).error).toBeUndefined();
  const { result } = await ask('tasks/get', { taskId }, TASKS);
  expect(result?.result).toMatchObject({ structuredContent: { status: 'rejected', may_proceed: false } });
});

it('[M12] without the extension it is an ordinary result', async () => {
  const { result } = await ask('tools/call', deliver, {});
  expect(result).toMatchObject({ structuredContent: { status: 'received' } });
});

it.each(['tasks/get', 'tasks/update', 'tasks/cancel'])(
  '[M12] %s answers for a foreign task as for an unknown one',
  async (method) => {
    const taskId = String((await ask('tools/call', deliver, TASKS)).result?.taskId);
    const { key } = await world.addAgent({ id: `other-${method.replace('/', '-')}` });
    const foreign = await ask(method, { taskId }, TASKS, key);
    const unknown = await ask(method, { taskId: '00000000-0000-4000-8000-000000000000' }, TASKS, key);
    expect(foreign.error).toEqual(unknown.error);
    expect(foreign.error?.code).toBe(-32602);
  },
);
