import { describe, expect, onTestFinished, test } from 'vitest';
import { readTask } from '../../../core/tasks/reading/read.ts';
import {
  aLaptop,
  anAgent,
  aStage,
  changeCard,
  fresh,
  type RpcAnswer,
  SseReader,
  seedMessage,
  TestCaller,
  useWorld,
  v1Message,
  v03Message,
  type Wire,
} from '../../../testing/a2a/a2a.ts';
import { completing } from '../../../testing/a2a/laptop.ts';
import { scripted } from '../../../testing/a2a/scripted-agent.ts';
import { ManualClock, World } from '../../../testing/world.ts';

const world = useWorld();

const stage = () => aStage(world());

const taskOf = ({ result }: RpcAnswer) =>
  result.task as Wire & { id: string; contextId: string; status: Wire };

describe('sending', () => {
  test('[A6][A14] nobody waits for an agent that is not there: the task is kept, and submitted', async () => {
    const { v03 } = await stage();
    const { result } = await v03.call('message/send', v03Message('hello'));
    expect(result.status.state).toBe('submitted');
    expect((await v03.call('tasks/get', { id: result.id })).result).toEqual(result);
  });

  test('[A6] a call waits for the agent, and is answered as soon as it is done', async () => {
    const { agent, v03 } = await stage();
    const laptop = await aLaptop(world(), agent);
    const sent = v03.call('message/send', v03Message('hello'));
    const { taskId } = await laptop.ofType('task');
    await laptop.say({ type: 'accepted', taskId });
    await laptop.say({ type: 'completed', taskId, text: 'Done.' });
    expect((await sent).result.status).toMatchObject({
      state: 'completed',
      message: { parts: [{ text: 'Done.' }] },
    });
  });

  test('[A6] an agent that never answers costs a caller no more than the card says', async () => {
    const { agent, v03 } = await stage();
    await aLaptop(world(), agent);
    await changeCard(world(), agent, { waitSeconds: 0 });
    expect((await v03.call('message/send', v03Message('x'))).result.status.state).toBe('submitted');
    await changeCard(world(), agent, { waitSeconds: 1 });
    expect((await v03.call('message/send', v03Message('x'))).result.status.state).toBe('submitted');
  });

  test('[A7] a task id of the caller is not a way to open a task', async () => {
    const { v03, v1 } = await stage();
    const mine = await v03.call('message/send', v03Message('x', { taskId: fresh('mine') }));
    expect(mine.error.code).toBe(-32001);
    const reply = await v1.call('SendMessage', v1Message('x', { taskId: fresh('mine') }));
    expect(reply.error).toMatchObject({
      code: -32001,
      data: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND' }],
    });
  });

  test("[A7] a context that is not the task's is refused", async () => {
    const { v1 } = await stage();
    const task = taskOf(await v1.call('SendMessage', v1Message('x')));
    const other = taskOf(await v1.call('SendMessage', v1Message('x')));
    const mixed = v1Message('y', { taskId: task.id, contextId: other.contextId });
    expect((await v1.call('SendMessage', mixed)).error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('contextId'),
    });
  });

  test('[A7] a direct message is the whole answer: there is no task to ask for', async () => {
    const { agent, v03 } = await stage();
    let taskId: unknown;
    await aLaptop(world(), agent, (frame, laptop) => {
      taskId ??= frame.taskId;
      return scripted(frame, laptop);
    });
    const { result } = await v03.call('message/send', v03Message('reply'));
    expect(result).toMatchObject({ kind: 'message', role: 'agent', parts: [{ text: 'A plain reply.' }] });
    expect(result).not.toHaveProperty('taskId');
    expect((await v03.call('tasks/get', { id: taskId })).error).toMatchObject({ code: -32001 });
    const listed = await new TestCaller(world(), agent, { version: '1.0' }).call('ListTasks', {});
    expect(listed.result).toMatchObject({ tasks: [], totalSize: 0 });
    const next = await v03.call('message/send', v03Message('and now?', { contextId: result.contextId }));
    expect(next.result.contextId).toBe(result.contextId);
  });

  test('[A7][A13] an agent that has said only that it begins may still answer with a message', async () => {
    const { agent, v03 } = await stage();
    const laptop = await aLaptop(world(), agent);
    const message = { parts: [{ text: 'A plain reply.' }] };
    const answerTo = async (params: Wire, ...said: Wire[]) => {
      const sent = v03.call('message/send', params);
      const { taskId } = await laptop.ofType('task');
      for (const frame of [...said, { type: 'message', message }]) await laptop.say({ taskId, ...frame });
      return (await sent).result;
    };
    const accepted = { type: 'accepted' };
    expect(await answerTo(v03Message('x'), accepted)).toMatchObject({ kind: 'message', ...message });
    // Its words, and what was pushed, are of a task.
    const task = { kind: 'task', status: { state: 'completed', message } };
    expect(await answerTo(v03Message('x'), { type: 'status', text: 'Hm.' })).toMatchObject(task);
    const configuration = { pushNotificationConfig: { url: 'https://example.com/' } };
    expect(await answerTo({ ...v03Message('x'), configuration }, accepted)).toMatchObject(task);
  });

  test('[A7][A10] a task that is followed stays one', async () => {
    const { agent, v1 } = await stage();
    const laptop = await aLaptop(world(), agent);
    const sent = v1.call('SendMessage', v1Message('x'));
    const { taskId } = await laptop.ofType('task');
    const stream = await SseReader.open(v1.stream('SubscribeToTask', { id: taskId }));
    await laptop.say({ type: 'accepted', taskId });
    await laptop.say({ type: 'message', taskId, message: { parts: [{ text: 'A plain reply.' }] } });
    expect(await stream.rest()).toHaveLength(3);
    expect(taskOf(await sent)).toMatchObject({ id: taskId, status: { state: 'TASK_STATE_COMPLETED' } });
  });

  test('[A7] a direct message that comes too late for that is what the task ends with', async () => {
    const { agent, v03 } = await stage();
    const laptop = await aLaptop(world(), agent);
    const sent = await v03.call('message/send', { ...v03Message('x'), configuration: { blocking: false } });
    const message = { parts: [{ text: 'A plain reply.' }] };
    await laptop.say({ type: 'message', taskId: sent.result.id, message });
    const { result } = await v03.call('tasks/get', { id: sent.result.id });
    expect(result.status).toMatchObject({ state: 'completed', message });
  });

  test('[A7] a caller that was shown a task keeps it, though there was time left for a direct message', async () => {
    const { agent, v03 } = await stage();
    const laptop = await aLaptop(world(), agent);
    const sent = v03.call('message/send', v03Message('x'));
    const { taskId } = await laptop.ofType('task');
    await world().restart();
    expect((await sent).result).toMatchObject({ id: taskId, status: { state: 'submitted' } });
    const again = await aLaptop(world(), agent);
    const message = { parts: [{ text: 'A plain reply.' }] };
    await again.say({ type: 'message', taskId, message });
    const { result } = await v03.call('tasks/get', { id: taskId });
    expect(result.status).toMatchObject({ state: 'completed', message });
  });

  test('[A7][A8] a retry that does not wait is shown the task, and whoever waits gets the same', async () => {
    const { agent, v03 } = await stage();
    const laptop = await aLaptop(world(), agent);
    const params = v03Message('x');
    const first = v03.call('message/send', params);
    const { taskId } = await laptop.ofType('task');
    const retry = await v03.call('message/send', { ...params, configuration: { blocking: false } });
    expect(retry.result).toMatchObject({ id: taskId, status: { state: 'submitted' } });
    await laptop.say({ type: 'message', taskId, message: { parts: [{ text: 'A plain reply.' }] } });
    expect((await first).result).toMatchObject({ id: taskId, status: { state: 'completed' } });
  });

  test('[A7][A10] so does a stream that has begun with a task', async () => {
    const own = await World.open({ clock: new ManualClock() });
    onTestFinished(() => own.stop());
    const laptop = await aLaptop(own, own.agent);
    const caller = new TestCaller(own, own.agent);
    const stream = await SseReader.open(caller.stream('message/stream', v03Message('x')));
    const first = (await stream.next())?.data.result as Wire;
    await laptop.say({ type: 'message', taskId: first.id, message: { parts: [{ text: 'A plain reply.' }] } });
    const [last] = await stream.rest();
    expect(last?.data.result).toMatchObject({ final: true, status: { state: 'completed' } });
  });

  test('[A7][A10] a stream begins with a task as soon as the agent begins', async () => {
    const own = await World.open({ clock: new ManualClock() });
    onTestFinished(() => own.stop());
    const laptop = await aLaptop(own, own.agent);
    const opening = SseReader.open(new TestCaller(own, own.agent).stream('message/stream', v03Message('x')));
    const { taskId } = await laptop.ofType('task');
    await laptop.say({ type: 'accepted', taskId });
    await laptop.say({ type: 'message', taskId, message: { parts: [{ text: 'A plain reply.' }] } });
    const states = (await (await opening).rest()).map(({ data }) => (data.result as Wire).status as Wire);
    expect(states.map(({ state }) => state)).toEqual(['submitted', 'working', 'completed']);
  });
});

