import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lanternroom } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { AGENT, CALLBACK_SECRET, launch, OWNER, Server } from '../support/server.ts';
import { given, until } from '../support/until.ts';
import { run } from './commands.ts';

describe('the first start', () => {
  const NO_INIT = {
    LANTERNROOM_INIT_HANDLE: undefined,
    LANTERNROOM_INIT_EMAIL: undefined,
    LANTERNROOM_INIT_PASSWORD: undefined,
    LANTERNROOM_INIT_AGENT: undefined,
    LANTERNROOM_INIT_AGENT_KEY: undefined,
    LANTERNROOM_INIT_CALLBACK_SECRET: undefined,
  };

  function linkIn({ child, url }: Server): string {
    return given(new RegExp(`${url}/setup#(\\S+)`).exec(child.stdout)?.[1], 'setup link');
  }

  function setUp(url: string, token: string): Promise<Response> {
    return fetch(`${url}/desk/setup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, ...OWNER, name: 'Olga' }),
    });
  }

  test('[D8][D29] prints address, setup link and a curl line, and all of them work', async () => {
    const server = await Server.start({ env: NO_INIT });
    const line = given(/^ {2}curl (.*)$/m.exec(server.child.stdout)?.[1], 'curl line');
    const [, url = ''] = /^(\S+)/.exec(line) ?? [];
    const headers = [...line.matchAll(/-H '([^:']+): ([^']*)'/g)].map(([, name = '', value = '']) => [
      name,
      value,
    ]);
    const [, body = ''] = /-d '([^']*)'$/.exec(line) ?? [];
    const reply = await fetch(url, { method: 'POST', headers: Object.fromEntries(headers), body });
    expect(reply.status).toBe(201);

    const first = linkIn(server);
    await server.terminate();
    const again = await server.restart();
    expect(again.child.stdout).not.toContain('curl');
    expect(linkIn(again)).toBe(first);
    expect(again.child.stdout).toContain('the link that was shown before works once, for another');
    expect((await setUp(again.url, first)).status).toBe(201);
    expect((await setUp(again.url, first)).status).toBe(410);
    await again.desk();
    await again.terminate();
    expect((await again.restart()).child.stdout).not.toContain('setup');
  });

  test('[D29] behind a proxy, or for others to reach, it says when its links will name nobody but itself', async () => {
    const proxy = ['--trust-proxy', '127.0.0.2'];
    const unnamed = await Server.start({ args: proxy });
    await until('it says so', () => unnamed.child.stderr.includes('LANTERNROOM_URL'));
    expect(unnamed.child.stderr).toContain(`Links, cards and prompts will name ${unnamed.url}`);
    for (const args of [[], [...proxy, '--url', 'https://desk.example.com']]) {
      const child = launch({ folder: temporaryFolder(), args });
      await until('it says where it is', () => child.stdout.includes('Lanternroom is at'));
      child.process.kill('SIGTERM');
      expect((await child.ended).stderr).not.toContain('LANTERNROOM_URL');
    }
  });

  test('[D29] a start that cannot listen makes nothing, so that the next one is the first and shows its key', async () => {
    const other = await Server.start();
    const { port } = new URL(other.url);
    const folder = join(temporaryFolder(), 'data');
    const certificate = ['--tls-cert', '/dev/null', '--tls-key', '/dev/null'];
    for (const args of [['--port', port], ['--port', '0', '--host', '0.0.0.0'], certificate]) {
      const ended = await lanternroom(['serve', '--data', folder, ...args]);
      expect({ args, ...ended }).toMatchObject({ code: expect.any(Number), stdout: '' });
      expect(ended.code).not.toBe(0);
    }
    const server = await Server.start({ folder, env: NO_INIT });
    expect(server.child.stdout).toContain('Bearer wk_test_');
    const { entries } = await run<{ entries: number }>(folder, 'audit', 'verify');
    const fresh = await Server.start({ env: NO_INIT });
    expect(entries).toBe((await run<{ entries: number }>(fresh.folder, 'audit', 'verify')).entries);
  });

  test('[D29] a start that is refused leaves no master key that would not match the one that is set next', async () => {
    const { port } = new URL((await Server.start()).url);
    const folder = join(temporaryFolder(), 'data');
    const env = { LANTERNROOM_INIT_EMAIL: OWNER.email, LANTERNROOM_INIT_PASSWORD: 'short' };
    const short = await lanternroom(['serve', '--port', '0', '--data', folder], env);
    expect(short).toMatchObject({ code: 2, stdout: '' });
    expect(short.stderr).toBe('LANTERNROOM_INIT_PASSWORD: A password has 8 to 1024 characters.\n');
    const taken = await lanternroom(['serve', '--port', port, '--data', folder]);
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringMatching(/^Port \d+ on \S+ is taken\./)]);
    const secret = 'a master key that an operator has set';
    await Server.start({ folder, env: { LANTERNROOM_SECRET: secret } });
  });

  test('[D29] INIT acts on an empty store only: the same start again, or another, changes nothing', async () => {
    const folder = join(temporaryFolder(), 'data');
    mkdirSync(folder, { mode: 0o700 });
    const server = await Server.start({ folder });
    expect(server.child.stdout).not.toContain(AGENT.key);
    expect(server.child.stdout).not.toContain(CALLBACK_SECRET);
    const before = await run<{ entries: number; head: string }>(folder, 'audit', 'verify');
    await server.terminate();
    const other = {
      LANTERNROOM_INIT_HANDLE: 'elsewhere',
      LANTERNROOM_INIT_EMAIL: 'other@example.com',
      LANTERNROOM_INIT_AGENT: 'other',
    };
    for (const env of [{}, other]) {
      const again = await Server.start({ folder, env });
      const { entries, head } = await run<{ entries: number; head: string }>(folder, 'audit', 'verify');
      expect({ entries, head }).toEqual({ entries: before.entries, head: before.head });
      await again.wake().delivered();
      await again.terminate();
      Object.assign(before, await run(folder, 'audit', 'verify'));
    }
  });
});
