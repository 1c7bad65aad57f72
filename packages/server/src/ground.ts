import type { Config } from './config.ts';
import type { Doorkeeper } from './core/people/login/login.ts';
import { type Clock, SECOND } from './core/time.ts';
import { Auditor } from './storage/auditor.ts';
import { type DataFolder, openDataFolder } from './storage/folder/data-folder.ts';
import type { openDataServer } from './storage/folder/data-server.ts';
import { assertNotMoved } from './storage/folder/moved.ts';
import { randomIds, systemClock } from './storage/ids.ts';
import { argonPasswords } from './storage/sealing/passwords.ts';
import { webAuthnPasskeys } from './storage/sealing/webauthn.ts';

/** The core on its store, without any door: what the command line works with. */
export type Ground = { data: DataFolder; room: Doorkeeper; auditor: Auditor; stop(): Promise<void> };

export async function openGround(
  config: Config,
  given?: Clock,
  warn?: (message: string) => void,
): Promise<Ground> {
  const data = await openData(config, warn);
  const clock = given ?? data.clock ?? systemClock();
  const room: Doorkeeper = {
    store: data.store,
    clock,
    ids: randomIds,
    vault: data.vault,
    passwords: argonPasswords(),
    passkeys: webAuthnPasskeys(),
    settings: {
      undoWindow: config.undoSeconds * SECOND,
      rates: { test: config.rateTest, live: config.rateLive },
    },
  };
  const auditor = new Auditor({
    room,
    session: data.store.session,
    file: data.checkpoints,
    vault: data.vault,
  });
  return { data, room, auditor, stop: () => data.store.stop() };
}

async function openData(config: Config, warn?: (message: string) => void): Promise<DataFolder> {
  const { data: folder, secret, databaseUrl: url } = config;
  const data =
    url === null
      ? await openDataFolder(folder, secret)
      : await openOnServer(folder, secret, { url, ...(warn && { warn }) });
  try {
    await assertNotMoved(data.store.session);
    return data;
  } catch (reason) {
    await data.store.stop();
    throw reason;
  }
}

/** The other database is loaded only where it is used: most starts need none of it. */
async function openOnServer(...asked: Parameters<typeof openDataServer>): Promise<DataFolder> {
  const { openDataServer } = await import('./storage/folder/data-server.ts');
  return openDataServer(...asked);
}
