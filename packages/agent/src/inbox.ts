import { join } from 'node:path';
import { createInbox, type Inbox } from '@lanternroom/sdk/akep';
import { homeOf } from './home.ts';
import { nameOf, readSettings } from './settings.ts';
import type { World } from './world.ts';

// Apart from settings.ts: what only asks a person, such as the hook, loads nothing of the inbox.

/** `looking`: whoever only looks keeps a place of their own, so that what was shown is still handed to a command. */
export interface InboxFlags {
  readonly cursorFile?: string;
  readonly looking?: boolean;
}

/** The inbox of the agent, read from where this machine stopped. */
export function openInbox(world: World, flags: InboxFlags): Inbox {
  const shared = readSettings(world);
  return createInbox({
    ...shared,
    cursor: flags.cursorFile ?? cursorFile(homeOf(world.env), shared, flags.looking === true),
    onCursorExpired: () =>
      world.err('Some events were dropped on the server before they were read here; going on behind them.\n'),
  });
}

/** Beside those of other agents and servers. */
function cursorFile(
  home: string,
  { url, apiKey }: { url: string; apiKey: string },
  looking: boolean,
): string {
  return join(home, '.lantern', 'cursors', `${nameOf(url, apiKey)}${looking ? '-shown' : ''}.json`);
}
