import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { Child, cleanEnvironment, LANTERN, lantern, node } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { AGENT, newAgent, Server } from '../support/server.ts';

type Facts = Record<string, unknown>;
type Called = { isError?: boolean; structuredContent?: Facts; content: { text?: string }[] };

const QUESTION = { type: 'question', headline: 'Release 2.1 is ready', summary: 'Ship it today?' };
const RECENT = 'akep://events/recent';

async function machine() {
  const server = await Server.start({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
  const log = join(temporaryFolder(), 'log.jsonl');
  const env = { HOME: temporaryFolder(), LANTERN_URL: server.url, WAKE_API_KEY: AGENT.key, LANTERN_LOG: log };
  return { server, log, env, desk: await server.desk() };
}

function started(env: Facts) {
  const all = Object.entries(cleanEnvironment(env as Record<string, string>));
  const clean = Object.fromEntries(all.filter((pair): pair is [string, string] => pair[1] !== undefined));
  return { command: process.execPath, args: [LANTERN, 'mcp'], env: clean };
}

async function modern(env: Facts): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StdioClientTransport(started(env)));
  onTestFinished(() => client.close());
  return client;
}

async function legacy(env: Facts): Promise<OldClient> {
  const client = new OldClient({ name: 'test', version: '1' });
  await client.connect(new OldTransport(started(env)));
  onTestFinished(() => client.close());
  return client;
}

async function call(client: Client | OldClient, name: string, given: Facts): Promise<Called> {
  const ask = client.callTool.bind(client) as (wish: { name: string; arguments: Facts }) => Promise<unknown>;
  return (await ask({ name, arguments: given })) as Called;
}

test.each(['modern', 'legacy'])('[M9][M7] lantern mcp, spoken to by a %s client', async (line) => {
  const { env, desk, server } = await machine();
  const client = line === 'modern' ? await modern(env) : await legacy(env);
  const { tools } = await client.listTools();
  expect(tools).toHaveLength(9);

  const told = new Promise<string>((resolve) => {
    if (client instanceof Client) {
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri));
    } else {
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params.uri));
    }
  });
  if (client instanceof Client) await client.listen({ resourceSubscriptions: [RECENT] });
  else await client.subscribeResource({ uri: RECENT });

  const delivered = await call(client, 'wake_deliver', QUESTION);
  const { delivery_id, desk_url } = delivered.structuredContent ?? {};
  expect(desk_url).toBe(`${server.url}/d/${delivery_id}`);
  await desk.decide(String(delivery_id), { status: 'approved', feedback: 'Yes.' });
  const answered = await call(client, 'wake_check_response', { delivery_id, wait_seconds: 30 });
  expect(answered.structuredContent).toMatchObject({
    status: 'approved',
    may_proceed: true,
    feedback: 'Yes.',
  });
  // The decision is also an event in the inbox, and the client is told of it.
  expect(await told).toBe(RECENT);
  const { structuredContent } = await call(client, 'akep_replay_events', {});
  expect(structuredContent).toMatchObject({ events: [{ event_type: 'human.approved' }] });
});

test('[M3][A1] another agent of the server is reached by the name on its card as well', async () => {
  const { env, desk } = await machine();
  const { id } = await newAgent(desk);
  const client = await modern(env);
  const sent = await call(client, 'a2a_send', { agent: `@home/${id}`, text: 'Hello.' });
  const task_id = (sent.structuredContent?.task as Facts | undefined)?.id;
  const looked = await call(client, 'a2a_get_task', { agent: `/@home/${id}`, task_id });
  expect(looked.structuredContent).toMatchObject({ task: { id: task_id } });
  const outside = await call(client, 'a2a_send', { agent: '//@home/x', text: 'Hello.' });
  expect(outside.content[0]?.text).toMatch(/^wrong_usage: /);
});

test('[M10] an answer to what this machine never asked is refused, and that is on the record', async () => {
  const { env, server, log } = await machine();
  const foreign = await server.wake().delivered();
  const client = await modern(env);
  const { isError, content } = await call(client, 'wake_check_response', { delivery_id: foreign });
  expect(isError).toBe(true);
  expect(content[0]?.text).toMatch(
    /^foreign_delivery: .*not made by this client.*that wake_deliver has returned/,
  );
  const task = client.request({ method: 'tasks/get', params: { taskId: foreign } }, z.looseObject({}));
  await expect(task).rejects.toThrow(/not made by this client.*that wake_deliver has returned/);
  expect((await call(client, 'wake_responses', { statuses: ['pending'] })).structuredContent).toMatchObject({
    responses: [],
  });
  expect(readFileSync(log, 'utf8')).toMatch(new RegExp(`"event":"refused".*"delivery_id":"${foreign}"`));
});

test('[M11] a server that is not there, and a wrong key, are sentences of the tools', async () => {
  const { env } = await machine();
  const gone = await modern({ ...env, LANTERN_URL: 'http://127.0.0.1:1' });
  const nothing = await call(gone, 'wake_deliver', QUESTION);
  expect([nothing.isError, nothing.content[0]?.text]).toEqual([
    true,
    expect.stringMatching(/^unreachable: Nothing answers/),
  ]);
  const wrong = await modern({ ...env, WAKE_API_KEY: 'wk_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz' });
  const refused = await call(wrong, 'wake_deliver', QUESTION);
  expect(refused.content[0]?.text).toMatch(/^unauthorized: .*ask a person for a new key/);
  const ended = await lantern(['mcp'], { ...env, WAKE_API_KEY: '' });
  expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringMatching(/WAKE_API_KEY/) });
});

test('[M9] it ends when its client goes away', async () => {
  const { env } = await machine();
  // Standard input is closed from the start here, as it is when a host has died.
  expect(await lantern(['mcp'], env)).toMatchObject({ code: 0, stdout: '' });
});

test('[M9] what was asked before the input ended is answered', async () => {
  const { env } = await machine();
  const initialize = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'pipe', version: '1' },
  };
  const calls = [
    { id: 1, method: 'initialize', params: initialize },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/list' },
    { id: 3, method: 'tools/call', params: { name: 'wake_deliver', arguments: QUESTION } },
  ].map((call) => JSON.stringify({ jsonrpc: '2.0', ...call }));
  const file = join(temporaryFolder(), 'calls.jsonl');
  // A line that is not a message becomes one sentence on standard error.
  writeFileSync(file, `${calls.join('\n')}\n[]\n`);
  const piped = ['sh', '-c', 'cat "$0" | "$@"', file, ...node(LANTERN, ['mcp'])];
  const { code, stdout, stderr } = await new Child(piped, env).ended;
  expect(stderr).toBe('lantern mcp: Skipped a line that is not a JSON-RPC 2.0 message.\n');
  const answers = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id?: number; error?: unknown });
  expect({ code, ids: answers.map(({ id }) => id) }).toEqual({ code: 0, ids: [1, 2, 3] });
  expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
});

test.each(['modern', 'legacy'])(
  '[M9] a %s client that sends too much is told so, and goes on',
  async (line) => {
    const { env } = await machine();
    const client = line === 'modern' ? await modern(env) : await legacy(env);
    const details = 'x'.repeat(10 * 1024 * 1024);
    const small = call(client, 'wake_deliver', QUESTION);
    await expect(call(client, 'wake_deliver', { ...QUESTION, details })).rejects.toThrow(
      /is too long.*a link/,
    );
    expect((await small).structuredContent).toMatchObject({ status: 'received' });
    expect((await call(client, 'wake_deliver', QUESTION)).isError).not.toBe(true);
  },
);
