import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ManualClock, World } from '../../packages/server/src/testing/world.ts';
import { WEBHOOK_SECRET } from '../support/akep.ts';
import { Child, type Environment, node } from '../support/command.ts';
import { inRepo, temporaryFolder } from '../support/folder.ts';
import { AGENT, Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { WakeClient } from '../support/wake.ts';

const HOUR = 3_600_000_000;

/** A recipe's programs, run as its text says, against a server of their own. */
async function kitchen(over: Environment = {}) {
  const server = await Server.start({
    env: { AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET, LANTERNROOM_UNDO_SECONDS: '0' },
  });
  const folder = temporaryFolder();
  const env = {
    LANTERN_URL: server.url,
    WAKE_API_KEY: AGENT.key,
    AKEP_PRODUCER_ID: 'prod_environment',
    AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STATE_FOLDER: folder,
    HOME: folder,
    ...over,
  };
  const start = (recipe: string, args: string[] = []) =>
    new Child(node(inRepo(`docs/cookbook/${recipe}`), args), env);
  return { server, folder, start, run: (recipe: string, args: string[] = []) => said(start(recipe, args)) };
}

async function said(child: Child): Promise<string[]> {
  const { code, stdout, stderr } = await child.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout.split('\n').filter(Boolean);
}

function toolReported(server: Server): Promise<unknown> {
  const headers = { authorization: `Bearer ${AGENT.key}` };
  return until('the tool has reported', async () => {
    const reply = await fetch(`${server.url}/akep/tasks/export-1`, { headers });
    return reply.status === 200;
  });
}

it('[K20][K21] long-running tool: the agent sleeps, the tool finishes, the agent goes on where it was', async () => {
  const { run, server } = await kitchen();
  await run('long-running-tool/agent.mjs', ['start', 'export-1']);
  // On a busy machine the tool may be done before anybody looks: what counts is that it is told once.
  const early = await run('long-running-tool/agent.mjs', ['wake']);
  await toolReported(server);
  const late = await run('long-running-tool/agent.mjs', ['wake']);
  expect([...early, ...late]).toEqual([
    'The export has 1200 rows. Going on: Send the export to the accountant.',
  ]);
  expect(await run('long-running-tool/agent.mjs', ['wake'])).toEqual([]);
});

it('[K20][K21] long-running tool: a result that is ready while the server is away is reported when it is back', async () => {
  const { start, server } = await kitchen();
  await server.kill();
  const tool = start('long-running-tool/tool.mjs', ['export-1', '0']);
  await until('the tool has met nobody', () => tool.stderr.includes('Trying on'));
  const { folder, url } = server;
  const back = await Server.start({
    env: { AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET },
    folder,
    args: ['--port', new URL(url).port],
  });
  expect((await tool.ended).code).toBe(0);
  await toolReported(back);
});

it('[K11][K20] the recipes can be tried one after the other, in one folder and with one key', async () => {
  const { run, server } = await kitchen();
  await run('long-running-tool/agent.mjs', ['start', 'export-1']);
  await toolReported(server);
  await run('knowledge-while-asleep/sensor.mjs', ['-18']);
  expect(await run('knowledge-while-asleep/agent.mjs')).toEqual(['learned: -18']);
  expect(await run('long-running-tool/agent.mjs', ['wake'])).toEqual([
    'The export has 1200 rows. Going on: Send the export to the accountant.',
  ]);
});

it('[W23][W12] refund after hours: asked once, approved eight hours later, paid once', async () => {
  const clock = new ManualClock();
  const world = await World.open({ clock });
  onTestFinished(() => world.stop());
  const folder = temporaryFolder();
  const env = { LANTERN_URL: world.url, WAKE_API_KEY: world.agent.key, STATE_FOLDER: folder, HOME: folder };
  const cron = () => said(new Child(node(inRepo('docs/cookbook/refund-after-hours/agent.mjs')), env));
  expect(await cron()).toEqual(['Nobody has decided yet.']);
  await world.tick(8 * HOUR);
  expect(await cron()).toEqual(['Nobody has decided yet.']);
  const list = await world.desk('GET', '/desk/deliveries');
  const { deliveries } = (await list.json()) as { deliveries: { delivery_id: string }[] };
  expect(deliveries).toHaveLength(1);
  await world.decide(deliveries[0]?.delivery_id ?? '', { status: 'approved' });
  // Held for the undo window: still invisible to the agent.
  expect(await cron()).toEqual(['Nobody has decided yet.']);
  await world.tick(HOUR);
  expect(await cron()).toEqual(['Refunded 40 for A-17.']);
  expect(await cron()).toEqual([]);
});

it('[K11][K13] knowledge while asleep: what came in the night is learned in order, once, and the alert is single', async () => {
  const { run, server } = await kitchen();
  expect(await run('knowledge-while-asleep/sensor.mjs', ['-18', '-12', '-17'])).toEqual([
    'reported -18',
    'reported -12',
    'reported -17',
  ]);
  expect(await run('knowledge-while-asleep/sensor.mjs', ['-18'])).toEqual(['known already']);
  expect(await run('knowledge-while-asleep/agent.mjs')).toEqual([
    'learned: -18',
    'learned: -12',
    'learned: -17',
  ]);
  expect(await run('knowledge-while-asleep/agent.mjs')).toEqual([]);
  const desk = await server.desk();
  const { json } = await desk.request<{ deliveries: { type: string; summary: string }[] }>(
    'GET',
    '/desk/deliveries',
  );
  expect(json.deliveries.map(({ type }) => type)).toEqual(['alert']);
  expect(json.deliveries[0]?.summary).toContain('-12 °C');
});

it('[K11] file watcher: a new file and its change reach the agent', async () => {
  const { start, folder } = await kitchen();
  const watched = join(temporaryFolder(), 'invoices'); // nobody has made it
  const watcher = start('file-watcher/watcher.mjs', [watched]);
  const agent = start('file-watcher/agent.mjs');
  await until('the watcher watches', () => watcher.stdout.includes('Watching'));
  writeFileSync(join(watched, 'order.csv'), 'A-17,40\n');
  await until('the agent has seen it', () => agent.stdout.includes('order.csv: 8 bytes'));
  writeFileSync(join(watched, 'order.csv'), 'A-17,40\nB-2,900\n');
  await until('the agent has seen the change', () => agent.stdout.includes('order.csv: 16 bytes'));
  agent.process.kill('SIGTERM');
  expect((await agent.ended).stdout).toContain('stopped');
  expect(readFileSync(join(folder, 'file-watcher.cursor'), 'utf8')).not.toBe('');
  expect(watcher.stderr).toBe('');
});

it('[W19] manager: ten agents, every answer once, also when one key is refused', async () => {
  const { run, start, server, folder } = await kitchen();
  const desk = await server.desk();
  const agents = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      const name = `crew-${index}`;
      const { json } = await desk.request<{ key: string }>('POST', '/desk/agents', { agent_id: name });
      return { name, key: json.key };
    }),
  );
  writeFileSync(join(folder, 'agents.json'), JSON.stringify(agents));
  const deliver = async ({ name, key }: { name: string; key: string }) => {
    const id = await new WakeClient(server.url, key).delivered({ agent_id: name });
    await desk.decide(id, { status: 'approved' });
    return `${name} approved ${id}`;
  };
  const first = await Promise.all(agents.map(deliver));
  expect((await run('manager/manager.mjs', ['--once'])).sort()).toEqual(first.sort());
  expect(await run('manager/manager.mjs', ['--once'])).toEqual([]);
  const [lone] = agents;
  if (lone === undefined) throw new Error('there are ten');
  const second = await deliver(lone);
  writeFileSync(
    join(folder, 'agents.json'),
    JSON.stringify([{ name: 'gone', key: 'wk_test_gone' }, ...agents]),
  );
  const { stdout, stderr } = await start('manager/manager.mjs', ['--once']).ended;
  expect(stdout.trim()).toBe(second);
  expect(stderr).toContain('does not accept this API key');
});

it('[A14][A17] hand-off: one agent hands work to another that was asleep, a person signs off, both see the end', async () => {
  const { start, server } = await kitchen();
  const desk = await server.desk();
  const { json } = await desk.request<{ key: string }>('POST', '/desk/agents', { agent_id: 'reviewer' });
  const writer = start('hand-off/writer.mjs', [`${server.url}/@home/reviewer`]);
  await until('the work is handed over', () => writer.stdout.includes('handed over'));
  const env = { LANTERN_URL: server.url, WAKE_API_KEY: json.key, STATE_FOLDER: temporaryFolder() };
  new Child(node(inRepo('docs/cookbook/hand-off/reviewer.mjs')), env);
  const id = await until('the question is on the desk', async () => {
    const list = await desk.request<{ deliveries: { delivery_id: string; agent_id: string }[] }>(
      'GET',
      '/desk/deliveries',
    );
    return list.json.deliveries.find(({ agent_id }) => agent_id === 'reviewer')?.delivery_id;
  });
  await desk.decide(id, { status: 'approved' });
  const lines = await said(writer);
  expect(lines.at(-1)).toBe('Signed off by a person.');
  expect(lines.join('\n')).toContain('completed: The notes are signed.');
});
