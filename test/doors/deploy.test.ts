import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { BlockList } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SETTINGS, type Setting } from '../../packages/server/src/config.ts';
import { inRepo } from '../support/folder.ts';
import { Server } from '../support/server.ts';
import { given } from '../support/until.ts';

const read = (name: string) => readFileSync(inRepo(`deploy/${name}`), 'utf8');
/** What is said, without what is said about it. */
const plain = (name: string) => read(name).replace(/^\s*#.*$/gm, '');
const FILES = ['Dockerfile', 'compose.yaml', 'Caddyfile', 'nginx.conf', 'lanternroom.service'];
const ALL: readonly Setting[] = SETTINGS;
const PORT = given(ALL.find(({ env }) => env === 'LANTERNROOM_PORT')?.fallback, 'port');

/** Every name that the server could read, also from a file. */
const KNOWN = new Set(ALL.flatMap(({ env, secret }) => (secret ? [env, `${env}_FILE`] : [env])));

/** The program between the brackets of a health check. */
function healthCheck(text: string): string[] {
  const [, list = ''] = /(?:CMD|test:) (\[.*"node".*\])/.exec(text) ?? [];
  const words = JSON.parse(list) as string[];
  return words[0] === 'CMD' ? words.slice(1) : words;
}

describe('deploy/', () => {
  test('[D84] holds exactly the files that are looked at here', () => {
    expect(readdirSync(inRepo('deploy')).sort()).toEqual([...FILES].sort());
  });

  test.each(FILES)('[D84] %s sets nothing that the server does not know', (name) => {
    const set = [...plain(name).matchAll(/\b((?:LANTERNROOM|AKEP)_[A-Z_]+|DATABASE_URL\w*)\b/g)];
    expect(set.map(([, variable]) => variable).filter((variable) => !KNOWN.has(variable ?? ''))).toEqual([]);
  });

  test.each(FILES)('[D84] %s speaks to the port that is served', (name) => {
    const ports = [...plain(name).matchAll(/(?:127\.0\.0\.1|replica-\d|EXPOSE ?|_PORT)[:=\s](\d+)/g)];
    expect(ports.map(([, port]) => port).filter((port) => port !== PORT)).toEqual([]);
    expect(ports.length).toBeGreaterThan(0);
  });

  test('[D84][D33] the health checks succeed while the server is well, and fail when it is gone', async () => {
    const server = await Server.start();
    const checks = [healthCheck(read('Dockerfile')), healthCheck(read('compose.yaml'))];
    const run = ([, ...args]: string[]) => {
      const here = args.map((word) => word.replace(`http://127.0.0.1:${PORT}`, server.url));
      expect(here).not.toEqual(args);
      return spawnSync(process.execPath, here, { timeout: 120_000 }).status;
    };
    expect(checks.map(run)).toEqual([0, 0]);
    await server.kill();
    expect(checks.map(run)).toEqual([1, 1]);
  });

  test('[D84] the paths that are watched or closed are served', async () => {
    const { url } = await Server.start();
    const named = FILES.flatMap((name) => [...plain(name).matchAll(/(\/readyz|\/healthz|\/metrics)/g)]);
    const paths = new Set(named.map(([path]) => path));
    expect([...paths].sort()).toEqual(['/healthz', '/metrics', '/readyz']);
    for (const path of paths) expect((await fetch(url + path)).status).not.toBe(404);
  });
});

describe('the image', () => {
  const text = plain('Dockerfile');

  test('[D84] is built on a version of Node that we accept, named to the last number, in every stage alike', () => {
    const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base);
    expect(new Set(bases).size).toBe(1);
    const [, major, minor] = /^node:(\d+)\.(\d+)\.\d+-/.exec(bases[0] ?? '') ?? [];
    const { engines } = JSON.parse(readFileSync(inRepo('package.json'), 'utf8'));
    const [wantedMajor, wantedMinor] = String(engines.node).replace('>=', '').split('.').map(Number);
    const isEnough =
      Number(major) > Number(wantedMajor) ||
      (Number(major) === Number(wantedMajor) && Number(minor) >= Number(wantedMinor));
    expect(isEnough).toBe(true);
  });

  test('[D84] does not run as root, and starts a file that is there', () => {
    const stages = text.split(/^FROM /m);
    expect(stages.at(-1)).toMatch(/^USER node$/m);
    const [, list = '[]'] = /^ENTRYPOINT (\[.*\])$/m.exec(text) ?? [];
    const [node, program = ''] = JSON.parse(list) as string[];
    expect([node, existsSync(inRepo(program))]).toEqual(['node', true]);
    expect(text).toMatch(/^CMD \["serve"\]$/m);
  });

  test('[D84] image and unit have the command that docs/operating.md uses', () => {
    for (const [name, root] of [
      ['Dockerfile', '/app'],
      ['lanternroom.service', '/opt/lanternroom'],
    ] as const) {
      const [, program = ''] = /ln -s (\S+) \/usr\/local\/bin\/lanternroom/.exec(read(name)) ?? [];
      expect([name, program.startsWith(`${root}/`)]).toEqual([name, true]);
      expect(statSync(inRepo(program.slice(root.length + 1))).mode & 0o111).toBe(0o111);
    }
  });

  test('[D84] takes along everything that the server reads, and nothing secret or generated', () => {
    const copied = [...text.matchAll(/^COPY --from=build \/app\/(\S+) /gm)].map(([, path]) => path ?? '');
    for (const path of copied) expect([path, existsSync(inRepo(path))]).toEqual([path, true]);
    expect(copied).toEqual(expect.arrayContaining(['docs', 'prompts', 'packages', 'node_modules']));
    const ignored = readFileSync(inRepo('.dockerignore'), 'utf8').trim().split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['data', '.git', '**/node_modules', 'deploy/secrets']));
    // What is left out of the image's build must not be needed by it.
    for (const path of copied) expect(ignored).not.toContain(path);
  });
});

