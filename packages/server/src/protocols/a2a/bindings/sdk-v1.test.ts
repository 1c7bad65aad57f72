import {
  type Message,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
  verifyAgentCardSignature,
} from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { type CryptoKey, importJWK, type JWK } from 'jose';
import { describe, expect, test } from 'vitest';
import type { MadeAgent } from '../../../core/agents/found.ts';
import { aLaptop, anAgent, fresh, useWorld } from '../../../testing/a2a/a2a.ts';
import type { Laptop } from '../../../testing/a2a/laptop.ts';
import { scripted } from '../../../testing/a2a/scripted-agent.ts';

const world = useWorld();

function withKey(key: string): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
}

type Stage = { client: Client; agent: MadeAgent; laptop: Laptop };

async function stage(binding: string): Promise<Stage> {
  const agent = await anAgent(world());
  const laptop = await aLaptop(world(), agent, scripted);
  const fetchImpl = withKey(agent.key);
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl }), new RestTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
      preferredTransports: [binding],
    }),
  );
  const client = await factory.createFromUrl(`${world().url}/@home/${agent.agent.id}/`);
  expect(client.protocolVersion).toBe('1.0');
  return { client, agent, laptop };
}

function saying(text: string, over: Partial<Message> = {}) {
  const message = {
    messageId: fresh(),
    contextId: '',
    taskId: '',
    role: Role.ROLE_USER,
    parts: [
      { content: { $case: 'text' as const, value: text }, metadata: undefined, filename: '', mediaType: '' },
    ],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
    ...over,
  };
  return { tenant: '', message, configuration: undefined, metadata: undefined };
}

function asTask(result: Task | Message): Task {
  if (!('status' in result)) throw new Error('a message came instead of a task');
  return result;
}

