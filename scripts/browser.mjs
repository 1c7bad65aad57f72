import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { run, runNode, runNpm, tail } from './child.mjs';
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
  '/usr/bin/chromium',
];

/** A browser packed into an npm package, for machines that reach nothing but the registry. */
const PACKED = { name: '@sparticuz/chromium', version: '143.0.4', folder: '.cache/browser' };
const APT = '/usr/bin/apt-get';

/** The path of a Chrome or Chromium that runs on this machine, or undefined. */
export async function browserPath() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  const installed = folders.flatMap((folder) => NAMES.map((name) => join(folder, name)));
  for (const path of [...installed, ...PLACES, packedPath()]) {
    if (existsSync(path) && (await runs(path))) return path;
  }
  return undefined;
}

/** Some distributions install a script under this name that only says where the browser went. */
async function runs(path) {
  if (process.platform === 'win32') return true; // there it would open a window
  try {
    return (await run(path, ['--version'])).code === 0;
  } catch {
    return false;
  }
}

/** Debian's package when we may install it, else the packed one. Says which. */
export async function installBrowser() {
  if (process.getuid?.() === 0 && existsSync(APT)) {
    await installFromDebian();
    if ((await browserPath()) !== undefined) return;
  }
  await installPacked();
  if ((await browserPath()) !== undefined) return;
  throw new Stop(
    `The Chromium of ${PACKED.name} does not run here. Install Chrome or Chromium and run npm test again.`,
  );
}

async function installFromDebian() {
  console.error('No Chrome or Chromium here: taking Debian’s package chromium.');
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = () => run(APT, ['install', '-y', '--no-install-recommends', 'chromium'], { env });
  if ((await install()).code === 0) return;
  await run(APT, ['update'], { env });
  await install();
}

/** A script that starts the browser with its own libraries and fonts, which a bare machine lacks. */
const packedPath = () => inRepo(PACKED.folder, 'chromium');

async function installPacked() {
  console.error(`No Chrome or Chromium here: taking ${PACKED.name} from the npm registry.`);
  const folder = inRepo(PACKED.folder);
  rmSync(folder, { recursive: true, force: true });
  const unpacked = join(folder, 'unpacked');
  mkdirSync(unpacked, { recursive: true });
  const name = `${PACKED.name}@${PACKED.version}`;
  orStop(await runNpm(['install', `--prefix=${folder}`, '--no-audit', '--no-fund', name]));
  // It unpacks into the temporary folder, where anybody could have put a "chromium" before, so it gets a folder of
  // its own. It unpacks the libraries only on Amazon's machines, so it is told to be on one.
  const env = { ...process.env, TMPDIR: unpacked, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' };
  const entry = createRequire(join(folder, 'package.json')).resolve(PACKED.name);
  const unpack = `import(${JSON.stringify(pathToFileURL(entry).href)}).then((m) => m.default.executablePath())`;
  orStop(await runNode(['-e', unpack], { env }));
  writeFileSync(join(unpacked, 'fonts', 'fonts.conf'), FONTS);
  writeFileSync(packedPath(), STARTER, { mode: 0o755 });
}

const STARTER = `#!/bin/sh
here=$(cd "$(dirname "$0")/unpacked" && pwd)
export FONTCONFIG_PATH="\${FONTCONFIG_PATH:-$here/fonts}"
export LD_LIBRARY_PATH="$here/al2023/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$here/chromium" "$@"
`;

/** The package's own list names folders of Amazon's machines; without any font a page crashes. */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <dir>/usr/share/fonts</dir>
  <cachedir prefix="relative">cache</cachedir>
</fontconfig>
`;

function orStop({ code, output }) {
  if (code === 0) return;
  throw new Stop(
    `${tail(output)}\n\nThe browser tests need Chrome or Chromium. Install one and run npm test again.`,
  );
}
