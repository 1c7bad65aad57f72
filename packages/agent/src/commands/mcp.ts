import { type Room, serveRoomOverStdio } from '@lanternroom/mcp';
import { createCaller } from '@lanternroom/sdk/a2a';
import { openInbox } from '../inbox.ts';
import { baseOf } from '../server-card.ts';
import { openWake, readAccess } from '../settings.ts';
import { ownVersion } from '../version.ts';
import { EXIT, type World } from '../world.ts';

/** An MCP server on standard input and output, for as long as the client keeps it. */
export async function mcp(world: World): Promise<number> {
  // Standard output belongs to the protocol.
  await serveRoomOverStdio(openRoom(world), (error) => world.err(`lantern mcp: ${sentenceOf(error)}\n`));
  return EXIT.done;
}

/** For a line that it cannot read, the library's message is a page of its own schema. */
function sentenceOf({ message }: Error): string {
  if (message.trimStart().startsWith('[')) return 'Skipped a line that is not a JSON-RPC 2.0 message.';
  return message.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
}

/** Wrong settings end the command; an unreachable server does not: it may come back, and each tool reports it. */
function openRoom(world: World): Room {
  const { url, apiKey } = readAccess(world);
  const base = baseOf(url);
  const { wake } = openWake({ ...world, err: () => undefined });
  return {
    wake,
    inbox: openInbox(world, {}),
    agent: (given) => {
      const agent = addressOf(given, base);
      return createCaller({ agent, ...tokenFor(agent, base, apiKey) });
    },
    deskUrl: (id) => `${base}/d/${id}`,
    vouchesForIds: false,
    version: ownVersion(),
  };
}

/** An agent of this server may be called by the name on its card, `@handle/name`, as over HTTP. */
function addressOf(given: string, base: string): string {
  return /^\/?(?:@|%40)/.test(given) ? new URL(given, base).href : given;
}

/** The key is sent to its own server only, whatever address a model was talked into. */
function tokenFor(address: string, base: string, apiKey: string): { token?: string } {
  return URL.canParse(address) && new URL(address).origin === new URL(base).origin ? { token: apiKey } : {};
}
