import { describe, expect, test } from 'vitest';
import {
  aLaptop,
  aStage,
  type RpcAnswer,
  seedMessage,
  TestCaller,
  useWorld,
  v1Message,
  v03Message,
  type Wire,
} from '../../../testing/a2a/a2a.ts';
import { scripted } from '../../../testing/a2a/scripted-agent.ts';
import { sendRaw } from '../../../testing/wake.ts';

const world = useWorld();

const stage = () => aStage(world());

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest';

describe('JSON-RPC', () => {
  test.each([
    ['9007199254740993', 'GetTask', -32001],
    ['-90071992547409931235813', 'GetTask', -32001],
    ['1.10000000000000000001', 'GetTask', -32001],
    ['9007199254740993', 'NoSuchMethod', -32601],
  ])('[A11] the id %s comes back digit for digit from %s', async (id, method, code) => {
    const { v1 } = await stage();
    // A second "id", inside, must not be taken for it.
    const answer = await v1.post(
      `{"jsonrpc":"2.0","method":"${method}","params":{"id":"nobody"}, "id" : ${id} }`,
    );
    const text = await answer.text();
    expect(text).toContain(`"id":${id},`);
    expect((JSON.parse(text) as RpcAnswer).error.code).toBe(code);
  });

  test('[A11] so does the id of a call that succeeds, streamed or not', async () => {
    const { v1 } = await stage();
    const id = '9007199254740993';
    const call = async (method: string, params: object) =>
      (
        await v1.post(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${JSON.stringify(params)}}`)
      ).text();
    expect(await call('ListTasks', {})).toContain(`{"jsonrpc":"2.0","id":${id},"result":`);
    const sent = await call('SendMessage', v1Message('x'));
    expect(sent).toContain(`{"jsonrpc":"2.0","id":${id},"result":`);
    const { task } = (JSON.parse(sent) as { result: { task: { id: string } } }).result;
    await call('CancelTask', { id: task.id });
    expect(await call('SubscribeToTask', { id: task.id })).toContain(`"id":${id},`);
  });

  test.each([
    ['jsonrpc', { jsonrpc: '1.0', id: 1, method: 'x' }, -32600, 'INVALID_REQUEST'],
    ['id', { jsonrpc: '2.0', id: {}, method: 'x' }, -32600, 'INVALID_REQUEST'],
    ['method', { jsonrpc: '2.0', id: 1, method: 5 }, -32600, 'INVALID_REQUEST'],
    ['method', { jsonrpc: '2.0', id: 1, method: 'x' }, -32601, 'METHOD_NOT_FOUND'],
    ['params', { jsonrpc: '2.0', id: 1, method: 'x', params: [1] }, -32602, 'INVALID_PARAMS'],
  ])('[A11] a wrong %s is named, in the data that each version wants', async (field, body, code, reason) => {
    const { v03, v1 } = await stage();
    const errorOf = async (caller: TestCaller) =>
      ((await (await caller.post(body)).json()) as RpcAnswer).error;
    expect(await errorOf(v03)).toMatchObject({ code, data: { field } });
    expect(await errorOf(v1)).toMatchObject({
      code,
      data: [
        { '@type': ERROR_INFO, reason },
        { '@type': BAD_REQUEST, fieldViolations: [{ field }] },
      ],
    });
  });

  test('[A11][A22] an agent that is not there is 404 to who is of the space, in both transports', async () => {
    const { agent } = await stage();
    const nobody = new TestCaller(world(), { ...agent, agent: { ...agent.agent, id: 'nobody' } });
    const called = await nobody.post({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { id: 'x' } });
    expect([called.status, await called.json()]).toMatchObject([404, { error: { code: -32000 } }]);
    const read = await nobody.rest('GET', '/tasks/x');
    expect([read.status, await read.json()]).toMatchObject([
      404,
      { error: { status: 'NOT_FOUND', details: [{ reason: 'AGENT_NOT_FOUND' }] } },
    ]);
  });

  test('[A4] an empty version in the header says nothing, and the query is asked', async () => {
    const { agent, v03 } = await stage();
    const reply = await fetch(`${world().url}${v03.path}?A2A-Version=1.0`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${agent.key}`,
        'content-type': 'application/json',
        'a2a-version': '',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: 'nobody' } }),
    });
    expect(((await reply.json()) as RpcAnswer).error.code).toBe(-32001);
  });
});

