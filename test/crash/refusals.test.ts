import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../packages/server/src/config.ts';
import { Child, type Ended, LANTERNROOM, lanternroom, node } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { launch, Server, type ServerOptions } from '../support/server.ts';
import { each } from '../support/until.ts';
import { fullDisks } from './small-disk.ts';

/** Made once, with a delivery in it, and closed in good order; each test damages a copy of its own. */
const original = mkdtempSync(join(tmpdir(), 'lanternroom-'));
afterAll(() => rmSync(original, { recursive: true, force: true }));

async function makeData(): Promise<string> {
  if (readdirSync(original).length === 0) {
    const server = await Server.start();
    await server.wake().delivered();
    expect((await server.terminate()).code).toBe(0);
    cpSync(server.folder, original, { recursive: true });
  }
  const folder = join(temporaryFolder(), 'data');
  cpSync(original, folder, { recursive: true });
  return folder;
}

/** Every file and what is in it. */
function snapshot(folder: string): Record<string, string> {
  const files = readdirSync(folder).sort();
  const hash = (name: string) =>
    createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
  return Object.fromEntries(files.map((name) => [name, hash(name)]));
}

function start(options: ServerOptions): Promise<Ended> {
  return launch(options).ended;
}

/** One sentence or a few on stderr, nothing on stdout, and no stack. */
function expectRefusal({ code, stdout, stderr }: Ended, wanted: { code: number; says: RegExp }): void {
  expect({ code, stdout, stderr }).toEqual({
    code: wanted.code,
    stdout: '',
    stderr: expect.stringMatching(wanted.says),
  });
  expect(stderr).not.toMatch(/^\s+at /m);
}

function overwrite(file: string, at: number, bytes: Buffer): void {
  const opened = openSync(file, 'r+');
  writeSync(opened, bytes, 0, bytes.length, at);
  closeSync(opened);
}

const PAGE = 8192;
const USER_VERSION_AT = 60;

