import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Child, lantern, node } from '../support/command.ts';
import { inRepo, temporaryFolder } from '../support/folder.ts';
import { AGENT, sharedServer } from '../support/server.ts';

const server = sharedServer();

async function lines(): Promise<string[]> {
  return (await (await fetch(`${server().url}/packages`)).text()).trimEnd().split('\n');
}

/** Downloads what a line names, and says where it is. */
async function downloaded(ending: string): Promise<string> {
  const address =
    (await lines())
      .join(' ')
      .split(' ')
      .find((word) => word.endsWith(ending)) ?? '';
  const reply = await fetch(address);
  expect([ending, reply.status]).toEqual([ending, 200]);
  const file = join(temporaryFolder(), new URL(address).pathname.split('/').at(-1) ?? '');
  writeFileSync(file, Buffer.from(await reply.arrayBuffer()));
  return file;
}

async function succeeds(argv: readonly string[], env = {}): Promise<string> {
  const { code, stdout, stderr } = await new Child(argv, env).ended;
  expect({ argv, code, stderr }).toEqual({ argv, code: 0, stderr: '' });
  return stdout;
}

/** Laid out as npm does it: the package, with its dependencies beside it. */
async function unpacked(file: string): Promise<{ folder: string; needs: string[] }> {
  const around = join(temporaryFolder(), 'node_modules');
  mkdirSync(around);
  await succeeds(['tar', '-xzf', file, '-C', around]);
  const folder = join(around, 'package');
  const { dependencies, bundleDependencies = [] } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as { dependencies: Record<string, string>; bundleDependencies?: string[] };
  const needs = Object.keys(dependencies).filter((name) => !bundleDependencies.includes(name));
  for (const name of needs) {
    mkdirSync(join(around, name, '..'), { recursive: true });
    symlinkSync(inRepo(`node_modules/${name}`), join(around, name));
  }
  return { folder, needs };
}

test('[D42] every line of /packages names files that are there, at the address of the server', async () => {
  const said = await lines();
  expect(said.map((line) => line.split(' http')[0])).toEqual([
    'npm install -g',
    'npm install',
    'pip install',
  ]);
  const addresses = said
    .join(' ')
    .split(' ')
    .filter((word) => word.startsWith('http'));
  expect(addresses.filter((address) => !address.startsWith(`${server().url}/packages/`))).toEqual([]);
  const statuses = addresses.map(async (address) => (await fetch(address)).status);
  expect(await Promise.all(statuses)).toEqual([200, 200, 200, 200]);
  for (const name of ['nothing.tgz', '.lanternroom-build', '..%2fpackage.json'])
    expect([name, (await fetch(`${server().url}/packages/${name}`)).status]).toEqual([name, 404]);
});

test('[D42] the command works from its one file, with nothing of ours from a registry', async () => {
  const { folder, needs } = await unpacked(await downloaded('lantern.tgz'));
  expect(needs.filter((name) => name.startsWith('@lanternroom/'))).toEqual([]);
  const env = { HOME: temporaryFolder(), LANTERN_URL: server().url, WAKE_API_KEY: AGENT.key };
  const own = node(join(folder, 'bin/lantern.js'), ['doctor']);
  expect(await succeeds(own, env)).toBe((await lantern(['doctor'], env)).stdout);
  // Loads the MCP server, the SDK and everything that both need.
  const ended = await new Child(node(join(folder, 'bin/lantern.js'), ['mcp']), env).ended;
  expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('[D42] the Python client works from its wheel, which lists every file with its hash', async () => {
  const wheel = await downloaded('.whl');
  const program = `
import base64, csv, hashlib, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
[record] = [name for name in wheel.namelist() if name.endswith('.dist-info/RECORD')]
listed = {row[0]: row[1] for row in csv.reader(wheel.read(record).decode().splitlines())}
assert sorted(listed) == sorted(wheel.namelist())
assert 'MIT License' in wheel.read(record.replace('RECORD', 'licenses/LICENSE')).decode()
for name, digest in listed.items():
    own = base64.urlsafe_b64encode(hashlib.sha256(wheel.read(name)).digest()).decode().rstrip('=')
    assert name == record or digest == 'sha256=' + own, name
sys.path.insert(0, sys.argv[1])
import lanternroom, lanternroom.akep, lanternroom.aio, lanternroom.a2a, lanternroom.cli
print(lanternroom.__file__)
`;
  expect(await succeeds(['python3', '-c', program, wheel])).toContain(wheel);
  const modules = readdirSync(inRepo('python/lanternroom'), { recursive: true, encoding: 'utf8' });
  const names = await succeeds(['python3', '-m', 'zipfile', '-l', wheel]);
  expect(modules.filter((path) => path.endsWith('.py') && !names.includes(`lanternroom/${path}`))).toEqual(
    [],
  );
});