describe('addresses', () => {
  test.each([
    ['PUT', '', 'POST'],
    ['DELETE', '/', 'POST'],
    ['GET', '/message:send', 'POST'],
    ['PUT', '/message:stream', 'POST'],
    ['POST', '/tasks', 'GET'],
    ['DELETE', '/tasks/x', 'GET, POST'],
    ['POST', '/tasks/x', 'GET'],
    ['GET', '/tasks/x:cancel', 'POST'],
    ['PUT', '/tasks/x/pushNotificationConfigs', 'GET, POST'],
    ['PUT', '/tasks/x/pushNotificationConfigs/y', 'GET, DELETE'],
    ['POST', '/extendedAgentCard', 'GET'],
    ['PUT', '/tasks/x/content/y', 'GET'],
    ['OPTIONS', '/.well-known/agent-card.json', 'GET'],
  ])('[A1] %s %s is 405, and told what works', async (method, path, allow) => {
    const { v1 } = await stage();
    const reply = await v1.rest(method, path);
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, allow]);
  });

  test.each([
    ['GET', '/nothing'],
    ['POST', '/nothing/at/all'],
    ['DELETE', '/tasks/x/nothing'],
    ['POST', '/tasks/x:pause'],
  ])('[A1] %s %s below an agent is refused in the words of HTTP+JSON', async (method, path) => {
    const { v1 } = await stage();
    const reply = await v1.rest(method, path);
    expect([reply.status, await reply.json()]).toMatchObject([
      404,
      {
        error: {
          code: 404,
          status: 'NOT_FOUND',
          details: [{ '@type': ERROR_INFO, reason: 'METHOD_NOT_FOUND' }],
        },
      },
    ]);
  });

  test('[A21] a stranger is not told which addresses an agent has', async () => {
    const { agent } = await stage();
    const knock = async (path: string) => {
      const reply = await fetch(`${world().url}/@home/${agent.agent.id}${path}`);
      return [reply.status, await reply.json()];
    };
    expect(await knock('/nothing')).toMatchObject([401, { error: { status: 'UNAUTHENTICATED' } }]);
    expect(await knock('/nothing')).toEqual(await knock('/tasks'));
  });

  test.each(['/a2a/connect', '/.well-known/jwks.json', '/@home/.well-known/agent-card.json'])(
    '[A1] POST %s is 405, and told what works',
    async (path) => {
      const { agent } = await stage();
      const reply = await world().post(path, {}, agent.key);
      expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET']);
    },
  );

  test('[A6] a context that is called "true" can be listed over HTTP+JSON', async () => {
    const { v1 } = await stage();
    await v1.call('SendMessage', v1Message('x', { contextId: 'true' }));
    const reply = await v1.rest('GET', '/tasks?contextId=true');
    expect(await reply.json()).toMatchObject({ totalSize: 1 });
  });
});

describe('messages', () => {
  test('[A12] a list of the older dialects takes their spelling of a state, and that of 1.0', async () => {
    const { agent, v03, strict } = await stage();
    await aLaptop(world(), agent, scripted);
    const { result } = await v03.call('message/send', seedMessage('ask'));
    for (const status of ['input-required', 'input_required', 'TASK_STATE_INPUT_REQUIRED']) {
      const listed = await strict.call('tasks/list', { status });
      expect(listed.result.tasks).toMatchObject([{ id: result.id, status: { state: 'input-required' } }]);
    }
    expect((await strict.call('tasks/list', { status: 'completed' })).result).toMatchObject({ totalSize: 0 });
    expect((await strict.call('tasks/list', { status: 'happy' })).error.code).toBe(-32602);
  });

  test('[A4] null counts as absent, as in proto JSON', async () => {
    const { v1 } = await stage();
    const parts = [
      { text: 'x', raw: null, url: null },
      { data: null, text: null },
    ];
    const { result } = await v1.call('SendMessage', v1Message('', { parts }));
    expect(result.task).toMatchObject({ history: [{ parts: [{ text: 'x' }, { data: null }] }] });
  });

  test.each<[string, Wire, Wire, string]>([
    ['half a byte', { parts: [{ raw: 'abcde' }] }, {}, 'message.parts[0].raw'],
    ['a task id that is a number', { taskId: 5 }, {}, 'message.taskId'],
    ['a context with U+0000', { contextId: 'a\0b' }, {}, 'message.contextId'],
    ['a message id with U+0000', { messageId: 'a\0b' }, {}, 'message.messageId'],
    [
      'modes that are no list',
      {},
      { acceptedOutputModes: 'text/plain' },
      'configuration.acceptedOutputModes',
    ],
  ])('[A11] %s is −32602 with its field', async (_, over, configuration, field) => {
    const { v1 } = await stage();
    const { error } = await v1.call('SendMessage', { ...v1Message('x', over), configuration });
    expect(error).toMatchObject({ code: -32602, data: [{}, { fieldViolations: [{ field }] }] });
  });

  test('[A4] in 0.3, what says that it is a task is not a message', async () => {
    const { v03, strict } = await stage();
    for (const caller of [v03, strict]) {
      const { error } = await caller.call('message/send', v03Message('x', { kind: 'task' }));
      expect(error).toMatchObject({ code: -32602, data: { field: 'message.kind' } });
    }
  });
});

