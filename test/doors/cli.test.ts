import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { AkepClient, sampleEvent } from '../support/akep.ts';
import { Child, LANTERNROOM, lanternroom, node } from '../support/command.ts';
import { Desk } from '../support/desk.ts';
import { temporaryFolder } from '../support/folder.ts';
import { AGENT, OWNER, Server } from '../support/server.ts';
import { each, given } from '../support/until.ts';
import { WakeClient } from '../support/wake.ts';
import { refused, run } from './commands.ts';

type MadeAgent = { agent_id: string; key_id: string; key: string; callback_secret: string };
type MadeKey = { producer_id: string; key_id: string; secret: string };
type Listed = { agents: { agent_id: string; callbacks: string[]; keys: { active: boolean }[] }[] };

describe('on the data of a running server', () => {
  test('[D31][D19] agents, keys, callbacks and secrets take effect at once', async () => {
    const { folder, url } = await Server.start();
    const deliver = async (key: string) =>
      (await new WakeClient(url, key).deliver({ agent_id: 'deployer' })).status;
    const made = await run<MadeAgent>(
      folder,
      'agent',
      'add',
      'deployer',
      '--callback',
      'https://a.example/wake',
    );
    expect(made).toMatchObject({
      agent_id: 'deployer',
      key: expect.stringMatching(/^wk_test_\w{38}$/),
      callback_secret: expect.stringMatching(/^whsec_/),
    });
    expect(await deliver(made.key)).toBe(201);

    const further = await run<MadeAgent>(folder, 'agent', 'key', 'deployer');
    const rotated = await run<MadeAgent>(folder, 'agent', 'rotate', 'deployer');
    expect([await deliver(made.key), await deliver(further.key), await deliver(rotated.key)]).toEqual([
      201, 201, 201,
    ]);
    expect(await run(folder, 'agent', 'revoke', 'deployer', '--key', further.key_id)).toEqual({
      agent_id: 'deployer',
      revoked: [further.key_id],
    });
    expect([await deliver(made.key), await deliver(further.key)]).toEqual([201, 401]);
    await run(folder, 'agent', 'revoke', 'deployer');
    expect([await deliver(made.key), await deliver(rotated.key)]).toEqual([401, 401]);

    expect(await run(folder, 'agent', 'callbacks', 'deployer', 'https://b.example/x')).toMatchObject({
      callbacks: ['https://b.example/x'],
    });
    const callbacks = async (...args: string[]) =>
      (await run<{ callbacks: unknown }>(folder, 'agent', 'callbacks', 'deployer', ...args)).callbacks;
    expect(await callbacks()).toEqual(['https://b.example/x']);
    expect([await callbacks('--nowhere'), await callbacks()]).toEqual([[], []]);
    await callbacks('https://b.example/x');
    const both = ['callbacks', 'deployer', 'https://b.example/x', '--nowhere', '--data', folder];
    await refused(2, /not both/, ['agent', ...both]);
    await refused(1, /no agent with this name/, ['agent', 'callbacks', 'nobody', '--data', folder]);
    expect(await run(folder, 'agent', 'secret', 'deployer')).toMatchObject({
      callback_secret: expect.stringMatching(/^whsec_/),
      old_expires_at: expect.any(String),
    });
    const live = await run<MadeAgent>(folder, 'agent', 'add', 'in-earnest', '--live');
    expect(live.key).toMatch(/^wk_live_/);
    const { agents } = await run<Listed>(folder, 'agent', 'list');
    expect(agents.map((a) => a.agent_id).sort()).toEqual([AGENT.id, 'deployer', 'in-earnest']);
    const deployer = given(
      agents.find((a) => a.agent_id === 'deployer'),
      'deployer',
    );
    expect(deployer).toMatchObject({ callbacks: ['https://b.example/x'] });
    expect(deployer.keys.map((k) => k.active)).toEqual([false, false, false]);
    expect(JSON.stringify(agents)).not.toContain(made.key);
  });

  test('[K5][K24] producers are made, rotated and revoked, by the name they were made with or by id', async () => {
    const { folder, url } = await Server.start();
    const client = new AkepClient(url);
    let sent = 0;
    const send = async ({ secret }: MadeKey) =>
      (await client.send(sampleEvent(`evt_cli_${++sent}`), Buffer.from(secret.slice(6), 'base64'))).status;
    const made = await run<MadeKey>(folder, 'producer', 'add', 'Export Tool');
    expect(made).toMatchObject({
      producer_id: 'prod_export_tool',
      key_id: expect.stringMatching(/^pk_/),
      secret: expect.stringMatching(/^whsec_/),
    });
    expect(await send(made)).toBe(202);
    const second = await run<MadeKey>(folder, 'producer', 'rotate', 'Export Tool');
    const third = await run<MadeKey>(folder, 'producer', 'rotate', made.producer_id);
    expect([await send(made), await send(second), await send(third)]).toEqual([202, 202, 202]);
    expect(await run(folder, 'producer', 'revoke', 'Export Tool', '--key', made.key_id)).toEqual({
      producer_id: made.producer_id,
      revoked: [made.key_id],
    });
    expect([await send(made), await send(third)]).toEqual([400, 202]);
    await run(folder, 'producer', 'revoke', made.producer_id);
    expect(await send(third)).toBe(400);
    await refused(1, /no producer with this id/, ['producer', 'rotate', 'nobody', '--data', folder]);
  });

  test('[K31] the list of producers says what was refused lately, and why', async () => {
    const { folder, url } = await Server.start();
    const made = await run<MadeKey>(folder, 'producer', 'add', 'exporter');
    const client = new AkepClient(url);
    const secret = Buffer.from(made.secret.slice(6), 'base64');
    const listed = async () => (await lanternroom(['producer', 'list', '--data', folder])).stdout;
    expect(await listed()).not.toContain('refused');
    await each([1, 2, 3, 4, 5, 6, 7], async (n) => {
      const event = { ...sampleEvent(`evt_refused_${n}`), 'rm\u001b[2J': 1 };
      expect((await client.send(event, secret)).status).toBe(400);
    });
    const said = await listed();
    expect(
      said.match(/ 400 {2}evt_refused_[3-7] {2}AKEP events carry knowledge, not commands\./g),
    ).toHaveLength(5);
    expect(said).not.toContain('\u001b');
  });

  test('[D31][D4] spaces and people, and their tokens', async () => {
    const { folder, url } = await Server.start();
    const password = 'correct horse staple';
    const person = await run(
      folder,
      'person',
      'add',
      'ann@example.com',
      '--role',
      'decider',
      '--password',
      password,
    );
    expect(person).toMatchObject({ email: 'ann@example.com', role: 'decider', space: 'home' });
    expect(person).not.toHaveProperty('password');
    await Desk.login(url, { email: 'ann@example.com', password });
    const made = await run<{ password: string }>(
      folder,
      'person',
      'add',
      'bob@example.com',
      '--role',
      'reader',
    );
    await Desk.login(url, { email: 'bob@example.com', password: made.password });
    const { people } = await run<{ people: { email: string }[] }>(folder, 'person', 'list');
    expect(people.map((p) => p.email).sort()).toEqual(['ann@example.com', 'bob@example.com', OWNER.email]);

    const { token } = await run<{ token: string }>(folder, 'person', 'token', 'ann@example.com');
    const desk = new Desk(url, { authorization: `Bearer ${token}` });
    expect((await desk.request('GET', '/desk/deliveries')).status).toBe(200);

    const reset = await run<{ password: string }>(folder, 'person', 'reset', 'Ann@example.com');
    expect((await desk.request('GET', '/desk/deliveries')).status).toBe(401);
    await expect(Desk.login(url, { email: 'ann@example.com', password })).rejects.toThrow();
    await Desk.login(url, { email: 'ann@example.com', password: reset.password });
    for (const command of ['reset', 'token'])
      await refused(1, /no person with this e-mail/, ['person', command, 'x@example.com', '--data', folder]);

    expect(await run(folder, 'space', 'add', 'second')).toMatchObject({ space: 'second' });
    expect(await run(folder, 'space', 'list')).toMatchObject({
      spaces: [
        { space: 'home', agents: expect.any(Number), people: 3 },
        { space: 'second', agents: 0, people: 0 },
      ],
    });
    await refused(2, /several spaces \(home, second\).*--space/, ['agent', 'list', '--data', folder]);
    expect(await run<Listed>(folder, 'agent', 'list', '--space', 'second')).toMatchObject({ agents: [] });
    await run(folder, 'agent', 'add', AGENT.id, '--space', 'second');
    const { spaces, ...all } = await run<{ spaces: { space: string; entries: number }[]; entries: number }>(
      folder,
      'audit',
      'verify',
    );
    expect(all).toMatchObject({ ok: true, head: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(spaces.map((s) => s.space)).toEqual(['home', 'second']);
    expect(all.entries).toBe(spaces.reduce((sum, s) => sum + s.entries, 0));
    expect(await run(folder, 'audit', 'verify', '--space', 'second')).toMatchObject({ space: 'second' });
  });

  test('[D31] a mistyped folder is refused, and does not become an empty store', async () => {
    const folder = join(temporaryFolder(), 'mistyped');
    const file = join(temporaryFolder(), 'lanternroom.backup');
    const commands = [
      ['backup', file],
      ['audit', 'verify'],
      ['agent', 'add', 'a'],
      ['person', 'list'],
      ['key', 'status'],
    ];
    await each(
      commands,
      (command) =>
        refused(2, /^There is no data in .*mistyped\. Name its folder/, [...command, '--data', folder]),
      2,
    );
    expect([existsSync(folder), existsSync(file)]).toEqual([false, false]);
    await run(folder, 'space', 'add', 'first');
    expect(await run(folder, 'agent', 'list')).toMatchObject({ space: 'first', agents: [] });
  });

  test('[D32][D21] backup while it runs, restore elsewhere, and everything is there and verified', async () => {
    const server = await Server.start();
    const wake = server.wake();
    const before = await Promise.all(Array.from({ length: 30 }, () => wake.delivered()));
    const file = join(temporaryFolder(), 'copies', 'lanternroom.backup');
    const meanwhile = Promise.all(Array.from({ length: 30 }, () => wake.delivered()));
    const made = await run<{ file: string; bytes: number; secret: string }>(server.folder, 'backup', file);
    await meanwhile;
    expect(made).toMatchObject({ file, bytes: statSync(file).size });
    expect(statSync(file).mode & 0o077).toBe(0);
    await refused(1, /exists\..*--force/, ['backup', file, '--data', server.folder]);
    await run(server.folder, 'backup', file, '--force');

    const folder = join(temporaryFolder(), 'restored');
    await run(folder, 'restore', file);
    writeFileSync(join(folder, 'secret.key'), readFileSync(made.secret), { mode: 0o600 });
    expect(await run(folder, 'audit', 'verify')).toMatchObject({ ok: true, space: 'home' });
    await refused(1, /already holds data\./, ['restore', file, '--data', folder]);
    const fresh = join(temporaryFolder(), 'fresh');
    const env = { DATABASE_URL: 'postgres://nobody@127.0.0.1:9/none' };
    const other = await lanternroom(['restore', file, '--data', fresh], env);
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('names PostgreSQL. Restore it') });
    expect(existsSync(fresh)).toBe(false);
    const restored = await Server.start({ folder });
    for (const id of before) expect((await restored.wake().response(id)).status).toBe(200);
    await restored.desk();
  });

  test('[D32] a backup that fails leaves the one before it as it was', async () => {
    const server = await Server.start();
    await server.wake().delivered();
    await server.terminate();
    const folder = temporaryFolder();
    const file = join(folder, 'lanternroom.backup');
    await run(server.folder, 'backup', file);
    const before = readFileSync(file);
    const argv = node(LANTERNROOM, ['backup', file, '--force', '--data', server.folder]);
    const limit = `--fsize=${Math.floor(before.length / 2)}:unlimited`;
    expect((await new Child(['prlimit', limit, '--', ...argv]).ended).code).toBe(1);
    expect(readdirSync(folder)).toEqual(['lanternroom.backup']);
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  test('[R10][D80] but for the move to another database: that waits until the server has stopped', async () => {
    const server = await Server.start();
    // Nobody listens there: the folder is looked at before the other side is.
    const target = 'postgres://nobody@127.0.0.1:9/none';
    const says = /^A server is already running on .*\. Stop it first, then move its data\.$/m;
    await refused(1, says, ['migrate', '--from', `sqlite:${server.folder}`, '--to', target]);
    await refused(1, says, ['migrate', '--from', target, '--to', `sqlite:${server.folder}`]);
    await server.wake().delivered();
    await server.terminate();
    const after = await lanternroom(['migrate', '--from', `sqlite:${server.folder}`, '--to', target]);
    expect([after.code, after.stderr.includes('already running')]).toEqual([1, false]);
  });

  test('[A18] where pushes of a space may go is shown, set, emptied and dropped', async () => {
    const { folder } = await Server.start();
    const targets = async (...args: string[]) =>
      (await run<{ push_targets: unknown }>(folder, 'space', 'push-targets', ...args)).push_targets;
    expect(await targets()).toBeNull();
    expect(await targets('https://partner.example/hooks')).toEqual(['https://partner.example/hooks']);
    expect(await targets()).toEqual(['https://partner.example/hooks']);
    expect(await targets('--nowhere')).toEqual([]);
    expect(await targets('--anywhere')).toBeNull();
    const data = ['--data', folder];
    await refused(2, /only one of them/, ['space', 'push-targets', '--anywhere', '--nowhere', ...data]);
    await refused(2, /https:/, ['space', 'push-targets', 'http://partner.example', ...data]);
  });

  test('[D32] what is not a backup is not restored', async () => {
    const folder = join(temporaryFolder(), 'restored');
    const file = join(temporaryFolder(), 'file');
    await refused(1, /no backup at/, ['restore', file, '--data', folder]);
    for (const content of ['', 'not a database at all', 'SQLite format 3\0'.padEnd(4096, 'x')]) {
      writeFileSync(file, content);
      await refused(1, /not a sound backup .*Nothing was restored\./, ['restore', file, '--data', folder]);
    }
    expect(existsSync(folder) ? readdirSync(folder) : []).toEqual([]);
  });

  test('[D32] a place where no folder can be made is refused at once', async () => {
    const { folder } = await Server.start();
    const file = join(temporaryFolder(), 'lanternroom.backup');
    await run(folder, 'backup', file);
    const says = /^The (data )?folder \/proc\/\S+ cannot be made\. .*choose another/;
    await refused(1, says, ['restore', file, '--data', '/proc/x']);
    await refused(1, says, ['backup', '/proc/x/lanternroom.backup', '--data', folder]);
    await refused(1, says, ['space', 'add', 'first', '--data', '/proc/x']);
  });

  test('[D32] doctor says what is wrong and what to do', async () => {
    const folder = join(temporaryFolder(), 'data');
    const server = await Server.start({ folder });
    await server.wake().delivered();
    type Findings = { ok: boolean; findings: { ok: boolean; what: string }[] };
    const well = await run<Findings>(folder, 'doctor');
    expect(well.findings.filter((f) => !f.ok)).toEqual([]);
    expect(well.findings.map((f) => f.what).join('\n')).toMatch(/sound[\s\S]*record of @home is whole/);
    chmodSync(folder, 0o755);
    const { code, stdout, stderr } = await lanternroom(['doctor', '--json', '--data', folder]);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: expect.stringMatching(/^1 of \d+ checks failed\.\n$/),
    });
    const { ok, findings } = JSON.parse(stdout) as Findings;
    expect([ok, findings.filter((f) => !f.ok)]).toEqual([
      false,
      [{ ok: false, what: expect.stringContaining(`chmod 700 ${folder}`) }],
    ]);
  });

  test('[D31][D29] config shows the value in force, wherever it comes from, and no secret', async () => {
    const folder = temporaryFolder();
    const file = { LANTERNROOM_PORT: 9999, LANTERNROOM_UNDO_SECONDS: 3, LANTERNROOM_SECRET: 'x'.repeat(30) };
    writeFileSync(join(folder, 'lanternroom.json'), JSON.stringify(file));
    const args = ['config', '--json', '--data', folder];
    const { code, stdout } = await lanternroom(args, { LANTERNROOM_UNDO_SECONDS: '4' });
    const { settings } = JSON.parse(stdout) as { settings: { name: string; value: string | null }[] };
    const value = (name: string) => settings.find((s) => s.name === name)?.value;
    expect(code).toBe(0);
    expect({
      port: value('LANTERNROOM_PORT'),
      undo: value('LANTERNROOM_UNDO_SECONDS'),
      secret: value('LANTERNROOM_SECRET'),
      data: value('LANTERNROOM_DATA'),
      log: value('LANTERNROOM_LOG'),
      password: value('LANTERNROOM_INIT_PASSWORD'),
    }).toEqual({ port: '9999', undo: '4', secret: '(set)', data: folder, log: 'info', password: null });
  });
});

