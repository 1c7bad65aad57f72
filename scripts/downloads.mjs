import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runNpm, tail } from './child.mjs';
import { Stop } from './command.mjs';
import { filesUnder, inRepo, readJson } from './repo.mjs';
import { writeWheel } from './wheel.mjs';

/**
 * What the server offers at /packages, so that agents' machines need neither this repository nor a registry that has
 * us.
 */
export const DOWNLOADS = 'packages/server/downloads';

const LIBRARIES = ['packages/sdk', 'packages/adapters'];
const COMMAND = 'packages/agent';
/** These are put inside the command's package, which is installed alone, from one address. */
const INSIDE = ['packages/sdk', 'packages/mcp'];

/** What they are made of. Their builds follow from it. */
export const ingredients = () =>
  [...new Set([...LIBRARIES, ...INSIDE, COMMAND]), 'python/lanternroom']
    .flatMap(filesUnder)
    .concat('python/README.md', 'python/pyproject.toml', 'scripts/downloads.mjs', 'scripts/wheel.mjs')
    .filter((path) => !/\.test\.tsx?$|\/src\/testing\/|\/__pycache__\//.test(path));

/** Made in a temporary folder and moved into place as a whole: a running server never sends half a file. */
export async function makeDownloads() {
  const stage = mkdtempSync(join(tmpdir(), 'lanternroom-downloads-'));
  const made = `${inRepo(DOWNLOADS)}.tmp`;
  try {
    rmSync(made, { recursive: true, force: true });
    mkdirSync(made);
    await pack([...LIBRARIES.map((dir) => inRepo(dir)), withInside(join(stage, 'lantern'))], made);
    const { version } = readJson(`${COMMAND}/package.json`);
    renameSync(join(made, `lanternroom-agent-${version}.tgz`), join(made, 'lantern.tgz'));
    writeWheel(inRepo('python'), made);
    rmSync(inRepo(DOWNLOADS), { recursive: true, force: true });
    renameSync(made, inRepo(DOWNLOADS));
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

async function pack(folders, destination) {
  const { code, output } = await runNpm(['pack', '--silent', '--pack-destination', destination, ...folders]);
  if (code !== 0)
    throw new Stop(`${tail(output)}\n\nThe packages for download could not be made; the reasons are above.`);
}

/**
 * The command's package with our own packages in its node_modules, as `bundleDependencies` wants them. Their
 * dependencies become its own and are removed from theirs: npm assumes that a bundled package brings along everything
 * it needs.
 */
function withInside(folder) {
  copyPackage(COMMAND, folder);
  const manifest = readJson(`${COMMAND}/package.json`);
  manifest.bundleDependencies = [];
  for (const dir of INSIDE) {
    const { dependencies, ...inside } = readJson(`${dir}/package.json`);
    copyPackage(dir, join(folder, 'node_modules', inside.name));
    writeManifest(join(folder, 'node_modules', inside.name), inside);
    manifest.bundleDependencies.push(inside.name);
    manifest.dependencies = { ...dependencies, ...manifest.dependencies };
  }
  writeManifest(folder, manifest);
  return folder;
}

function writeManifest(folder, manifest) {
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

function copyPackage(dir, to) {
  for (const entry of [...readJson(`${dir}/package.json`).files, 'package.json', 'README.md', 'LICENSE'])
    cpSync(inRepo(dir, entry), join(to, entry), { recursive: true });
}