describe('retries', () => {
  test('[A8] the same message again is the same task, and reaches the agent once', async () => {
    const { agent, v03 } = await stage();
    const params = v03Message('once');
    const [first, second] = await Promise.all([
      v03.call('message/send', params),
      v03.call('message/send', params),
    ]);
    expect(second.result.id).toBe(first.result.id);
    const laptop = await aLaptop(world(), agent);
    await laptop.ofType('task');
    await laptop.say({ type: 'completed', taskId: first.result.id, text: 'Done.' });
    const third = await v03.call('message/send', params);
    expect(third.result).toMatchObject({ id: first.result.id, status: { state: 'completed' } });
    expect(laptop.frames).toEqual([]);
  });

  test('[A8] an Idempotency-Key does the same for a message with a new id', async () => {
    const { v03 } = await stage();
    const key = { 'idempotency-key': fresh('key') };
    const first = await v03.call('message/send', v03Message('once'), key);
    const second = await v03.call('message/send', v03Message('once'), key);
    expect(second.result.id).toBe(first.result.id);
    const { error } = await v03.call('message/send', v03Message('another thing'), key);
    expect(error.message).toContain('Idempotency-Key');
  });

  test('[A8] another message under the same id is refused, and nothing is lost silently', async () => {
    const { v03 } = await stage();
    const messageId = fresh();
    await v03.call('message/send', v03Message('one thing', { messageId }));
    const reply = await v03.call('message/send', v03Message('another thing', { messageId }));
    const says = { code: -32602, message: expect.stringContaining('messageId') };
    expect(reply.error).toMatchObject(says);
    const other = await v03.call('message/send', v03Message('another task'));
    const taskId = other.result.id;
    const elsewhere = await v03.call('message/send', v03Message('one thing', { messageId, taskId }));
    expect(elsewhere.error).toMatchObject(says);
  });

  test('[A8] a retry of a follow-up is the same follow-up', async () => {
    const { agent, v03 } = await stage();
    const laptop = await aLaptop(world(), agent, scripted);
    const { result } = await v03.call('message/send', v03Message('ask'));
    const answer = v03Message('the red one', { taskId: result.id });
    await v03.call('message/send', answer);
    const again = await v03.call('message/send', answer);
    expect(again.result.history).toHaveLength(4);
    expect(laptop.frames).toEqual([]);
  });

  test('[A8] the message ids of two callers do not meet', async () => {
    const { agent, v03 } = await stage();
    const other = await anAgent(world());
    const params = v03Message('same words, same id');
    const mine = await v03.call('message/send', params);
    const theirs = await new TestCaller(world(), agent, { key: other.key }).call('message/send', params);
    expect(theirs.result.id).not.toBe(mine.result.id);
  });
});

