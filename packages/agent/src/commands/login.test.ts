import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { KEY, received, type Seen, startWorld } from '../testing/room.ts';

const DELIVER = ['deliver', '-t', 'update', '-H', 'Done', '-s', 'It is done.'];
const NO_ENV = { WAKE_API_KEY: undefined, LANTERN_URL: undefined, WAKE_AGENT_ID: undefined };
const CARD = { name: 'lanternroom', versions: ['1.0'], agent_id: 'research-agent-01' };

function room(over: Record<string, unknown> = {}, status = 200) {
  return startWorld((seen) => {
    if (seen.url === '/.well-known/wake.json') return { status, body: { ...CARD, ...over } };
    if (seen.url === '/openapi.json') return { status: 200, body: { info: { version: '0.1.0' } } };
    return received;
  });
}

const keyOf = (seen: Seen | undefined) => seen?.headers.authorization;

describe('lantern login', () => {
  it('[W23] keeps key and address in a file of one owner, and later commands need no environment', async () => {
    const world = await room();
    const { code, out } = await world.run(['login', '--url', world.url], { env: NO_ENV, stdin: `${KEY}\n` });
    const file = join(world.folder, '.config/lantern/login.json');
    expect(code).toBe(0);
    expect(out).toContain('as research-agent-01');
    expect(out).not.toContain(KEY);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      url: world.url,
      api_key: KEY,
      agent_id: 'research-agent-01',
    });
    expect((await world.run(DELIVER, { env: NO_ENV })).code).toBe(0);
    expect(keyOf(world.seen.at(-1))).toBe(`Bearer ${KEY}`);
    expect(JSON.parse(world.seen.at(-1)?.body ?? '').agent_id).toBe('research-agent-01');
    // The agent is known, so nobody is asked for it again.
    expect(world.seen.filter(({ url }) => url === '/.well-known/wake.json')).toHaveLength(1);
    expect((await world.run(['login', '--remove'], { env: NO_ENV })).out).toContain('Logged out');
    expect((await world.run(DELIVER, { env: NO_ENV })).err).toMatch(/lantern login/);
  });

  it('[W23] the environment wins, and a kept key goes to its own server only', async () => {
    const world = await room();
    const other = await room();
    await world.run(['login', '--url', world.url], { env: NO_ENV, stdin: KEY });
    const mine = 'wk_test_another';
    await world.run(DELIVER, { env: { ...NO_ENV, WAKE_API_KEY: mine, LANTERN_URL: other.url } });
    expect(other.seen.map(keyOf)).toEqual([`Bearer ${mine}`, `Bearer ${mine}`]);
    const refused = await world.run(DELIVER, { env: { ...NO_ENV, LANTERN_URL: other.url } });
    expect(refused.code).toBe(2);
    expect(refused.err).toContain(`is for ${world.url}, not for ${other.url}`);
    expect(other.seen).toHaveLength(2);
  });

  it.each([
    ['a refused key', {}, 401, /does not accept this key/],
    ['another kind of server', { versions: undefined }, 200, /no WAKE server/],
    ['a server that does not know whose key it is', { agent_id: undefined }, 200, /which agent/],
  ])('[W23] %s is not kept', async (_, over, status, says) => {
    const world = await room(over, status);
    const { code, err } = await world.run(['login', '--url', world.url], { env: NO_ENV, stdin: KEY });
    expect([code, err]).toEqual([1, expect.stringMatching(says)]);
    expect(err).not.toContain(KEY);
    expect((await world.run(DELIVER, { env: NO_ENV })).code).toBe(2);
  });

  it.each([
    ['http to a far host', ['--url', 'http://desk.example.com'], KEY, /https/],
    ['no address', ['--url', 'nonsense'], KEY, /not a URL/],
    ['no key', [], '', /No key was given/],
  ])('[W23] %s is wrong usage, and nothing is sent', async (_, argv, stdin, says) => {
    const world = await room();
    const { code, err } = await world.run(['login', ...argv], { env: NO_ENV, stdin });
    expect([code, err]).toEqual([2, expect.stringMatching(says)]);
    expect(world.seen).toEqual([]);
  });

  it('[W23] a login file that is broken says so', async () => {
    const world = await room();
    await world.run(['login', '--url', world.url], { env: NO_ENV, stdin: KEY });
    writeFileSync(join(world.folder, '.config/lantern/login.json'), '{"url":1}');
    expect(await world.run(DELIVER, { env: NO_ENV })).toMatchObject({
      code: 2,
      err: expect.stringContaining('is not a login'),
    });
  });
});

