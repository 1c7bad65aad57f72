import { faultOf } from '@lanternroom/sdk/akep';
import type { McpServer } from '@modelcontextprotocol/server';
import { RECENT } from './resources.ts';
import type { Room } from './room.ts';

const WAIT_SECONDS = 50;
const PAUSE_MS = 5_000;

/**
 * Tells the client of new events for as long as the connection lasts. Clients of the older era subscribe to addresses
 * one by one; for those of the newer one the transport keeps the list.
 */
export function pushUpdates(
  server: McpServer,
  room: Room,
  era: 'legacy' | 'modern',
  signal: AbortSignal,
): void {
  const wanted = new Set<string>();
  if (era === 'legacy') {
    server.server.setRequestHandler('resources/subscribe', async ({ params }) => {
      wanted.add(params.uri);
      return {};
    });
    server.server.setRequestHandler('resources/unsubscribe', async ({ params }) => {
      wanted.delete(params.uri);
      return {};
    });
  }
  const tell = async (uri: string) => {
    if (era === 'modern' || wanted.has(uri)) await server.server.sendResourceUpdated({ uri });
  };
  void follow(room, tell, signal);
}

async function follow(room: Room, tell: (uri: string) => Promise<void>, signal: AbortSignal): Promise<void> {
  let cursor: string | undefined;
  while (!signal.aborted) {
    try {
      cursor ??= (await room.inbox.page({ last: 1, signal }))?.nextCursor;
      const page = await nextPage(room, cursor, signal);
      if (page === null) continue;
      cursor = page.nextCursor;
      await tell(RECENT);
      for (const event of page.events) await tell(`akep://events/${event.event_id}`);
    } catch (error) {
      const fault = faultOf(error);
      // A refused key stays refused, and every tool says so. Everything else passes.
      if (fault === 'unauthorized' || fault === 'forbidden') return;
      if (fault === 'cursor_expired') cursor = undefined;
      if (!signal.aborted) await pause(signal);
    }
  }
}

/** Null when nothing came in time. */
async function nextPage(room: Room, cursor: string | undefined, signal: AbortSignal) {
  const askedAt = performance.now();
  const page = await room.inbox.page({ cursor, waitSeconds: WAIT_SECONDS, signal });
  if (page !== null && page.events.length > 0) return page;
  // A stopping server releases all waiting clients at once, and some proxies do not hold requests.
  if (performance.now() - askedAt < WAIT_SECONDS * 500) await pause(signal);
  return null;
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, PAUSE_MS);
    signal.addEventListener('abort', end);
  });
}
