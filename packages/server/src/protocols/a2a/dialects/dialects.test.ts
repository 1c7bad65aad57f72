import { describe, expect, test } from 'vitest';
import {
  aLaptop,
  anAgent,
  fresh,
  seedMessage,
  TestCaller,
  useWorld,
  v1Message,
  v03Message,
  type Wire,
} from '../../../testing/a2a/a2a.ts';
import { scripted } from '../../../testing/a2a/scripted-agent.ts';

const world = useWorld();

async function callers() {
  const agent = await anAgent(world());
  return {
    agent,
    any: new TestCaller(world(), agent),
    v1: new TestCaller(world(), agent, { version: '1.0' }),
    v03: new TestCaller(world(), agent, { version: '0.3' }),
  };
}

describe('which dialect', () => {
  test.each(['2.0', '0.2', '1', 'abc', '1.1', '0.3.x'])('[A4] version %s is not served', async (version) => {
    const { agent } = await callers();
    const reply = await new TestCaller(world(), agent).call(
      'GetTask',
      { id: 'x' },
      { 'a2a-version': version },
    );
    expect(reply.error.code).toBe(-32009);
    expect(reply.error.message).toContain('0.3 or 1.0');
  });

  test('[A4] the version may be a query parameter, and a patch number says nothing', async () => {
    const { agent, any } = await callers();
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: v1Message('x') };
    const byQuery = await world().post(`${any.path}/?A2A-Version=1.0`, body, agent.key);
    expect(await byQuery.json()).toHaveProperty('result.task');
    expect(await any.call('SendMessage', v1Message('x'), { 'a2a-version': '1.0.1' })).toHaveProperty(
      'result.task',
    );
  });

  test('[A4] 1.0 has PascalCase methods and the others slashes; the wrong one gets a hint', async () => {
    const { any, v1, v03 } = await callers();
    const old = await v1.call('message/send', v1Message('x'));
    expect(old.error).toMatchObject({ code: -32601, message: expect.stringContaining('SendMessage') });
    for (const caller of [any, v03]) {
      const fresh = await caller.call('SendMessage', v1Message('x'));
      expect(fresh.error).toMatchObject({
        code: -32601,
        message: expect.stringContaining('A2A-Version: 1.0'),
      });
    }
    expect((await any.call('tasks/paint', {})).error.code).toBe(-32601);
    expect((await any.call('constructor', {})).error.code).toBe(-32601);
  });

  test('[A4] explicit 0.3 is strict: a part without kind is refused', async () => {
    const { v03 } = await callers();
    const reply = await v03.call('message/send', seedMessage('x'));
    expect(reply.error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('message.parts[0].kind'),
    });
  });

  test('[A4] a part with type is the seed; its answers carry both type and kind', async () => {
    const { any } = await callers();
    const { result } = await any.call('message/send', seedMessage('x'));
    const [message] = result.history as { parts: Wire[] }[];
    expect(message?.parts).toEqual([{ kind: 'text', type: 'text', text: 'x' }]);
    const read = await any.call('tasks/get', { id: result.id });
    expect((read.result.history as { parts: Wire[] }[])[0]?.parts[0]).toHaveProperty('type', 'text');
  });

  test('[A4] without parts a call is answered as its task was opened, unless it names a version', async () => {
    const { any, v1, v03 } = await callers();
    const { result } = await any.call('message/send', v03Message('x'));
    const parts = async (caller: TestCaller, method: string) => {
      const reply = await caller.call(method, { id: result.id });
      return (reply.result.history as { parts: Wire[] }[])[0]?.parts[0];
    };
    expect(await parts(any, 'tasks/get')).toEqual({ kind: 'text', text: 'x' });
    expect(await parts(v03, 'tasks/get')).toEqual({ kind: 'text', text: 'x' });
    expect(await parts(v1, 'GetTask')).toEqual({ text: 'x' });
  });

  test('[A4] 1.0 also reads snake_case', async () => {
    const { v1 } = await callers();
    const message = {
      message_id: fresh(),
      role: 'ROLE_USER',
      parts: [{ text: 'x', media_type: 'text/markdown' }],
    };
    const configuration = { return_immediately: true, history_length: 1 };
    const { result } = await v1.call('SendMessage', { message, configuration });
    const task = result.task as Wire & { id: string; history: { parts: Wire[] }[] };
    expect(task.history[0]?.parts).toEqual([{ text: 'x', mediaType: 'text/markdown' }]);
    const listed = await v1.call('ListTasks', { page_size: 1, include_artifacts: true });
    expect(listed.result.tasks).toEqual([expect.objectContaining({ id: task.id, artifacts: [] })]);
  });
});