async function collect(stream: AsyncGenerator<StreamResponse>): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const kindsOf = (events: readonly StreamResponse[]) => events.map(({ payload }) => payload?.$case);

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('the official client 1.3 over %s', (binding) => {
  test('[A6] sends a message and gets the finished task; reads and lists it', async () => {
    const { client } = await stage(binding);
    const task = asTask(await client.sendMessage(saying('hello')));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.history.map(({ role }) => role)).toEqual([Role.ROLE_USER, Role.ROLE_AGENT]);
    const read = await client.getTask({ tenant: '', id: task.id, historyLength: 1 });
    expect(read.history).toHaveLength(1);
    const { tasks, totalSize, nextPageToken } = await client.listTasks({
      tenant: '',
      contextId: task.contextId,
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
      statusTimestampAfter: undefined,
    });
    expect([tasks.map(({ id }) => id), totalSize, nextPageToken]).toEqual([[task.id], 1, '']);
  });

  test('[A6] is answered at once when it asks not to wait', async () => {
    const { client } = await stage(binding);
    const configuration = {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: true,
    };
    const task = asTask(await client.sendMessage({ ...saying('silent'), configuration }));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_SUBMITTED);
  });

  test('[A7] gets a message when the agent replies with one', async () => {
    const { client } = await stage(binding);
    const reply = await client.sendMessage(saying('reply please'));
    expect('parts' in reply && reply.parts[0]?.content).toEqual({ $case: 'text', value: 'A plain reply.' });
    const streamed = await collect(client.sendMessageStream(saying('reply please')));
    expect(kindsOf(streamed)).toEqual(['message']);
  });

  test('[A10] streams a task with its artifacts to the end', async () => {
    const { client } = await stage(binding);
    const events = await collect(client.sendMessageStream(saying('artifacts')));
    expect(kindsOf(events)).toEqual([
      'task',
      'statusUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'artifactUpdate',
      'statusUpdate',
    ]);
    const first = events[0]?.payload;
    const id = first?.$case === 'task' ? first.value.id : '';
    const { artifacts } = await client.getTask({ tenant: '', id });
    const text = artifacts[0]?.parts.map(({ content }) => content?.value).join('');
    expect([artifacts.map(({ artifactId }) => artifactId), text]).toEqual([['report', 'mixed'], '# Report']);
  });

  test('[A12] follows a question to its answer in the same task', async () => {
    const { client } = await stage(binding);
    const asked = asTask(await client.sendMessage(saying('ask me')));
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const { id: taskId, contextId } = asked;
    const answered = asTask(await client.sendMessage(saying('the red one', { taskId, contextId })));
    expect([answered.id, answered.status?.state]).toEqual([taskId, TaskState.TASK_STATE_COMPLETED]);
    expect(answered.history).toHaveLength(4);
  });

  test('[A10] subscribes to a task that is under way', async () => {
    const { client, laptop } = await stage(binding);
    const configuration = {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: true,
    };
    const { id } = asTask(await client.sendMessage({ ...saying('silent'), configuration }));
    const stream = client.resubscribeTask({ tenant: '', id });
    const first = await stream.next();
    expect(first.value?.payload?.$case).toBe('task');
    await laptop.say({ type: 'completed', taskId: id, text: 'late' });
    expect(kindsOf(await collect(stream))).toEqual(['statusUpdate']);
    await expect(collect(client.resubscribeTask({ tenant: '', id }))).rejects.toMatchObject({
      name: 'UnsupportedOperationError',
    });
  });

  test('[A9] cancels a task once, and is told when there is nothing to cancel', async () => {
    const { client } = await stage(binding);
    const configuration = {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: true,
    };
    const { id } = asTask(await client.sendMessage({ ...saying('silent'), configuration }));
    const canceled = await client.cancelTask({ tenant: '', id, metadata: undefined });
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    const again = client.cancelTask({ tenant: '', id, metadata: undefined });
    await expect(again).rejects.toMatchObject({ name: 'TaskNotCancelableError' });
    const unknown = client.getTask({ tenant: '', id: fresh('nobody') });
    await expect(unknown).rejects.toMatchObject({ name: 'TaskNotFoundError' });
  });

  test('[A18] keeps, shows, lists and deletes push configurations', async () => {
    const { client } = await stage(binding);
    const { id: taskId } = asTask(await client.sendMessage(saying('ask')));
    const wanted = { tenant: '', taskId, id: 'mine', url: 'https://example.com/hook', token: 't' };
    const authentication = { scheme: 'Bearer', credentials: 'secret' };
    const made = await client.createTaskPushNotificationConfig({ ...wanted, authentication });
    expect(made).toMatchObject({ id: 'mine', url: 'https://example.com/hook', authentication });
    const at = { tenant: '', taskId, id: 'mine' };
    expect(await client.getTaskPushNotificationConfig(at)).toMatchObject({ id: 'mine', token: 't' });
    const page = { tenant: '', taskId, pageSize: 0, pageToken: '' };
    expect((await client.listTaskPushNotificationConfig(page)).configs).toHaveLength(1);
    await client.deleteTaskPushNotificationConfig(at);
    await client.deleteTaskPushNotificationConfig(at);
    expect((await client.listTaskPushNotificationConfig(page)).configs).toEqual([]);
  });

  test('[A23] fetches the extended card', async () => {
    const { client, agent } = await stage(binding);
    const card = await client.getAgentCard();
    expect(card.name).toBe(`@home/${agent.agent.id}`);
    expect(card.capabilities?.extensions.map(({ uri }) => uri.split('#')[1])).toEqual(['presence', 'access']);
  });
});

test('[A3] the official SDK verifies the signature of both cards with the published keys', async () => {
  const agent = await anAgent(world());
  const address = `${world().url}/@home/${agent.agent.id}/.well-known/agent-card.json`;
  const verify = verifyAgentCardSignature(async (kid, jku) => {
    const { keys } = (await (await fetch(jku ?? '')).json()) as { keys: JWK[] };
    const key = keys.find((one) => one.kid === kid);
    if (key === undefined) throw new Error(`${kid} is not published`);
    return (await importJWK(key, 'ES256')) as CryptoKey;
  });
  for (const headers of [{}, { 'a2a-version': '1.0' }]) {
    const resolver = new DefaultAgentCardResolver({ fetchImpl: (url) => fetch(url, { headers }) });
    const card = await resolver.resolve(address, '');
    await expect(verify(card)).resolves.toBeUndefined();
    await expect(verify({ ...card, description: 'forged' })).rejects.toThrow();
  }
});
