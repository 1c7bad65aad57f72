import { describe, expect, test } from 'vitest';
import { type Environment, lanternroom } from '../support/command.ts';
import { Desk } from '../support/desk.ts';
import { LaptopSocket } from '../support/laptop-socket.ts';
import { usePostgres } from '../support/postgres.ts';
import { SECRET, startReplica } from '../support/replicas.ts';
import { newAgent, OWNER, Server } from '../support/server.ts';
import { until } from '../support/until.ts';

const cluster = usePostgres();

type Stage = { server: Server; run(...args: string[]): Promise<void> };

/** A server, and the command line on what it works with. */
async function onFile(): Promise<Stage> {
  const server = await Server.start();
  return { server, run: commands(server) };
}

async function onPostgres(): Promise<Stage> {
  const url = await cluster.database();
  const server = await startReplica(url);
  return { server, run: commands(server, { DATABASE_URL: url, LANTERNROOM_SECRET: SECRET }) };
}

function commands({ folder }: Server, env: Environment = {}) {
  return async (...args: string[]) => {
    const { code, stderr } = await lanternroom([...args, '--data', folder], env);
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  };
}

describe.each([
  ['SQLite', onFile],
  ['PostgreSQL', onPostgres],
])('beside a server on %s', (_, stage) => {
  test('[D91] an open desk is told what commands change, also by several at once', async () => {
    const { server, run } = await stage();
    const live = await (await server.desk()).listen();
    const isTold = (about: string) => () => live.text().includes(`{"about":"${about}"}`);
    await Promise.all([
      run('agent', 'add', 'deployer'),
      run('person', 'add', 'ada@example.com', '--role', 'decider', '--password', OWNER.password),
      run('producer', 'add', 'Export Tool'),
    ]);
    await until('agents', isTold('agents'));
    await until('people', isTold('people'));
    await until('producers', isTold('producers'));
  });

  test('[D91][W28] what waits and listens with a key ends when a command revokes it', async () => {
    const { server, run } = await stage();
    const agent = await newAgent(await server.desk());
    const id = await server.wake(agent.key).delivered({ agent_id: agent.id });
    const headers = { authorization: `Bearer ${agent.key}` };
    const answer = server.wake(agent.key).response(id, 60);
    const event = fetch(`${server.url}/akep/events/wait?timeout_seconds=60`, { headers });
    const stream = await fetch(`${server.url}/akep/events/stream`, { headers });
    const laptop = await LaptopSocket.connect(server.url, agent.key);
    const relay = await LaptopSocket.connect(server.url, agent.key, '/akep/relay');
    await run('agent', 'revoke', agent.id);
    expect([(await answer).status, (await event).status]).toEqual([401, 403]);
    expect([(await laptop.closed).code, (await relay.closed).code]).toEqual([1008, 1008]);
    expect(await stream.text()).toContain('event: reconnect');
  });

  test('[D91][D56] an open desk ends when a command resets its person', async () => {
    const { server, run } = await stage();
    const desk = await Desk.login(server.url, OWNER);
    const live = await desk.listen();
    await run('person', 'reset', OWNER.email);
    await live.ended;
    expect(live.text()).toContain('event: reconnect');
    expect((await desk.request('GET', '/desk/overview')).status).toBe(401);
  });
});