describe('mappings', () => {
  const PARTS_V1 = [
    { text: '# Hi', mediaType: 'text/markdown' },
    { data: { a: [1, { b: null }] } },
    { raw: 'aGVsbG8=', mediaType: 'image/png', filename: 'a.png' },
    { url: 'https://example.com/a.pdf', mediaType: 'application/pdf' },
  ];
  const PARTS_V03 = [
    { kind: 'text', text: '# Hi', metadata: { mediaType: 'text/markdown' } },
    { kind: 'data', data: { a: [1, { b: null }] } },
    { kind: 'file', file: { bytes: 'aGVsbG8=', mimeType: 'image/png', name: 'a.png' } },
    { kind: 'file', file: { uri: 'https://example.com/a.pdf', mimeType: 'application/pdf' } },
  ];

  test('[A5] a message sent in one dialect is read in the others, whole', async () => {
    const { v1, v03 } = await callers();
    const sent = await v1.call('SendMessage', v1Message('', { parts: PARTS_V1, metadata: { trace: 7 } }));
    const { id } = sent.result.task as { id: string };
    const old = await v03.call('tasks/get', { id });
    expect(old.result.history).toMatchObject([{ role: 'user', parts: PARTS_V03, metadata: { trace: 7 } }]);
    const back = await v03.call('message/send', v03Message('', { parts: PARTS_V03 }));
    const fresh = await v1.call('GetTask', { id: back.result.id });
    expect((fresh.result.history as { parts: Wire[] }[])[0]?.parts).toMatchObject(PARTS_V1);
  });

  const SPELLINGS = [
    ['ask', 'TASK_STATE_INPUT_REQUIRED', 'input-required', 'input_required'],
    ['fail', 'TASK_STATE_FAILED', 'failed', 'failed'],
    ['reject', 'TASK_STATE_REJECTED', 'rejected', 'rejected'],
    ['done', 'TASK_STATE_COMPLETED', 'completed', 'completed'],
  ] as const;

  test.each(SPELLINGS)('[A12] the state after "%s" is %s, %s and %s', async (word, one, three, seed) => {
    const { agent, any, v1, v03 } = await callers();
    await aLaptop(world(), agent, scripted);
    const { result } = await any.call('message/send', seedMessage(word));
    expect(result.status.state).toBe(seed);
    expect((await v1.call('GetTask', { id: result.id })).result.status.state).toBe(one);
    expect((await v03.call('tasks/get', { id: result.id })).result.status.state).toBe(three);
  });

  test('[A12] submitted, working, canceled and auth_required are there too', async () => {
    const { agent, any } = await callers();
    const laptop = await aLaptop(world(), agent);
    const sent = await any.call('message/send', { ...seedMessage('x'), configuration: { blocking: false } });
    const { id } = sent.result;
    const state = async () => (await any.call('tasks/get', { id })).result.status.state;
    expect(await state()).toBe('submitted');
    await laptop.say({ type: 'accepted', taskId: id });
    expect(await state()).toBe('working');
    await laptop.say({ type: 'auth_required', taskId: id, text: 'Log in first.' });
    expect(await state()).toBe('auth_required');
    await any.call('tasks/cancel', { id });
    expect(await state()).toBe('canceled');
  });
});

describe('the seed, verbatim', () => {
  const SEND = `{
  "jsonrpc": "2.0",
  "id": "req-1",
  "method": "message/send",
  "params": {
    "message": {
      "messageId": "msg-001",
      "role": "user",
      "parts": [
        {
          "type": "text",
          "text": "Review the latest deployment"
        }
      ]
    }
  }
}`;

  test('[A4][A6] its send and get work as they are written', async () => {
    const { any } = await callers();
    const sent = (await (await any.post(SEND)).json()) as {
      id: string;
      result: { id: string; status: Wire };
    };
    expect(sent).toMatchObject({ id: 'req-1', result: { status: { state: 'submitted' } } });
    const GET = `{
  "jsonrpc": "2.0",
  "id": "req-2",
  "method": "tasks/get",
  "params": {
    "id": "${sent.result.id}"
  }
}`;
    expect(await (await any.post(GET)).json()).toMatchObject({ id: 'req-2', result: { id: sent.result.id } });
    const unknown = GET.replace(sent.result.id, 'task-abc123');
    expect(await (await any.post(unknown)).json()).toMatchObject({ id: 'req-2', error: { code: -32001 } });
  });

  test('[A4][A5] its artifact is taken in and given back as it is written', async () => {
    const { agent, any } = await callers();
    const laptop = await aLaptop(world(), agent);
    const sent = await any.call('message/send', { ...seedMessage('x'), configuration: { blocking: false } });
    const artifact = {
      artifactId: 'art-001',
      name: 'deployment-report.md',
      description: 'Summary of deployment status',
      parts: [
        {
          type: 'text',
          text: '## Deployment Report\n\nAll checks passed...',
          metadata: { mediaType: 'text/markdown' },
        },
      ],
    };
    await laptop.say({ type: 'artifact', taskId: sent.result.id, artifact });
    const { result } = await any.call('tasks/get', { id: sent.result.id });
    expect(result.artifacts).toMatchObject([artifact]);
  });
});
