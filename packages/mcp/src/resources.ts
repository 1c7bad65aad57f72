import { faultOf } from '@lanternroom/sdk/akep';
import { type McpServer, ResourceNotFoundError, ResourceTemplate } from '@modelcontextprotocol/server';
import { FROM_OUTSIDE } from './results.ts';
import type { Room } from './room.ts';

export const RECENT = 'akep://events/recent';
const RECENT_COUNT = 50;

/** The inbox as resources. Knowledge is addressed by the id of the event that brought it. */
export function addResources(server: McpServer, room: Room): void {
  server.registerResource(
    'recent-events',
    RECENT,
    {
      title: 'Recent events',
      description: `The newest ${RECENT_COUNT} events of your inbox, in their order. ${FROM_OUTSIDE}`,
      mimeType: 'application/json',
    },
    async (uri, ctx) => {
      const page = await room.inbox.page({ last: RECENT_COUNT, signal: ctx.mcpReq.signal });
      return asData(uri, { events: page?.events ?? [], next_cursor: page?.nextCursor ?? null });
    },
  );
  server.registerResource(
    'event',
    new ResourceTemplate('akep://events/{event_id}', { list: undefined }),
    {
      title: 'One event',
      description: `An event of your inbox, and what was said about it. ${FROM_OUTSIDE}`,
      mimeType: 'application/json',
    },
    async (uri, { event_id }) => asData(uri, { ...(await eventOf(room, uri, event_id)) }),
  );
  server.registerResource(
    'knowledge',
    new ResourceTemplate('akep://knowledge/{knowledge_id}', { list: undefined }),
    {
      title: 'The knowledge of one event',
      description: `What an event makes known, without its envelope; knowledge_id is the event id. ${FROM_OUTSIDE}`,
      mimeType: 'application/json',
    },
    async (uri, { knowledge_id }) => {
      const { event } = await eventOf(room, uri, knowledge_id);
      return asData(uri, { source: event.source, knowledge: event.knowledge });
    },
  );
}

async function eventOf(room: Room, uri: URL, id: string | string[] | undefined) {
  try {
    return await room.inbox.get(String(id));
  } catch (error) {
    if (faultOf(error) === 'not_found') throw new ResourceNotFoundError(uri.href);
    throw error;
  }
}

function asData(uri: URL, facts: Record<string, unknown>) {
  const text = JSON.stringify({ notice: FROM_OUTSIDE, ...facts });
  return { contents: [{ uri: uri.href, mimeType: 'application/json', text }] };
}
