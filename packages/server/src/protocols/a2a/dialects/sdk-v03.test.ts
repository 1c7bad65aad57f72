import type { Message, Task } from 'a2a-sdk-03';
import {
  A2AClient,
  ClientFactory,
  ClientFactoryOptions,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
} from 'a2a-sdk-03/client';
import { describe, expect, test } from 'vitest';
import type { MadeAgent } from '../../../core/agents/found.ts';
import { aLaptop, anAgent, fresh, useWorld } from '../../../testing/a2a/a2a.ts';
import type { Laptop } from '../../../testing/a2a/laptop.ts';
import { scripted } from '../../../testing/a2a/scripted-agent.ts';

const world = useWorld();

type Client = Awaited<ReturnType<ClientFactory['createFromUrl']>>;
type Event = Exclude<Awaited<ReturnType<ReturnType<Client['sendMessageStream']>['next']>>['value'], void>;

function withKey(key: string): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('authorization', `Bearer ${key}`);
    return fetch(input, { ...init, headers });
  };
}

async function stage(): Promise<{ client: Client; agent: MadeAgent; laptop: Laptop }> {
  const agent = await anAgent(world());
  const laptop = await aLaptop(world(), agent, scripted);
  const fetchImpl = withKey(agent.key);
  const factory = new ClientFactory(
    ClientFactoryOptions.createFrom(ClientFactoryOptions.default, {
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    }),
  );
  const client = await factory.createFromUrl(`${world().url}/@home/${agent.agent.id}/`);
  return { client, agent, laptop };
}

function saying(text: string, over: Partial<Message> = {}): { message: Message } {
  return {
    message: { kind: 'message', messageId: fresh(), role: 'user', parts: [{ kind: 'text', text }], ...over },
  };
}

function asTask(result: Task | Message): Task {
  if (result.kind !== 'task') throw new Error('a message came instead of a task');
  return result;
}

async function collect(stream: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const kindsOf = (events: readonly Event[]) => events.map(({ kind }) => kind);

describe('the official client 0.3.14', () => {
  test('[A6] sends a message and gets the finished task, and reads it again', async () => {
    const { client } = await stage();
    const task = asTask(await client.sendMessage(saying('hello')));
    expect(task.status.state).toBe('completed');
    expect(task.history?.map(({ role }) => role)).toEqual(['user', 'agent']);
    const read = await client.getTask({ id: task.id, historyLength: 1 });
    expect(read.history).toHaveLength(1);
  });

  test('[A6] is answered at once when it does not block', async () => {
    const { client } = await stage();
    const task = asTask(
      await client.sendMessage({ ...saying('silent'), configuration: { blocking: false } }),
    );
    expect(task.status.state).toBe('submitted');
  });

  test('[A7] gets a message when the agent replies with one', async () => {
    const { client } = await stage();
    expect(await client.sendMessage(saying('reply please'))).toMatchObject({
      kind: 'message',
      role: 'agent',
      parts: [{ kind: 'text', text: 'A plain reply.' }],
    });
    expect(kindsOf(await collect(client.sendMessageStream(saying('reply please'))))).toEqual(['message']);
  });

  test('[A10] streams a task with its artifacts; the last event says that it is final', async () => {
    const { client } = await stage();
    const events = await collect(client.sendMessageStream(saying('artifacts')));
    expect(kindsOf(events)).toEqual([
      'task',
      'status-update',
      'artifact-update',
      'artifact-update',
      'artifact-update',
      'status-update',
    ]);
    expect(events.at(-1)).toMatchObject({ final: true, status: { state: 'completed' } });
    const { artifacts } = await client.getTask({ id: (events[0] as Task).id });
    expect(artifacts?.[1]?.parts).toEqual([
      { kind: 'data', data: { answer: 42 } },
      { kind: 'file', file: { bytes: 'aGVsbG8=', mimeType: 'text/plain', name: 'hello.txt' } },
    ]);
  });

  test('[A12] follows a question, spelled input-required, to its answer', async () => {
    const { client } = await stage();
    const asked = asTask(await client.sendMessage(saying('ask me')));
    expect(asked.status.state).toBe('input-required');
    const { id: taskId, contextId } = asked;
    const answered = asTask(await client.sendMessage(saying('the red one', { taskId, contextId })));
    expect([answered.id, answered.status.state]).toEqual([taskId, 'completed']);
  });

  test('[A10] resubscribes to a task that is under way, and to one that has ended', async () => {
    const { client, laptop } = await stage();
    const sent = await client.sendMessage({ ...saying('silent'), configuration: { blocking: false } });
    const { id } = asTask(sent);
    const stream = client.resubscribeTask({ id });
    expect((await stream.next()).value).toMatchObject({ kind: 'task', id });
    await laptop.say({ type: 'completed', taskId: id, text: 'late' });
    expect(kindsOf(await collect(stream))).toEqual(['status-update']);
    expect(kindsOf(await collect(client.resubscribeTask({ id })))).toEqual(['task']);
  });

  test('[A10] the error of a resubscription arrives in the stream', async () => {
    const { client } = await stage();
    await expect(collect(client.resubscribeTask({ id: fresh('nobody') }))).rejects.toThrow(/no task/);
  });

  test('[A9] cancels a task once, and is told when there is nothing to cancel', async () => {
    const { client } = await stage();
    const sent = await client.sendMessage({ ...saying('silent'), configuration: { blocking: false } });
    const { id } = asTask(sent);
    expect((await client.cancelTask({ id })).status.state).toBe('canceled');
    await expect(client.cancelTask({ id })).rejects.toMatchObject({ name: 'TaskNotCancelableError' });
    await expect(client.getTask({ id: fresh('nobody') })).rejects.toMatchObject({
      name: 'TaskNotFoundError',
    });
  });

  test('[A18] keeps, shows, lists and deletes push configurations', async () => {
    const { client } = await stage();
    const { id: taskId } = asTask(await client.sendMessage(saying('ask')));
    const pushNotificationConfig = { id: 'mine', url: 'https://example.com/hook', token: 't' };
    const set = { taskId, pushNotificationConfig };
    expect(await client.setTaskPushNotificationConfig(set)).toMatchObject(set);
    const at = { id: taskId, pushNotificationConfigId: 'mine' };
    expect(await client.getTaskPushNotificationConfig(at)).toMatchObject(set);
    expect(await client.listTaskPushNotificationConfig({ id: taskId })).toHaveLength(1);
    await client.deleteTaskPushNotificationConfig(at);
    await client.deleteTaskPushNotificationConfig(at);
    expect(await client.listTaskPushNotificationConfig({ id: taskId })).toEqual([]);
  });

  test('[A23] fetches the extended card', async () => {
    const { client, agent } = await stage();
    expect(await client.getAgentCard()).toMatchObject({
      name: `@home/${agent.agent.id}`,
      protocolVersion: '0.3.0',
    });
  });

  test('[A1] the older client class finds its way from the card too', async () => {
    const { agent } = await stage();
    const address = `${world().url}/@home/${agent.agent.id}/.well-known/agent-card.json`;
    const client = await A2AClient.fromCardUrl(address, { fetchImpl: withKey(agent.key) });
    const reply = await client.sendMessage(saying('hello'));
    expect(reply).toMatchObject({ result: { kind: 'task', status: { state: 'completed' } } });
  });
});
