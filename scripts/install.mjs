import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { runNpm, tail } from './child.mjs';
import { Stop } from './command.mjs';
import { withLock } from './lock.mjs';
import { fingerprint, inRepo, readJson, readText, workspaceDirs } from './repo.mjs';

const STAMP = 'node_modules/.lanternroom-install';

/** In the stamp while npm works. If it is found there, npm was killed midway. */
const UNFINISHED = 'unfinished';

/** Makes `node_modules` match the lock file; does nothing, silently, if it already does. */
export async function ensureInstalled() {
  requireNode();
  if (isInstalled()) return;
  await withLock(async () => {
    if (!isInstalled()) await install();
  });
}

function requireNode() {
  const needed = readJson('package.json').engines.node.replace('>=', '');
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [needMajor, needMinor] = needed.split('.').map(Number);
  if (major > needMajor || (major === needMajor && minor >= needMinor)) return;
  throw new Stop(
    `Lanternroom needs Node ${needed} or newer and this is Node ${process.versions.node}. Install a newer Node and run the command again.`,
  );
}

const isInstalled = () => readText(STAMP) === installStamp() && missingBins().length === 0;

/** The platform is part of it: a folder shared with a container holds the other platform's binaries. */
function installStamp() {
  const manifests = workspaceDirs().map((dir) => `${dir}/package.json`);
  const files = ['package-lock.json', 'package.json', '.npmrc', ...manifests];
  return fingerprint(files, process.platform, process.arch);
}

/** Our own commands that npm has not linked, because their file came after the last install. */
function missingBins() {
  return workspaceDirs().flatMap((dir) =>
    Object.entries(readJson(`${dir}/package.json`).bin ?? {})
      .filter(
        ([name, file]) => existsSync(inRepo(dir, file)) && !existsSync(inRepo('node_modules/.bin', name)),
      )
      .map(([name]) => name),
  );
}

/**
 * `npm install` and not `npm ci`, for two reasons. `ci` deletes a whole tree before it knows whether it can fetch a new
 * one; and it refuses a lock file made where the registry lacks other platforms' optional binaries. `--no-save`
 * keeps what we like about it: the lock file decides and is never rewritten.
 */
async function install() {
  const before = readText(STAMP);
  const isUpdate = existsSync(inRepo('node_modules')) && before !== UNFINISHED;
  console.error(isUpdate ? 'Updating packages…' : 'Installing packages (first run, about half a minute)…');
  if (!isUpdate) rmSync(inRepo('node_modules'), { recursive: true, force: true });
  writeStamp(UNFINISHED);
  const source = (await isRegistryThere()) ? '--prefer-offline' : '--offline';
  // Development packages are named because NODE_ENV=production would leave out the compiler.
  await npm(['install', '--no-save', '--include=dev', source], () => isUpdate && writeStamp(before));
  if (missingBins().length > 0) await npm(['rebuild', '--workspaces', '--ignore-scripts']);
  writeStamp(installStamp());
}

function writeStamp(text) {
  mkdirSync(inRepo('node_modules'), { recursive: true });
  writeFileSync(inRepo(STAMP), text);
}

async function npm(args, onFailure = () => {}) {
  const { code, output } = await runNpm([...args, '--no-audit', '--no-fund', '--no-progress']).catch(noNpm);
  if (code === 0) return;
  onFailure(); // npm has put the old tree back.
  throw new Stop(`${tail(output)}\n\n${explain(output)}`);
}

/**
 * Asked first, because npm retries for every single package: without a network it would be silent for ten minutes.
 * Any answer counts, even "no such page": not every registry knows the ping.
 */
async function isRegistryThere() {
  const patience = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--fetch-timeout=10000'];
  const { code, output } = await runNpm(['ping', ...patience]).catch(noNpm);
  return code === 0 || !UNREACHABLE.test(output);
}

const UNREACHABLE =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ENOTCACHED|ERR_SOCKET_TIMEOUT/;

function noNpm(error) {
  if (error.code !== 'ENOENT') throw error;
  throw new Stop(
    'npm was not found. It comes with Node: install Node from its official packages and run the command again.',
  );
}

const REASONS = [
  [
    UNREACHABLE,
    'The packages could not be fetched: the npm registry is not reachable. Check the network, the proxy and `npm config get registry`, then run the command again.',
  ],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY)|CERT_HAS_EXPIRED/,
    'The npm registry was reached, but its certificate is not trusted. Set `NODE_EXTRA_CA_CERTS` to the certificate of your network, then run the command again.',
  ],
  [/ENOSPC/, 'The disk is full. Free some space, then run the command again.'],
  [
    /EACCES|EPERM|EROFS/,
    'npm may not write here. Make this folder and the npm cache yours, then run the command again.',
  ],
  [
    /E40[134]|ETARGET/,
    'The npm registry does not hand out a package that is needed. Check `npm config get registry`, then run the command again.',
  ],
];

const explain = (output) =>
  REASONS.find(([pattern]) => pattern.test(output))?.[1] ??
  'The packages could not be installed; what npm said is above. Once that is solved, run the command again.';
