import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, it, onTestFinished } from 'vitest';
import { World } from '../../testing/world.ts';

type Sent = [string | URL | Request, RequestInit | undefined];

/** Asks for everything in its inbox, and keeps the words it asked with. */
async function replaying(world: World, key: string): Promise<{ all(): Promise<unknown>; sent: Sent[] }> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const sent: Sent[] = [];
  const transport = new StreamableHTTPClientTransport(new URL(`${world.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    fetch: (url, init) => {
      sent.push([url, init]);
      return fetch(url, init);
    },
  });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { sent, all: () => client.callTool({ name: 'akep_replay_events', arguments: {} }) };
}

async function fillInbox(world: World, key: string): Promise<void> {
  const wish = { spec: 'akep.v1', sink: 'inbox', event_types: ['*'], delivery: { type: 'long_poll' } };
  expect((await world.post('/akep/subscriptions', wish, key)).status).toBe(201);
  for (let n = 0; n < 8; n++) {
    const content = 'x'.repeat(1_000_000);
    const event = {
      spec: 'akep.v1',
      event_id: `evt_large_${key.slice(-8)}_${n}`,
      event_type: 'knowledge.acquired',
      occurred_at: '2026-11-18T09:00:00Z',
      source: { name: 'agent', type: 'agent' },
      subject: { task_id: 'task_1' },
      knowledge: { kind: 'observation', content_type: 'text/plain', summary: 'Much', content },
      routing: { resume_policy: 'append_only' },
    };
    const reply = await world.post('/akep/emit', event, key);
    expect(reply.status, await reply.text()).toBe(202);
  }
}

/** Reads until the answer is under way, and then no more. */
async function begin([url, init]: Sent): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const reader = (await fetch(url, init)).body?.getReader();
  if (reader === undefined) throw new Error('an answer without a body');
  for (let read = 0; read < 100_000; ) read += (await reader.read()).value?.length ?? 100_000;
  return reader;
}

it('[W29][M3] large answers through MCP keep their places until they were taken', async () => {
  const world = await World.open();
  onTestFinished(() => world.stop());
  const other = await world.addAgent({ id: 'other' });
  for (const key of [world.agent.key, other.key]) await fillInbox(world, key);
  const { all, sent } = await replaying(world, world.agent.key);
  await all();
  const ask = sent.findLast(([, init]) => String(init?.body).includes('akep_replay_events'));
  if (ask === undefined) throw new Error('nothing was asked');
  const again: Sent = [ask[0], { ...ask[1], signal: null }];
  const unread = await Promise.all([begin(again), begin(again), begin(again), begin(again)]);
  let isAnswered = false;
  const fifth = fetch(...again).then(async (reply) => {
    const text = await reply.text();
    isAnswered = true;
    return text;
  });
  // Somebody else is served meanwhile, with as much.
  const others = await replaying(world, other.key);
  for (let times = 0; times < 3; times++) await others.all();
  expect(isAnswered).toBe(false);
  await unread[0]?.cancel();
  expect(await fifth).toContain('evt_large_');
  for (const reader of unread) await reader.cancel();
});

it('[W29][M3] one request holds a few messages and not thousands', async () => {
  const world = await World.open();
  onTestFinished(() => world.stop());
  const ask = async (count: number) => {
    const call = { jsonrpc: '2.0', method: 'tools/call', params: { name: 'wake_responses', arguments: {} } };
    const calls = Array.from({ length: count }, (_, id) => ({ ...call, id }));
    const accept = { accept: 'application/json, text/event-stream' };
    const reply = await world.post('/mcp', calls, undefined, accept);
    const answers = (await reply.text()).split('"structuredContent"').length - 1;
    return [reply.status, answers];
  };
  expect(await ask(10)).toEqual([200, 10]);
  expect(await ask(11)).toEqual([400, 0]);
});
