import { chmodSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from './error-code.ts';
import { makeFolder } from './folder.ts';
import { homeOf } from './home.ts';
import { UsageError, type World } from './world.ts';

/** What `lantern login` stores, so that no shell profile has to hold the key. */
export interface StoredLogin {
  readonly url: string;
  readonly apiKey: string;
  /** Stored so that commands need not ask the server which agent the key belongs to. */
  readonly agentId: string;
}

type Place = Pick<World, 'env'>;

/** In the user's configuration folder: XDG_CONFIG_HOME, APPDATA on Windows, or ~/.config. */
export function loginFile({ env }: Place): string {
  const set = (name: string) => env[name]?.trim() || undefined;
  const folder = set('XDG_CONFIG_HOME') ?? (process.platform === 'win32' ? set('APPDATA') : undefined);
  return join(folder ?? join(homeOf(env), '.config'), 'lantern', 'login.json');
}

export function readLogin(place: Place): StoredLogin | null {
  const file = loginFile(place);
  const text = readOrNull(file);
  if (text === null) return null;
  const { url, api_key: apiKey, agent_id: agentId } = parse(text, file);
  if (typeof url === 'string' && typeof apiKey === 'string' && typeof agentId === 'string') {
    return { url, apiKey, agentId };
  }
  throw broken(file);
}

/** Written to a temporary file and moved into place: a crash leaves the old one or the new one. */
export function writeLogin(place: Place, login: StoredLogin): string {
  const file = loginFile(place);
  makeFolder(dirname(file), 0o700);
  const body = { url: login.url, api_key: login.apiKey, agent_id: login.agentId };
  const fresh = `${file}.${process.pid}`;
  try {
    writeFileSync(fresh, `${JSON.stringify(body, null, 2)}\n`, { mode: 0o600 });
    chmodSync(fresh, 0o600);
    renameSync(fresh, file);
  } catch (error) {
    dropQuietly(fresh);
    throw cannot('written', file, error);
  }
  return file;
}

/** False when there was none. */
export function removeLogin(place: Place): boolean {
  const file = loginFile(place);
  const wasThere = readOrNull(file) !== null;
  try {
    rmSync(file, { force: true });
  } catch (error) {
    throw cannot('removed', file, error);
  }
  return wasThere;
}

function cannot(verb: string, file: string, error: unknown): Error {
  const words = `${file} cannot be ${verb} (${codeOf(error)}): check who may write there, and whether there is room.`;
  return new Error(words, { cause: error });
}

/** Half of it may hold the key. */
function dropQuietly(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Why it could not be written matters more.
  }
}

/** Whether other users of this machine may read the key. Windows keeps its permissions elsewhere. */
export function isLoginExposed(place: Place): boolean {
  if (process.platform === 'win32') return false;
  return (statSync(loginFile(place)).mode & 0o077) !== 0;
}

function readOrNull(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new UsageError(`${file} cannot be read (${code}): check who owns it.`);
  }
}

function parse(text: string, file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return { ...value };
  } catch {
    // Reported below, like everything else that is not a login.
  }
  throw broken(file);
}

function broken(file: string): UsageError {
  return new UsageError(`${file} is not a login: run "lantern login" again, or remove the file.`);
}
