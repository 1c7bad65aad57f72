import { browserPath, installBrowser } from './browser.mjs';
import { run } from './child.mjs';
import { Stop } from './command.mjs';

/**
 * What tests need beside packages: a browser, a real PostgreSQL. A need is
 * `{ name, isThere(): Promise<boolean>, install(): Promise<void> }`; `install` throws a `Stop` that says what to do.
 */
const NEEDS = [
  systemProgram('strace', 'watches the order of write, fsync and reply'),
  systemProgram('python3', "runs the Python samples of WAKE's documents"),
  { name: 'a browser', isThere: async () => (await browserPath()) !== undefined, install: installBrowser },
];

/**
 * What cannot be installed is reported here; the tests that need it fail with the same words, and all others still
 * run.
 */
export async function ensureTestTools() {
  for (const need of NEEDS) {
    if (await need.isThere()) continue;
    console.error(`Installing ${need.name} for the tests…`);
    try {
      await need.install();
    } catch (error) {
      if (!(error instanceof Stop) || error.message === '') throw error; // stopped by a signal
      console.error(error.message);
    }
  }
}

const MANAGERS = [
  ['apt-get', 'install', '--yes', '--no-install-recommends'],
  ['dnf', 'install', '--assumeyes'],
  ['apk', 'add'],
];

/** A program that comes as a system package of the same name. */
function systemProgram(name, purpose) {
  const isThere = () => succeeds(name, ['-V']);
  return {
    name,
    isThere,
    async install() {
      for (const manager of MANAGERS) await installWith(manager, name);
      if (await isThere()) return;
      throw new Stop(
        `A test needs ${name} (it ${purpose}), and it could not be installed. Install it, for example with "sudo apt-get install ${name}", and run the tests again.`,
      );
    },
  };
}

async function installWith([manager, ...args], name) {
  if (!(await succeeds(manager, ['--version']))) return;
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '--non-interactive'];
  const call = (...words) => succeeds(...split([...asRoot, manager, ...words]));
  // The package lists of a fresh image are empty, and fetching them takes longer than most packages.
  if (!(await call(...args, name)) && (await call('update'))) await call(...args, name);
}

const split = ([file, ...args]) => [file, args];

async function succeeds(file, args) {
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    return (await run(file, args, { env })).code === 0;
  } catch (error) {
    if (error.code === 'ENOENT') return false;
    throw error;
  }
}