describe('the compose file', () => {
  const text = plain('compose.yaml');

  test('[D84] every secret that is used is declared, and comes from a file that is not in the repository', () => {
    const used = [...text.matchAll(/\/run\/secrets\/(\w+)/g)].map(([, name]) => name ?? '');
    const declared = [...text.matchAll(/^ {2}(\w+): \{ file: (\S+) \}$/gm)];
    expect(declared.map(([, name]) => name).sort()).toEqual([...new Set(used)].sort());
    for (const [, name, file] of declared) expect(file).toBe(`./secrets/${name}`);
    expect(existsSync(inRepo('deploy/secrets'))).toBe(false);
  });

  test('[D84] what it asks for is kept in a file, because every later command asks again', () => {
    const asked = new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name ?? ''));
    expect([...asked].sort()).toEqual(['DESK_DOMAIN', 'DESK_OWNER']);
    const [written = ''] = /^#.*> \.env\b/m.exec(read('compose.yaml')) ?? [];
    for (const name of asked) expect(written).toContain(`${name}=`);
    expect(read('compose.yaml')).toMatch(/^# {3}docker compose up -d$/m);
  });

  test('[D84] nothing of that, and no secret, gets into the repository or the image', () => {
    for (const file of ['.gitignore', '.dockerignore']) {
      const ignored = readFileSync(inRepo(file), 'utf8').split('\n');
      const isIgnored = (path: string) => ignored.includes(path) || ignored.includes(`${path}/`);
      expect([file, isIgnored('deploy/secrets'), isIgnored('deploy/.env')]).toEqual([file, true, true]);
    }
  });

  test('[D84] every volume, network and service that is named is there', () => {
    const below = (section: string) => {
      const [, body = ''] = new RegExp(`^${section}:\\n((?: .*\\n|\\n)*)`, 'm').exec(text) ?? [];
      return [...body.matchAll(/^ {2}([\w-]+):/gm)].map(([, name]) => name ?? '');
    };
    const services = below('services');
    expect(services).toEqual(['postgres', 'replica-1', 'replica-2', 'proxy']);
    const volumes = [...text.matchAll(/["-] ?([\w-]+):\/(?:data|var)/g)].map(([, name]) => name ?? '');
    expect([...new Set(volumes)].sort()).toEqual(below('volumes').sort());
    expect(below('networks')).toEqual(['inside', 'outward', 'front']);
    const upstreams = [...plain('Caddyfile').matchAll(/(replica-\d):/g)].map(([, name]) => name);
    expect(upstreams).toEqual(services.filter((name) => name.startsWith('replica')));
  });

  test('[D84] the proxy has the address that the replicas believe, and nothing else publishes a port', () => {
    const [, trusted] = /LANTERNROOM_TRUST_PROXY: (\S+)/.exec(text) ?? [];
    const [, address] = /ipv4_address: (\S+)/.exec(text) ?? [];
    expect(trusted).toBe(address);
    expect(text.match(/^\s+ports:/gm)).toHaveLength(1);
    expect(text.slice(text.indexOf('  proxy:'))).toMatch(/ports: \["80:80", "443:443"/);
  });

  test('[D84] proxy and replicas meet on one network only, which gives its own address to nobody else', () => {
    const [, ofReplicas = ''] = /^ {2}networks: \[(.*)\]$/m.exec(text) ?? [];
    const [, ofProxy = ''] =
      /^ {4}networks:\n((?: {6}.*\n)+)/m.exec(text.slice(text.indexOf('  proxy:'))) ?? [];
    const named = [...ofProxy.matchAll(/^ {6}(\w+):/gm)].map(([, name]) => name ?? '');
    // Docker looks a name up on the networks that lead outside first, and the proxy would come from there.
    expect(named.filter((name) => ofReplicas.split(', ').includes(name))).toEqual(['inside']);
    const [, address = ''] = /ipv4_address: (\S+)/.exec(text) ?? [];
    const [, subnet = '', range = ''] = /subnet: (\S+), ip_range: (\S+) \}/.exec(text) ?? [];
    const within = (block: string) => {
      const [net = '', bits = ''] = block.split('/');
      const addresses = new BlockList();
      addresses.addSubnet(net, Number(bits));
      return addresses.check(address);
    };
    expect([within(subnet), within(range)]).toEqual([true, false]);
  });

  test('[D84] images are named to the last number', () => {
    const images = [...text.matchAll(/image: (\S+)/g)].map(([, image]) => image ?? '');
    for (const image of images) expect(image).toMatch(/^(lanternroom:local|\w+:\d+\.\d+(\.\d+)?-\w+)$/);
  });
});

describe('the proxies', () => {
  test('[D84] pass live streams and WebSockets, and say that it was https', () => {
    expect(plain('Caddyfile')).toMatch(/^\t\tflush_interval -1$/m);
    const nginx = plain('nginx.conf');
    for (const line of [
      'proxy_buffering off;',
      'proxy_http_version 1.1;',
      'proxy_set_header X-Forwarded-Proto $scheme;',
      'proxy_set_header Upgrade $http_upgrade;',
      'proxy_set_header Connection $connection_upgrade;',
    ]) {
      expect(nginx).toContain(line);
    }
  });

  test('[D84] nginx takes uploads of the size that the server takes, and is understood by the nginx of Debian 12', () => {
    const nginx = plain('nginx.conf');
    const [, uploads = ''] = /location = \/a2a\/uploads \{([^}]*)\}/.exec(nginx) ?? [];
    expect(uploads).toContain('client_max_body_size 1g;');
    expect(uploads).toContain('proxy_request_buffering off;');
    // The directive came with 1.25.1.
    expect(nginx).not.toMatch(/^\s*http2 /m);
  });

  test('[D84] a server set up as in the image takes what such a proxy passes on, and refuses all else', async () => {
    const { url } = await Server.start({ args: ['--host', '0.0.0.0', '--trust-proxy', '127.0.0.1'] });
    const ask = (headers: Record<string, string>) =>
      fetch(`${url}/desk/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: '{"email":"owner@example.com","password":"correct horse battery"}',
      });
    expect((await ask({})).status).toBe(403);
    const reply = await ask({ 'x-forwarded-proto': 'https', host: 'desk.example.com' });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('set-cookie')).toMatch(/^__Host-.*Secure/i);
    // The health check comes from inside, without any proxy.
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });
});

test('[D84] the unit starts a file that is there, as a user of its own, with the data where systemd makes room', () => {
  const unit = plain('lanternroom.service');
  const [, program = ''] = /^ExecStart=\/usr\/bin\/node (\S+) serve$/m.exec(unit) ?? [];
  expect(existsSync(inRepo(program))).toBe(true);
  expect(unit).toMatch(/^User=lanternroom$/m);
  const [, state = ''] = /^StateDirectory=(\S+)$/m.exec(unit) ?? [];
  expect(unit).toContain(`Environment=LANTERNROOM_DATA=${join('/var/lib', state)}\n`);
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(10);
  expect(unit).toMatch(/^KillSignal=SIGTERM$/m);
});
