import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { run, runNpm, tail } from './child.mjs';
import { Stop } from './command.mjs';
import { inRepo } from './repo.mjs';

const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'microsoft-edge',
];
const PLACES = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
  'C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe',
];

/** A browser packed into an npm package, for machines that reach nothing but the registry. */
const PACKED = { name: '@sparticuz/chromium', version: '143.0.4', folder: '.cache/browser' };

/** The path of a Chrome or Chromium on this machine, or undefined. */
export async function browserPath() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const installed = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...installed, ...PLACES].find((path) => existsSync(path)) ?? (await packedPath());
}

async function packedPath() {
  const folder = inRepo(PACKED.folder);
  if (!existsSync(join(folder, 'node_modules', PACKED.name))) return undefined;
  const entry = createRequire(join(folder, 'package.json')).resolve(PACKED.name);
  const { default: chromium } = await import(pathToFileURL(entry).href);
  return chromium.executablePath();
}

/** Debian's package when we may install it, else the packed one. Says which. */
export async function installBrowser() {
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get') && (await installFromDebian())) return;
  await installPacked();
}

async function installFromDebian() {
  console.error('No Chrome or Chromium here: taking Debian’s package chromium.');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = () => run('apt-get', ['install', '-y', '--no-install-recommends', 'chromium'], { env });
  if ((await install()).code === 0) return true;
  await run('apt-get', ['update'], { env });
  return (await install()).code === 0;
}

async function installPacked() {
  console.error(`No Chrome or Chromium here: taking ${PACKED.name} from the npm registry.`);
  mkdirSync(inRepo(PACKED.folder), { recursive: true });
  const { code, output } = await runNpm([
    'install',
    `--prefix=${inRepo(PACKED.folder)}`,
    '--no-audit',
    '--no-fund',
    `${PACKED.name}@${PACKED.version}`,
  ]);
  if (code === 0) return;
  throw new Stop(
    `${tail(output)}\n\nThe browser tests need Chrome or Chromium. Install one and run npm test again.`,
  );
}