describe('lantern doctor', () => {
  it('[W23] says that all is well', async () => {
    const world = await room();
    const { code, out } = await world.run(['doctor']);
    expect(code).toBe(0);
    expect(out).toContain('the agent is research-agent-01');
    expect(out).toContain('the clocks agree');
    expect(out).not.toContain('BAD');
    expect(out).not.toContain(KEY);
  });

  it('[W5] says how much the key may deliver: a limit that is met looks like a hang', async () => {
    const limits = { deliveries: { test: { per_hour: 20, burst: 5 } } };
    const says = async (over: Record<string, unknown>) => (await (await room(over)).run(['doctor'])).out;
    expect(await says({ tier: 'test', limits })).toContain(
      'the agent is research-agent-01 (test key: 20 deliveries an hour, 5 at once)\n',
    );
    expect(await says({ tier: 'live', limits })).toContain('the agent is research-agent-01 (live key)\n');
    expect(await says({ tier: 7, limits: null })).toContain('the agent is research-agent-01\n');
  });

  it('[D31] --json is one object for programs, well or not', async () => {
    const well = await (await room()).run(['doctor', '--json']);
    expect([well.code, well.err, JSON.parse(well.out)]).toMatchObject([0, '', { ok: true }]);
    const unwell = await (await room({}, 401)).run(['doctor', '--json']);
    expect([unwell.code, unwell.err]).toEqual([1, '']);
    const { ok, findings } = JSON.parse(unwell.out);
    expect([ok, findings.at(-1)]).toEqual([
      false,
      { ok: false, what: expect.stringMatching(/does not accept/) },
    ]);
  });

  it.each([
    ['no server', { LANTERN_URL: 'http://127.0.0.1:1' }, {}, 200, /Nothing answers.*npm start/],
    ['a refused key', {}, {}, 401, /does not accept this key/],
    ['no key', { WAKE_API_KEY: undefined }, {}, 200, /Set WAKE_API_KEY/],
    ['http to a far host', { LANTERN_URL: 'http://desk.example.com' }, {}, 200, /https/],
    ['a live key in the clear', { WAKE_API_KEY: 'wk_live_abc' }, {}, 200, /wk_test_/],
    ["another agent's key", {}, { agent_id: 'other' }, 200, /belongs to other, but research-agent-01/],
    ['a newer major version', {}, { versions: ['2.0'] }, 200, /upgrade lantern/],
    ['an older major version', {}, { versions: ['0.9'] }, 200, /upgrade the server/],
  ])('[W23] %s is found, with what to do', async (_, env, card, status, says) => {
    const world = await room(card, status);
    const { code, out } = await world.run(['doctor'], { env });
    expect(code).toBe(1);
    expect(out.split('\n').find((line) => line.startsWith('BAD '))).toMatch(says);
    expect(out).not.toContain(KEY);
  });

  it('[W23] an address that nobody gave is called so', async () => {
    const world = await room();
    const given = await world.run(['doctor']);
    expect(given.out).toContain('key and address from the environment');
    const { out } = await world.run(['doctor'], { env: { LANTERN_URL: undefined } });
    expect(out).toContain('LANTERN_URL is not set, so the address is http://127.0.0.1:8787');
  });

  it('[W23] a login that cannot be kept, or taken away, is told with the file and the reason', async () => {
    const world = await room();
    const file = join(world.folder, '.config', 'lantern', 'login.json');
    mkdirSync(join(file, 'in the way'), { recursive: true });
    for (const [argv, verb] of [
      [['login'], 'written'],
      [['login', '--remove'], 'read'],
    ] as const) {
      const { code, out, err } = await world.run(argv, { stdin: KEY });
      expect({ code: code > 0, out }).toEqual({ code: true, out: '' });
      expect(err).toMatch(new RegExp(`^lantern: ${file} cannot be ${verb} \\(E\\w+\\): check .*\\.\n$`));
    }
    expect(readdirSync(join(world.folder, '.config', 'lantern'))).toEqual(['login.json']);
  });

  it('[W23] a log that cannot be written is found', async () => {
    const world = await room();
    writeFileSync(join(world.folder, 'file'), '');
    const { code, out } = await world.run(['doctor'], {
      env: { LANTERN_LOG: join(world.folder, 'file', 'log.jsonl') },
    });
    expect(code).toBe(1);
    expect(out).toMatch(/BAD {2}The local log .* cannot be written .*LANTERN_LOG/);
  });

  it('[W23] clocks that differ are found, and on which side', async () => {
    const world = await room();
    const late = await world.run(['doctor'], { nowMs: Date.now() - 600_000 });
    expect(late.out).toMatch(/BAD {2}this clock is (599|600|601) s behind the server's: set it by NTP/);
    expect((await world.run(['doctor'], { nowMs: Date.now() + 600_000 })).out).toMatch(
      /ahead of the server's/,
    );
  });

  it('[W23] a login that others can read is found', async () => {
    const world = await room();
    await world.run(['login', '--url', world.url], { env: NO_ENV, stdin: KEY });
    chmodSync(join(world.folder, '.config/lantern/login.json'), 0o644);
    expect((await world.run(['doctor'], { env: NO_ENV })).out).toMatch(/BAD .*can be read by others/);
  });
});
