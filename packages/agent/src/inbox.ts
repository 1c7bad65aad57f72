import { join } from 'node:path';
import { createInbox, type Inbox } from '@lanternroom/sdk/akep';
import { homeOf } from './home.ts';
import { nameOf, readSettings } from './settings.ts';
import type { World } from './world.ts';

// Separate from settings.ts, so that programs which only ask a person, such as the hook, load nothing of the inbox.

/** With `looking`, the reader has a place of its own, so that what was only shown is still handed to a command. */
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
      world.err('Some events were dropped on the server before they were read here; going on after them.\n'),
  });
}

/** One file per agent and server. */
function cursorFile(
  home: string,
  { url, apiKey }: { url: string; apiKey: string },
  looking: boolean,
): string {
  return join(home, '.lantern', 'cursors', `${nameOf(url, apiKey)}${looking ? '-shown' : ''}.json`);
}