describe('data that cannot be opened', () => {
  const RESTORE = /is damaged .*Nothing was changed\. .*restore a backup/;
  const cases: [string, RegExp, (database: string) => void][] = [
    ['a damaged header', RESTORE, (file) => overwrite(file, 0, Buffer.from('this is not what it was'))],
    [
      'damaged pages',
      RESTORE,
      (file) => {
        for (let at = PAGE; at < statSync(file).size; at += PAGE)
          overwrite(file, at, Buffer.alloc(4096, 0xff));
      },
    ],
    ['half a file', RESTORE, (file) => truncateSync(file, Math.floor(statSync(file).size / 2 / PAGE) * PAGE)],
    ['a file cut in the middle of a page', RESTORE, (file) => truncateSync(file, 3 * PAGE + 100)],
    ['an empty file', /is missing or empty.*restore a backup/, (file) => truncateSync(file, 0)],
    ['no file', /is missing or empty.*restore a backup/, (file) => rmSync(file)],
    [
      'a newer schema',
      /newer Lanternroom \(schema 99, .*Start the newer version/,
      (file) => overwrite(file, USER_VERSION_AT, Buffer.from([0, 0, 0, 99])),
    ],
    ['a database of another program', /another program.*--data/, makeForeign],
    [
      'a missing master key',
      /secret\.key is missing.*LANTERNROOM_SECRET/,
      (file) => rmSync(join(file, '..', 'secret.key')),
    ],
  ];

  test.each(cases)(
    '[D25] %s is refused with the way out, and nothing is changed',
    async (_, says, damage) => {
      const folder = await makeData();
      damage(join(folder, 'lanternroom.db'));
      const before = snapshot(folder);
      expectRefusal(await start({ folder }), { code: 1, says });
      expect(snapshot(folder)).toEqual(before);
    },
  );

  function makeForeign(file: string): void {
    rmSync(file);
    const make =
      'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("create table x(a)"); c.commit()';
    execFileSync('python3', ['-c', make, file]);
  }

  test('[D25] a wrong master key is refused, and the right one still opens it', async () => {
    const folder = await makeData();
    const before = snapshot(folder);
    const env = { LANTERNROOM_SECRET: 'another key that is long enough' };
    expectRefusal(await start({ folder, env }), { code: 1, says: /not the master key.*LANTERNROOM_SECRET/ });
    expect(snapshot(folder)).toEqual(before);
    const server = await Server.start({ folder });
    expect((await server.wake().sweep({})).json.total).toBe(1);
  });
});

describe('places that cannot be used', () => {
  test('[D25] a taken port', async () => {
    const server = await Server.start();
    const { port } = new URL(server.url);
    const ended = await start({ folder: temporaryFolder(), args: ['--port', port] });
    expectRefusal(ended, { code: 1, says: new RegExp(`^Port ${port} .* is taken\\..*--port\\.\n$`) });
  });

  test('[D25] a file where the folder should be, or a place that takes no folders', async () => {
    const file = join(temporaryFolder(), 'file');
    writeFileSync(file, '');
    for (const folder of [file, join(file, 'below'), '/proc/x', '/proc/x/y']) {
      expectRefusal(await start({ folder }), { code: 1, says: /cannot be made\..*--data/ });
    }
  });

  test('[D80] a folder on which a server runs: refused, and the running one is unharmed', async () => {
    const server = await Server.start();
    const id = await server.wake().delivered();
    const says = /^A server is already running on .*Stop it first.*--data.*\n$/;
    expectRefusal(await start({ folder: server.folder }), { code: 1, says });
    expect((await server.wake().response(id)).status).toBe(200);
    // Commands work beside it.
    const { code } = await lanternroom(['agent', 'list', '--json', '--data', server.folder]);
    expect(code).toBe(0);
    // Killed, it leaves no lock behind.
    await server.kill();
    const next = await server.restart();
    expect((await next.wake().response(id)).status).toBe(200);
    expectRefusal(await start({ folder: server.folder }), { code: 1, says });
  });

  // For root nothing is forbidden, unless it gives that up.
  const asOrdinaryUser =
    process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search', '--'] : [];

  test('[D25] a folder that may not be written, empty or not', async () => {
    const empty = join(temporaryFolder(), 'empty');
    mkdirSync(empty, { mode: 0o500 });
    const says = /cannot be (read and written by this user|written)\. Check .*permissions/;
    expectRefusal(await start({ folder: empty, under: asOrdinaryUser }), { code: 1, says });

    const full = await makeData();
    chmodSync(join(full, 'lanternroom.db'), 0o400);
    chmodSync(full, 0o500);
    const before = snapshot(full);
    expectRefusal(await start({ folder: full, under: asOrdinaryUser }), { code: 1, says });
    expect(snapshot(full)).toEqual(before);
    chmodSync(full, 0o700);
  });

  test('[D25][D31] a folder or a file of another user: every command says so, none takes it for empty or half serves', async () => {
    const folder = await makeData();
    const ours = (mode: number, name = '.') => chmodSync(join(folder, name), mode);
    const commands = [['serve', '--port', '0'], ['agent', 'list'], ['doctor']];
    const says = async (path: string) => {
      for (const command of commands) {
        const argv = [...asOrdinaryUser, ...node(LANTERNROOM, [...command, '--data', folder])];
        const ended = await new Child(argv).ended;
        expect({ command, code: ended.code }).toEqual({ command, code: 1 });
        const told = `${ended.stdout}${ended.stderr}`;
        expect(told).toMatch(/cannot be (read|written).*[Cc]heck its (owner and )?permissions/);
        expect(told).toContain(path);
        expect(told).not.toMatch(/No data|no data/);
      }
    };
    ours(0o000);
    await says(folder);
    ours(0o700);
    ours(0o400, 'lanternroom.db');
    await says(join(folder, 'lanternroom.db'));
    ours(0o600, 'lanternroom.db');
    ours(0o000, 'secret.key');
    await says(join(folder, 'secret.key'));
    // To read it is enough.
    ours(0o400, 'secret.key');
    const server = await Server.start({ folder, under: asOrdinaryUser });
    expect((await server.wake().sweep({})).json.total).toBe(1);
  });
});

describe('no room at the first start', () => {
  test.each(fullDisks())(
    '[D25] $name: refused with a sentence, and the next start is a first one',
    async (disk) => {
      const folder = temporaryFolder();
      const ended = await start({ folder, under: disk.under(folder) });
      const says = /(is full|does not take what is written to it).* start again/;
      expectRefusal(ended, { code: 1, says });
      const server = await Server.start({ folder });
      await server.wake().delivered();
    },
  );

  test('[D25][D24] nothing is left of a database that could not be made', async () => {
    const folder = temporaryFolder();
    chmodSync(folder, 0o755);
    const env = { LANTERNROOM_SECRET: 'a master key that is kept elsewhere' };
    const ended = await start({ folder, env, under: ['prlimit', '--fsize=0', '--'] });
    expectRefusal(ended, { code: 1, says: /start again/ });
    expect(readdirSync(folder)).toEqual(['server.lock']);
  });
});

describe('settings that cannot be', () => {
  const cases: [string, Partial<ServerOptions>, RegExp][] = [
    ['half a TLS configuration', { args: ['--tls-cert', 'x.pem'] }, /both --tls-cert and --tls-key/],
    [
      'no such certificate',
      { args: ['--tls-cert', '/no/x', '--tls-key', '/no/y'] },
      /--tls-cert names \/no\/x/,
    ],
    ['no certificate at all', { args: ['--tls-cert', '/dev/null', '--tls-key', '/dev/null'] }, /both PEM/],
    [
      'an open address without TLS',
      { args: ['--host', '0.0.0.0'] },
      /in the clear[\s\S]*1\.[\s\S]*2\.[\s\S]*3\./,
    ],
    ['no such option', { args: ['--nonsense'] }, /--nonsense/],
    ['a word too many', { args: ['nonsense'] }, /too many arguments for 'serve'.*serve --help/],
    ['a port that is none', { args: ['--port', '99999'] }, /LANTERNROOM_PORT .* 0 to 65535/],
    [
      'an undo window that is none',
      { env: { LANTERNROOM_UNDO_SECONDS: 'ten' } },
      /UNDO_SECONDS .* not "ten"/,
    ],
    ['a rate that is none', { env: { LANTERNROOM_RATE_TEST: '20' } }, /RATE_TEST .*500\/50/],
    ['a log level that is none', { env: { LANTERNROOM_LOG: 'loud' } }, /LANTERNROOM_LOG .*info/],
    ['an address that is none', { env: { LANTERNROOM_URL: 'ftp://x' } }, /LANTERNROOM_URL .*https:/],
    ['an address with a path', { env: { LANTERNROOM_URL: 'https://x.example/desk' } }, /without a path/],
    [
      'an address with a password',
      { env: { LANTERNROOM_URL: 'https://a:b@x.example' } },
      /LANTERNROOM_URL must/,
    ],
    [
      'everybody as a proxy',
      { env: { LANTERNROOM_TRUST_PROXY: '0.0.0.0/0' } },
      /"0\.0\.0\.0\/0" would trust/,
    ],
    ['a proxy that is none', { env: { LANTERNROOM_TRUST_PROXY: 'them' } }, /TRUST_PROXY: "them"/],
    ['a short master key', { env: { LANTERNROOM_SECRET: 'short' } }, /LANTERNROOM_SECRET .*24/],
    ['a secret in no file', { env: { LANTERNROOM_SECRET_FILE: '/no/such' } }, /SECRET_FILE names \/no\/such/],
    ['half an owner', { env: { LANTERNROOM_INIT_PASSWORD: '' } }, /INIT_EMAIL and LANTERNROOM_INIT_PASSWORD/],
    ['a key of the wrong form', { env: { LANTERNROOM_INIT_AGENT_KEY: 'wk_test_x' } }, /INIT_AGENT_KEY: .*32/],
  ];

  test('[D29][D31] each is wrong usage, with a sentence, and makes no data', async () => {
    await each(
      cases,
      async ([, options, says]) => {
        const folder = join(temporaryFolder(), 'data');
        expectRefusal(await start({ folder, ...options }), { code: 2, says });
        expect(existsSync(join(folder, 'secret.key'))).toBe(false);
      },
      2,
    );
  });

  test('[D29] settings in the file count after flag and environment, and must be JSON', async () => {
    const folder = temporaryFolder();
    const file = join(folder, 'lanternroom.json');
    writeFileSync(file, '{"LANTERNROOM_UNDO_SECONDS": "often"}');
    expectRefusal(await start({ folder }), { code: 2, says: /UNDO_SECONDS .* not "often"/ });
    writeFileSync(file, '\ufeff{\r\n"LANTERNROOM_UNDO_SECONDS": "twice"\r\n}\r\n');
    expectRefusal(await start({ folder }), { code: 2, says: /UNDO_SECONDS .* not "twice"/ });
    writeFileSync(file, '[1');
    expectRefusal(await start({ folder }), { code: 2, says: /lanternroom\.json must be a JSON object/ });
    writeFileSync(file, '{"LANTERNROOM_DATA": "elsewhere"}');
    expectRefusal(await start({ folder }), { code: 2, says: /cannot choose it: remove LANTERNROOM_DATA/ });
    writeFileSync(file, '{"LANTERNROOM_UNDO_SECOND": 3}');
    const says = /names LANTERNROOM_UNDO_SECOND, which is not a setting\..*lanternroom config/;
    expectRefusal(await start({ folder }), { code: 2, says });
  });

  test('[D29] an empty flag counts as none, as an empty variable does: no data appears in the current folder', () => {
    const env = { LANTERNROOM_DATA: '/srv/lanternroom', LANTERNROOM_PORT: '' };
    const { data, port, host } = readConfig({ flags: { data: '', port: '', host: '' }, env });
    expect({ data, port, host }).toEqual({ data: '/srv/lanternroom', port: 8787, host: '127.0.0.1' });
  });

  test('[D29] wrong INIT values make nothing, so that the next start makes everything', async () => {
    const folder = temporaryFolder();
    const wrong = {
      LANTERNROOM_INIT_HANDLE: 'No Handle',
      LANTERNROOM_INIT_AGENT: 'no name!',
      LANTERNROOM_INIT_CALLBACKS: 'http://example.com',
      LANTERNROOM_INIT_CALLBACK_SECRET: 'whsec_short',
      LANTERNROOM_INIT_EMAIL: 'nobody',
      LANTERNROOM_INIT_PASSWORD: 'short',
    };
    for (const [name, value] of Object.entries(wrong)) {
      const says = new RegExp(`^${name}: .*\\.\n$`);
      expectRefusal(await start({ folder, env: { [name]: value } }), { code: 2, says });
    }
    const server = await Server.start({ folder });
    await server.wake().delivered();
    await server.desk();
  });
});