describe('the log', () => {
  test('[A9] a terminal state never changes, whatever the agent says later', async () => {
    const { agent, v03 } = await stage();
    const laptop = await aLaptop(world(), agent, completing());
    const { result } = await v03.call('message/send', v03Message('x'));
    for (const type of ['accepted', 'status', 'completed', 'failed', 'input_required']) {
      expect(
        await laptop.say({ type, taskId: result.id, ...(type === 'accepted' ? {} : { text: 'again' }) }),
      ).toMatchObject({
        type: 'error',
        code: 'task_ended',
      });
    }
    expect((await v03.call('tasks/get', { id: result.id })).result).toEqual(result);
    const more = await v03.call('message/send', v03Message('y', { taskId: result.id }));
    expect(more.error.code).toBe(-32004);
  });

  test('[A9] of a cancel and a completion that meet, one wins, and both sides hear which', async () => {
    const { agent, v03 } = await stage();
    const laptop = await aLaptop(world(), agent);
    const sent = await v03.call('message/send', { ...v03Message('x'), configuration: { blocking: false } });
    const { id } = sent.result;
    const [canceled, completed] = await Promise.all([
      v03.call('tasks/cancel', { id }),
      laptop.say({ type: 'completed', taskId: id, text: 'Done.' }),
    ]);
    const state = (await v03.call('tasks/get', { id })).result.status.state;
    const byCaller = { canceled: { result: expect.anything() }, completed: { error: { code: -32002 } } };
    const byAgent = { canceled: { code: 'task_ended' }, completed: { type: 'ack' } };
    expect(['canceled', 'completed']).toContain(state);
    expect(canceled).toMatchObject(byCaller[state as 'canceled']);
    expect(completed).toMatchObject(byAgent[state as 'canceled']);
  });

  test('[A9] history and artifacts are what the log says, after a restart too', async () => {
    const { agent, v03 } = await stage();
    await aLaptop(world(), agent, scripted);
    const { result } = await v03.call('message/send', v03Message('artifacts'));
    await world().restart();
    expect((await v03.call('tasks/get', { id: result.id })).result).toEqual(result);
    expect((result.artifacts as { parts: unknown[] }[])[0]?.parts).toHaveLength(2);
  });

  test('[A9] messages and artifacts are sealed at rest', async () => {
    const { agent, v03 } = await stage();
    const laptop = await aLaptop(world(), agent);
    const sent = await v03.call('message/send', {
      ...v03Message('CANARY-MESSAGE'),
      configuration: { blocking: false },
    });
    const taskId = sent.result.id;
    const artifact = {
      artifactId: 'a',
      parts: [{ text: 'CANARY-ARTIFACT' }, { raw: 'Q0FOQVJZLUZJTEUK', mediaType: 'text/plain' }],
    };
    await laptop.say({ type: 'artifact', taskId, artifact });
    const place = { space: world().space.id, agent: agent.agent.id, caller: `agent:${agent.agent.id}` };
    expect(JSON.stringify(await readTask(world().room, place, taskId))).toContain('CANARY-ARTIFACT');
    await world().room.store.read(world().space.id, async (tx) => {
      const task = await tx.tasks.get(taskId);
      const log = await tx.tasks.log(task?.seq ?? 0, 0, 10);
      const bytes = log
        .map((entry) => Buffer.from(entry.body ?? new Uint8Array()).toString('latin1'))
        .join('');
      expect(bytes.length).toBeGreaterThan(100);
      expect(bytes).not.toMatch(/CANARY|Q0FOQVJZ/);
    });
  });
});

