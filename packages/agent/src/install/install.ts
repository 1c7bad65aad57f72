import {
  lstatSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { codeOf } from '../error-code.ts';
import { makeFolder } from '../folder.ts';
import { isTimeout } from '../hook/flags.ts';
import { HOSTS, type HostName } from '../hook/hosts.ts';
import { EXIT, UsageError, type World } from '../world.ts';
import { withHook, withoutHook } from './edit.ts';
import { entryOf, eventOf, fileOf } from './targets.ts';

export interface InstallFlags {
  readonly project?: boolean;
  readonly remove?: boolean;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly timeout?: number;
  readonly ask?: string;
  readonly pass?: string;
}

const DEFAULT_TIMEOUT = 3_600;

/** Shows what would be written into a host's configuration, asks, and writes it; or takes it out again. */
export async function install(host: HostName, flags: InstallFlags, world: World): Promise<number> {
  const { timeout: timeoutSeconds = DEFAULT_TIMEOUT, ask, pass } = flags;
  if (!isTimeout(timeoutSeconds)) throw new UsageError('--timeout is a number of seconds, 10 to 604800.');
  if (ask !== undefined && pass !== undefined) throw new UsageError('Give --ask or --pass, not both.');
  const file = fileOf(host, flags.project === true ? { project: process.cwd() } : 'user', world);
  const whole = readOrEmpty(file);
  // Editors on Windows begin a file with a mark that is no part of it, and may look for it.
  const mark = /^\ufeff?/.exec(whole)?.[0] ?? '';
  const before = whole.slice(mark.length);
  const entry = entryOf({ host, program: programOf(world), timeoutSeconds, ask, pass });
  const after = flags.remove ? withoutHook(before, file, host) : withHook(before, file, host, entry);
  if (after === before) {
    world.out(flags.remove ? `Nothing of ours is in ${file}.\n` : `${file} has it already.\n`);
    return EXIT.done;
  }
  world.out(flags.remove ? `Takes the hook out of ${file}.\n` : shown(file, host, entry));
  if (flags.dryRun === true) return EXIT.done;
  if (flags.yes !== true && !(await isAgreed(world))) {
    world.out('Nothing was changed.\n');
    return EXIT.failed;
  }
  write(file, mark + after);
  world.out(flags.remove ? 'Done.\n' : `Done. ${next(host)}\n`);
  return EXIT.done;
}

function shown(file: string, host: HostName, entry: Record<string, unknown>): string {
  const block = JSON.stringify({ hooks: { [eventOf(host)]: [entry] } }, null, 2);
  return `Adds to ${file}:\n${block}\n`;
}

async function isAgreed(world: World): Promise<boolean> {
  const answer = (await world.confirm?.('Write it?')) ?? null;
  if (answer !== null) return answer;
  throw new UsageError('Nobody is here to ask: give --yes to write it, or --dry-run to look only.');
}

function next(host: HostName): string {
  const test = '"lantern doctor" checks the server and the key.';
  if (host === 'codex') return `Codex asks you to trust it once: open /hooks there. ${test}`;
  return `${HOSTS[host].title} takes it up at its next start. ${test}`;
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT') throw new UsageError(`${file} cannot be read (${code}). Nothing was changed.`);
    if (!isLink(file)) return '';
    throw new UsageError(
      `${file} is a link to a file that is not there: make that file, or remove the link. Nothing was changed.`,
    );
  }
}

function isLink(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

/** Written to a temporary file and moved into place, following a link: nobody ever reads half a file. */
function write(file: string, text: string): void {
  makeFolder(dirname(file));
  const [target, mode] = placeOf(file);
  const fresh = `${target}.lantern-${process.pid}`;
  try {
    writeFileSync(fresh, text, { mode });
    renameSync(fresh, target);
  } catch (error) {
    drop(fresh);
    const why = `${target} cannot be written (${codeOf(error)})`;
    throw new Error(`${why}: check who may write there, and whether there is room. Nothing was changed.`);
  }
}

function drop(fresh: string): void {
  try {
    unlinkSync(fresh);
  } catch {
    // It was never created; the reason is what matters.
  }
}

function placeOf(file: string): [string, number] {
  try {
    const target = realpathSync(file);
    return [target, statSync(target).mode & 0o777];
  } catch {
    return [file, 0o600];
  }
}

/** By name if the name leads to us, otherwise by path: on some hosts, a hook that is not found lets every tool run. */
function programOf({ env }: World): string {
  const own = fileURLToPath(new URL('../../bin/lantern.js', import.meta.url));
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  const isOnPath = folders.filter(isLasting).some((folder) => {
    try {
      return realpathSync(join(folder, 'lantern')) === realpathSync(own);
    } catch {
      return false;
    }
  });
  return isOnPath ? 'lantern' : `"${process.execPath}" "${own}"`;
}

/** npx and npm scripts prepend such folders while they run; a host that starts later does not have them. */
function isLasting(folder: string): boolean {
  return !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder);
}
