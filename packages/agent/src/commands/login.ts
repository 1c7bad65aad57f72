import { createWake, memoryLog } from '@lanternroom/sdk/wake';
import { loginFile, removeLogin, writeLogin } from '../login-file.ts';
import { whoIs } from '../server-card.ts';
import { EXIT, UsageError, type World } from '../world.ts';

export interface LoginFlags {
  readonly url?: string;
  readonly remove?: boolean;
}

/** Stores address and key for later commands, once the server has confirmed that they belong together. */
export async function login(flags: LoginFlags, world: World): Promise<number> {
  if (flags.remove === true) {
    world.out(
      removeLogin(world) ? 'Logged out: the key is no longer stored here.\n' : 'No key was stored here.\n',
    );
    return EXIT.done;
  }
  const url = flags.url ?? (world.env.LANTERN_URL?.trim() || 'http://127.0.0.1:8787');
  const apiKey = await readKey(url, world);
  // Throws for an address to which the key would travel unencrypted, before anything is sent.
  createWake({ url, apiKey, log: memoryLog() });
  const agentId = await whoIs({ url, apiKey }, world.clock);
  const file = writeLogin(world, { url, apiKey, agentId });
  world.out(`Logged in to ${url} as ${agentId}. The key is in ${file}, readable by you alone.\n`);
  return EXIT.done;
}

/** Never from the command line, where every user of the machine could read it. */
async function readKey(url: string, world: World): Promise<string> {
  const key = (await (world.secret ?? world.stdin)(`Key of your agent on ${url}: `)).trim();
  if (key !== '') return key;
  throw new UsageError(
    `No key was given: type it, or pipe it in (lantern login < key.txt). It would be stored in ${loginFile(world)}.`,
  );
}