describe('bad input', () => {
  const wrongParams: [string, Wire, string][] = [
    ['no message', {}, 'message'],
    ['a message that is text', { message: 'hi' }, 'message'],
    ['no messageId', v03Message('x', { messageId: undefined }), 'message.messageId'],
    ['an empty messageId', v03Message('x', { messageId: '' }), 'message.messageId'],
    ['an unknown role', v03Message('x', { role: 'emperor' }), 'message.role'],
    ["the agent's role", v03Message('x', { role: 'agent' }), 'message.role'],
    ['no parts', v03Message('x', { parts: undefined }), 'message.parts'],
    ['empty parts', v03Message('x', { parts: [] }), 'message.parts'],
    ['a part that is text', v03Message('x', { parts: ['hi'] }), 'message.parts[0]'],
    ['a part of no kind', v03Message('x', { parts: [{ kind: 'smell' }] }), 'message.parts[0].kind'],
    [
      'text that is a number',
      v03Message('x', { parts: [{ kind: 'text', text: 7 }] }),
      'message.parts[0].text',
    ],
    [
      'a file with nothing in it',
      v03Message('x', { parts: [{ kind: 'file', file: {} }] }),
      'message.parts[0].file',
    ],
    [
      'bytes that are not base64',
      v03Message('x', { parts: [{ kind: 'file', file: { bytes: 'ä' } }] }),
      'bytes',
    ],
    [
      'data that is a list',
      v03Message('x', { parts: [{ kind: 'data', data: [] }] }),
      'message.parts[0].data',
    ],
    ['metadata that is text', v03Message('x', { metadata: 'm' }), 'message.metadata'],
    [
      'a negative history',
      { ...v03Message('x'), configuration: { historyLength: -1 } },
      'configuration.historyLength',
    ],
    [
      'a blocking that is text',
      { ...v03Message('x'), configuration: { blocking: 'yes' } },
      'configuration.blocking',
    ],
    ['metadata of the call that is text', { ...v03Message('x'), metadata: 'm' }, 'metadata must be'],
    [
      'a push without an address',
      { ...v03Message('x'), configuration: { pushNotificationConfig: {} } },
      'configuration.pushNotificationConfig.url',
    ],
  ];

  test.each(wrongParams)('[A11] %s is −32602 and names the field', async (_, params, field) => {
    const { v03 } = await stage();
    const { error } = await v03.call('message/send', params);
    expect(error.code).toBe(-32602);
    expect(error.message).toContain(field);
  });

  test('[A11] in 1.0 a push without an address is −32602 as well: nobody should wait for one that never comes', async () => {
    const { v1 } = await stage();
    const params = { ...v1Message('x'), configuration: { taskPushNotificationConfig: {} } };
    const { error } = await v1.call('SendMessage', params);
    expect(error).toMatchObject({
      code: -32602,
      message: expect.stringContaining('PushNotificationConfig.url'),
    });
  });

  test.each([
    ['two kinds of content', [{ text: 'a', url: 'https://example.com' }]],
    ['no content', [{ mediaType: 'text/plain' }]],
  ])('[A11] in 1.0 a part with %s is −32602 with a field violation', async (_, parts) => {
    const { v1 } = await stage();
    const { error } = await v1.call('SendMessage', v1Message('x', { parts }));
    expect(error).toMatchObject({
      code: -32602,
      data: [
        { reason: 'INVALID_PARAMS', domain: 'a2a-protocol.org' },
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [{ field: 'message.parts[0]' }],
        },
      ],
    });
  });

  test.each([
    ['pageSize 0', { pageSize: 0 }, 'pageSize'],
    ['pageSize 101', { pageSize: 101 }, 'pageSize'],
    ['pageSize as text', { pageSize: '5' }, 'pageSize'],
    ['a negative history', { historyLength: -5 }, 'historyLength'],
    ['a status that is none', { status: 'TASK_STATE_HAPPY' }, 'status'],
    ['a page token of nobody', { pageToken: 'x' }, 'pageToken'],
    ['a time that is none', { statusTimestampAfter: 'yesterday' }, 'statusTimestampAfter'],
  ])('[A11] a list with %s is −32602', async (_, params, field) => {
    const { v1 } = await stage();
    const { error } = await v1.call('ListTasks', params);
    expect([error.code, error.message]).toEqual([-32602, expect.stringContaining(field)]);
  });

  test.each([
    ['no JSON', '{"jsonrpc":', -32700],
    ['nothing', '', -32700],
    ['a key twice', '{"jsonrpc":"2.0","jsonrpc":"2.0"}', -32700],
    ['a list', '[{"jsonrpc":"2.0","id":1,"method":"tasks/get"}]', -32600],
    ['a text', '"hi"', -32600],
    ['another version', '{"jsonrpc":"1.0","id":1,"method":"tasks/get"}', -32600],
    ['no method', '{"jsonrpc":"2.0","id":1}', -32600],
    ['a method that is a number', '{"jsonrpc":"2.0","id":1,"method":5}', -32600],
    ['an id that is an object', '{"jsonrpc":"2.0","id":{},"method":"tasks/get"}', -32600],
    ['params that are a list', '{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":[1]}', -32602],
    ['no id and no such method', '{"jsonrpc":"2.0","method":"message/ssend","params":{}}', -32601],
    ['no id and wrong params', '{"jsonrpc":"2.0","method":"message/send","params":{"":"x"}}', -32602],
  ])('[A11] %s is answered as JSON-RPC says', async (_, body, code) => {
    const { v03 } = await stage();
    const reply = await v03.post(body);
    expect([reply.status, ((await reply.json()) as RpcAnswer).error.code]).toEqual([200, code]);
  });

  test('[A11] a body over the limit is a JSON-RPC error, and so is another media type', async () => {
    const { v03 } = await stage();
    const large = await v03.post(
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'x', params: { a: 'x'.repeat(1_100_000) } }),
    );
    expect([large.status, await large.json()]).toMatchObject([
      413,
      { jsonrpc: '2.0', id: null, error: { code: -32600 } },
    ]);
    const form = await v03.post('a=1', { 'content-type': 'application/x-www-form-urlencoded' });
    expect([form.status, await form.json()]).toMatchObject([
      415,
      { jsonrpc: '2.0', error: { code: -32005 } },
    ]);
  });

  test('[A11] ids come back as they were sent', async () => {
    const { v03 } = await stage();
    for (const id of ['', 'x', 0, -1, 1.5, null]) {
      const reply = await v03.post({ jsonrpc: '2.0', id, method: 'tasks/get', params: { id: 'nobody' } });
      expect(await reply.json()).toMatchObject({ id, error: { code: -32001 } });
    }
  });

  test.each([
    ['GET', '/tasks/nobody', 404, 'NOT_FOUND'],
    ['POST', '/tasks/nobody:cancel', 404, 'NOT_FOUND'],
    ['GET', '/tasks/nobody:subscribe', 404, 'NOT_FOUND'],
    ['GET', '/tasks?pageSize=0', 400, 'INVALID_ARGUMENT'],
    ['GET', '/tasks?historyLength=-1', 400, 'INVALID_ARGUMENT'],
    ['POST', '/tasks/nobody:paint', 404, 'NOT_FOUND'],
  ])('[A11] over HTTP+JSON %s %s is %i in the words of google.rpc', async (method, path, status, name) => {
    const { v1 } = await stage();
    const reply = await v1.rest(method, path, method === 'POST' ? {} : undefined);
    expect([reply.status, await reply.json()]).toMatchObject([
      status,
      { error: { code: status, status: name } },
    ]);
  });

  test.each([
    ['application/a2a+json', 'application/a2a+json'],
    ['Application/A2A+JSON, */*;q=0.1', 'application/a2a+json'],
    ['application/json', 'application/json'],
    ['application/json, application/a2a+json;q=0', 'application/json'],
    ['application/a2a+json;q=0.5, application/json', 'application/json'],
  ])('[A1] over HTTP+JSON who accepts %s gets %s', async (accept, type) => {
    const { v1 } = await stage();
    const reply = await v1.rest('GET', '/tasks', undefined, { accept });
    expect(reply.headers.get('content-type')).toBe(`${type}; charset=utf-8`);
  });

  test('[A11] over HTTP+JSON a body that is not JSON, or a version that is not served, answers 400', async () => {
    const { agent, v1 } = await stage();
    const headers = { authorization: `Bearer ${agent.key}`, 'content-type': 'application/a2a+json' };
    const broken = await fetch(`${world().url}${v1.path}/message:send`, {
      method: 'POST',
      headers,
      body: '{',
    });
    expect([broken.status, broken.headers.get('content-type')]).toEqual([
      400,
      'application/a2a+json; charset=utf-8',
    ]);
    const old = await v1.rest('GET', '/tasks', undefined, { 'a2a-version': '0.3' });
    expect([old.status, await old.json()]).toMatchObject([
      400,
      { error: { details: [{ reason: 'VERSION_NOT_SUPPORTED' }, {}] } },
    ]);
  });
});

