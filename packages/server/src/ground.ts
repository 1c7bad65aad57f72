import type { Config } from './config.ts';
import type { Doorkeeper } from './core/people/login.ts';
import { type Clock, SECOND } from './core/time.ts';
import { Auditor } from './storage/auditor.ts';
import { type DataFolder, openDataFolder } from './storage/data-folder.ts';
import { randomIds, systemClock } from './storage/ids.ts';
import { argonPasswords } from './storage/passwords.ts';

/** The core on its store, without any door: what the command line works with. */
export type Ground = { data: DataFolder; room: Doorkeeper; auditor: Auditor; stop(): Promise<void> };

export async function openGround(config: Config, clock: Clock = systemClock()): Promise<Ground> {
  const data = await openDataFolder(config.data, config.secret);
  const room: Doorkeeper = {
    store: data.store,
    clock,
    ids: randomIds,
    vault: data.vault,
    passwords: argonPasswords(),
    settings: {
      undoWindow: config.undoSeconds * SECOND,
      rates: { test: config.rateTest, live: config.rateLive },
    },
  };
  const auditor = new Auditor({
    room,
    session: data.store.session,
    file: data.checkpoints,
    macMatches: (text, mac) => data.vault.macMatches(text, mac),
  });
  return { data, room, auditor, stop: () => data.store.stop() };
}