describe('wrong usage and help', () => {
  test('[D31] wrong usage ends with 2, what cannot be done with 1, in one sentence', async () => {
    const { folder } = await Server.start();
    const data = ['--data', folder];
    await refused(2, /no command "nonsense"/, ['nonsense']);
    await refused(2, /no command "agents"\. Did you mean agent\? \(lanternroom --help\)/, ['agents', 'frob']);
    await refused(2, /no command "nonsense" \(lanternroom agent --help\)/, ['agent', 'nonsense']);
    await refused(2, /no command "liste"\. Did you mean list\?/, ['agent', 'liste']);
    await refused(2, /^Say what to do: lanternroom audit verify \(lanternroom audit --help\)\n$/, ['audit']);
    await refused(2, /^Say what to do: lanternroom agent add \| list .*\(lanternroom agent --help\)/, [
      'agent',
    ]);
    await refused(2, /missing required argument 'name'/, ['agent', 'add', ...data]);
    await refused(2, /unknown option '--nonsense'/, ['agent', 'list', '--nonsense', ...data]);
    await refused(2, /agent id has/, ['agent', 'add', 'no name!', ...data]);
    await refused(2, /role must be one of/, ['person', 'add', 'c@example.com', '--role', 'king', ...data]);
    await refused(2, /no space nowhere here/, ['agent', 'list', '--space', 'nowhere', ...data]);
    await refused(1, /already an agent named/, ['agent', 'add', AGENT.id, ...data]);
    // A key is shown once: if it is written to a full disk, the command must not look successful.
    const intoFullDisk = ['sh', '-c', 'exec "$@" > /dev/full', 'sh'];
    const command = node(LANTERNROOM, ['agent', 'key', AGENT.id, ...data]);
    const lost = await new Child([...intoFullDisk, ...command]).ended;
    expect(lost).toMatchObject({ code: 1, stderr: expect.stringContaining('could not be written (ENOSPC)') });
    await refused(1, /no agent/, ['agent', 'rotate', 'nobody', ...data]);
  });

  const COMMANDS = [
    ['serve'],
    ...['add', 'list', 'key', 'rotate', 'revoke', 'callbacks', 'secret'].map((name) => ['agent', name]),
    ...['add', 'list', 'reset', 'token'].map((name) => ['person', name]),
    ...['add', 'list', 'push-targets'].map((name) => ['space', name]),
    ['migrate'],
    ...['status', 'rotate', 'drop'].map((name) => ['key', name]),
    ['audit', 'verify'],
    ['backup'],
    ['restore'],
    ['doctor'],
    ['config'],
  ];

  test('[D31] every command has help with an example, and nearly all have --json and --data', async () => {
    const examine = async (command: string[]) => {
      const { code, stdout, stderr } = await lanternroom([...command, '--help']);
      expect({ command, code, stderr }).toEqual({ command, code: 0, stderr: '' });
      expect([command, stdout]).toEqual([command, expect.stringMatching(/Examples?:\n {2}lanternroom /)]);
      if (command.length > 0) expect(stdout).toContain('--data');
      if (command.length > 0 && command[0] !== 'serve') expect(stdout).toContain('--json');
    };
    await each([[], ...COMMANDS], examine, 2);
  });
});