describe('push configurations', () => {
  const inline = (url: string) => ({
    configuration: { blocking: false, returnImmediately: true, pushNotificationConfig: { url } },
  });

  test('[A18] one that comes with a message is the one of its task, and setting it again replaces it', async () => {
    const { strict } = await stage();
    const sent = { ...v03Message('x'), ...inline('https://example.com/one') };
    const { id } = (await strict.call('message/send', sent)).result;
    const pushNotificationConfig = { url: 'https://example.com/two' };
    await strict.call('tasks/pushNotificationConfig/set', { taskId: id, pushNotificationConfig });
    const { result } = await strict.call('tasks/pushNotificationConfig/list', { id });
    expect(result).toMatchObject([{ pushNotificationConfig: { id, url: 'https://example.com/two' } }]);
  });

  test('[A18] a task has at most 20, also when each message brings one', async () => {
    const { v1 } = await stage();
    const url = 'https://example.com/hook';
    const first = await v1.call('SendMessage', { ...v1Message('x'), ...inline(url) });
    const { id: taskId } = first.result.task as { id: string };
    const more = () => v1.call('SendMessage', { ...v1Message('x', { taskId }), ...inline(url) });
    for (let i = 1; i < 20; i++) expect((await more()).error).toBeUndefined();
    expect((await more()).error).toMatchObject({ code: -32602, message: expect.stringContaining('20') });
    const { result } = await v1.call('ListTaskPushNotificationConfigs', { taskId });
    expect(result.configs).toHaveLength(20);
    const [known] = result.configs as { id: string }[];
    const instead = { taskId, id: known?.id, url: `${url}/instead` };
    expect((await v1.call('CreateTaskPushNotificationConfig', instead)).error).toBeUndefined();
    // What was refused was not kept either.
    expect((await v1.call('GetTask', { id: taskId })).result.history).toHaveLength(20);
  });

  test('[A11][A18] a push address that is refused is named by its place in the request', async () => {
    const { v1, strict } = await stage();
    const url = 'ftp://x';
    const { error } = await v1.call('SendMessage', { ...v1Message('x'), ...inline(url) });
    const field = 'configuration.pushNotificationConfig.url';
    expect(error).toMatchObject({ code: -32602, data: [{}, { fieldViolations: [{ field }] }] });
    const { id: taskId } = (await strict.call('message/send', v03Message('x'))).result;
    const set = { taskId, pushNotificationConfig: { url } };
    const refused = await strict.call('tasks/pushNotificationConfig/set', set);
    expect(refused.error).toMatchObject({ code: -32602, data: { field: 'pushNotificationConfig.url' } });
  });

  test.each<[string, Wire, string]>([
    ['a neighbour whose name does not decode', { url: '/@home/%zz' }, 'url'],
    [
      'credentials without a scheme',
      { url: 'https://example.com/', authentication: { credentials: 'c' } },
      'authentication.scheme',
    ],
    [
      'schemes that are no list',
      { url: 'https://example.com/', authentication: { schemes: 'Bearer' } },
      'authentication.schemes',
    ],
  ])('[A18] %s is −32602', async (_, { url, ...rest }, field) => {
    const { v1 } = await stage();
    const sent = await v1.call('SendMessage', v1Message('x'));
    const { id: taskId } = sent.result.task as { id: string };
    const target = new URL(String(url), world().url).href;
    const { error } = await v1.call('CreateTaskPushNotificationConfig', { taskId, url: target, ...rest });
    expect(error).toMatchObject({ code: -32602, data: [{}, { fieldViolations: [{ field }] }] });
  });
});

test('[A20] an upload that says that it is too long is refused before it comes', async () => {
  const { agent, v1 } = await stage();
  const sent = await v1.call('SendMessage', v1Message('x'));
  const { id } = sent.result.task as { id: string };
  const head = [
    `POST /a2a/uploads?taskId=${id} HTTP/1.1`,
    'host: x',
    `authorization: Bearer ${agent.key}`,
    `content-length: ${1024 ** 3 + 1}`,
  ];
  expect(await sendRaw(world(), [`${head.join('\r\n')}\r\n\r\n`])).toMatch(/^HTTP\/1\.1 413 /);
});
