import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { runNode, runNpm } from './child.mjs';
import { Stop } from './command.mjs';
import { DOWNLOADS, ingredients, makeDownloads } from './downloads.mjs';
import { withLock } from './lock.mjs';
import { filesUnder, fingerprint, inRepo, ROOT, readJson, readText } from './repo.mjs';

const STAMP = 'dist/.lanternroom-build';

// The adapters, the command line and the server use the SDK through its built types, as its users do: it is built
// first, and then the MCP server, which the last two serve. The page depends on nothing, and is built beside the
// server because both take about as long.
const STAGES = [
  ['packages/sdk'],
  ['packages/adapters', 'packages/mcp'],
  ['packages/agent', 'packages/server', 'packages/web'],
];

/** Builds what changed since the last build; does nothing, silently, if nothing has. */
export async function ensureBuilt() {
  if (isAllFresh()) return;
  await withLock(async () => {
    if (isAllFresh()) return;
    console.error('Building…');
    for (const stage of STAGES) await all(stage.filter((dir) => !isFresh(dir)).map(build));
    if (!areDownloadsFresh()) await packDownloads();
  });
}

const isAllFresh = () => STAGES.flat().every(isFresh) && areDownloadsFresh();

const DOWNLOADS_STAMP = `${DOWNLOADS}/.lanternroom-build`;
const downloadsStamp = () => fingerprint(ingredients());
const areDownloadsFresh = () => readText(DOWNLOADS_STAMP) === downloadsStamp();

/** After the builds, which they are made of. */
async function packDownloads() {
  const stamp = downloadsStamp();
  await makeDownloads();
  writeFileSync(inRepo(DOWNLOADS_STAMP), stamp);
}

/** Waits for every build, even when one has failed: the lock must not be released while another still writes. */
async function all(builds) {
  const failure = (await Promise.allSettled(builds)).find(({ status }) => status === 'rejected');
  if (failure) throw failure.reason;
}

function isFresh(dir) {
  if (!hasBuild(dir)) return true;
  if (dir === 'packages/web' && !existsSync(inRepo('packages/server/public/index.html'))) return false;
  return readText(`${dir}/${STAMP}`) === buildStamp(dir);
}

function hasBuild(dir) {
  if (dir === 'packages/web') return Boolean(readJson('packages/web/package.json').scripts?.build);
  return existsSync(inRepo(dir, 'tsconfig.build.json')) && sources(dir).some((path) => path.endsWith('.ts'));
}

/** Which of our scripts take part in a package's build. */
const SCRIPTS = {
  'packages/server': ['scripts/bundle.mjs', 'scripts/notices.mjs'],
  'packages/web': ['scripts/notices.mjs'],
};

function buildStamp(dir) {
  const shared = ['tsconfig.base.json', 'package-lock.json'];
  const sdk = dir === 'packages/sdk' ? [] : sources('packages/sdk');
  const mcp = ['packages/agent', 'packages/server'].includes(dir) ? sources('packages/mcp') : [];
  return fingerprint([...shared, ...sdk, ...mcp, ...(SCRIPTS[dir] ?? []), ...sources(dir)]);
}

/**
 * What a build reads: the package without its tests and the texts beside them, so that editing those builds nothing.
 * Also without the page and the downloads, which are put into the server's folder afterwards: otherwise the second
 * start would build the server again.
 */
export function sources(dir) {
  return filesUnder(dir).filter(
    (path) =>
      !/\.test\.tsx?$|\/src\/testing\/|^packages\/server\/(?:public|downloads)\/|\/(?:README\.md|LICENSE)$/.test(
        path,
      ),
  );
}

async function build(dir) {
  // Read before the build: an edit made meanwhile must not count as built.
  const stamp = buildStamp(dir);
  if (dir === 'packages/web') await bundlePage();
  else removeLeftovers(dir, await compile(dir));
  mkdirSync(inRepo(dir, 'dist'), { recursive: true });
  writeFileSync(inRepo(dir, STAMP), stamp);
}

/** Returns what it wrote. */
async function compile(dir) {
  rmSync(inRepo(dir, STAMP), { force: true });
  const tsc = inRepo('node_modules/typescript/bin/tsc');
  const { code, output } = await runNode([tsc, '-p', `${dir}/tsconfig.build.json`, '--listEmittedFiles']);
  const [emitted, messages] = splitOutput(output);
  if (code !== 0)
    throw new Stop(`${messages.join('\n').trim()}\n\nThe build of ${dir} failed; the reasons are above.`);
  if (dir !== 'packages/server') return emitted;
  return new Set([...emitted, ...(await bundleServer())]);
}

async function bundleServer() {
  const { code, output } = await runNode(['scripts/bundle.mjs']);
  if (code !== 0)
    throw new Stop(`${output.trim()}\n\nThe server could not be bundled; the reasons are above.`);
  return output.split('\n').filter((line) => line !== '');
}

function splitOutput(output) {
  const lines = output.split('\n');
  const isEmitted = (line) => line.startsWith('TSFILE:');
  const emitted = lines.filter(isEmitted).map((line) => relative(ROOT, line.slice('TSFILE:'.length).trim()));
  return [
    new Set(emitted.map((path) => path.split(sep).join('/'))),
    lines.filter((line) => !isEmitted(line)),
  ];
}

/** Removes the output of deleted sources. Only these: emptying `dist` first would pull it from under a running server. */
function removeLeftovers(dir, emitted) {
  for (const path of filesUnder(`${dir}/dist`)) {
    if (!emitted.has(path)) rmSync(inRepo(path));
  }
}

async function bundlePage() {
  const { code, output } = await runNpm(['run', 'build', '--workspace=@lanternroom/web']);
  if (code !== 0)
    throw new Stop(`${output.trim()}\n\nThe build of packages/web failed; the reasons are above.`);
}