describe('reading', () => {
  test('[A6] a list is read page by page, newest change first, with counts', async () => {
    const { v1 } = await stage();
    const ids: string[] = [];
    for (let i = 0; i < 5; i++) ids.unshift(taskOf(await v1.call('SendMessage', v1Message(`${i}`))).id);
    const seen: string[] = [];
    let pageToken = '';
    do {
      const { result } = await v1.call('ListTasks', { pageSize: 2, pageToken });
      expect(result).toMatchObject({ totalSize: 5, pageSize: 2 });
      seen.push(...(result.tasks as { id: string }[]).map(({ id }) => id));
      pageToken = result.nextPageToken as string;
    } while (pageToken !== '');
    expect(seen).toEqual(ids);
  });

  test('[A6] a list is filtered by context, state and time, and brings what is asked for', async () => {
    const { agent, v1 } = await stage();
    await aLaptop(world(), agent, scripted);
    const done = taskOf(await v1.call('SendMessage', v1Message('artifacts')));
    const asked = taskOf(await v1.call('SendMessage', v1Message('ask')));
    const idsOf = async (params: Wire) =>
      ((await v1.call('ListTasks', params)).result.tasks as { id: string }[]).map(({ id }) => id);
    expect(await idsOf({ contextId: done.contextId })).toEqual([done.id]);
    expect(await idsOf({ status: 'TASK_STATE_INPUT_REQUIRED' })).toEqual([asked.id]);
    expect(await idsOf({ statusTimestampAfter: asked.status.timestamp })).toEqual([asked.id]);
    const { result } = await v1.call('ListTasks', { contextId: done.contextId });
    expect((result.tasks as Wire[])[0]).not.toHaveProperty('artifacts');
    const full = await v1.call('ListTasks', {
      contextId: done.contextId,
      includeArtifacts: true,
      historyLength: 1,
    });
    expect((full.result.tasks as Wire[])[0]).toMatchObject({ artifacts: [{}, {}], history: [{}] });
  });

  test('[A6] history is as long as asked for, and left out when none is wanted', async () => {
    const { agent, v03 } = await stage();
    await aLaptop(world(), agent, scripted);
    const { result } = await v03.call('message/send', seedMessage('hello'));
    const historyOf = async (historyLength: number | undefined) =>
      (await v03.call('tasks/get', { id: result.id, historyLength })).result.history;
    expect(await historyOf(undefined)).toHaveLength(2);
    expect(await historyOf(1)).toMatchObject([{ role: 'agent' }]);
    expect(await historyOf(0)).toBeUndefined();
  });
});
