import type { AgentId, DeliveryId, SpaceId } from '../ids.ts';
import type { Room } from '../room.ts';
import type { Tx } from '../store.ts';
import type { Micros } from '../time.ts';
import { openText, responseIdentity } from './content/sealed.ts';
import { pendingBytes } from './decision/response.ts';
import type { Status } from './delivery.ts';
import { timedOutAt } from './delivery.ts';
import type { ChangedRow } from './store.ts';

export type SweepQuery = { agent: AgentId; statuses: readonly Status[]; since: Micros | null; limit: number };

/** `items` are the bytes of each answer, ready for the page. */
export type Swept = { items: string[]; total: number; lastChange: Micros | null };

/** What the agent is shown of one delivery: the bytes, and whether they are an answer. */
export type Seen = { answered: boolean; body: string };

/** One delivery as its own agent may see it; null for unknown and foreign ids alike (core rule 9). */
export function check(room: Room, space: SpaceId, agent: AgentId, id: DeliveryId): Promise<Seen | null> {
  return room.store.read(space, async (tx) => {
    const row = await tx.deliveries.polled(id);
    if (row === null || row.agent !== agent) return null;
    const answered = row.status !== 'pending';
    if (answered && row.response === null) throw new Error(`delivery ${id} is answered but has no response`);
    return { answered, body: itemBytes(room, space, row, room.clock.now()) };
  });
}

/** Everything of this agent that changed after `since`, oldest change first (W18, W19). */
export function sweep(room: Room, space: SpaceId, query: SweepQuery): Promise<Swept> {
  return room.store.read(space, async (tx) => {
    const since = query.since ?? -1;
    // The head is read first: every stamp up to it is visible to all reads after it. Whatever is stamped meanwhile,
    // perhaps on another replica, waits for the next page; otherwise the cursor could pass an answer that was not
    // read.
    const upTo = (await tx.heads.get(`agent:${query.agent}`))?.n ?? -1;
    const rows = (await merge(tx, query, since)).filter((row) => row.changedAt <= upTo);
    const page = rows.slice(0, query.limit);
    const now = room.clock.now();
    return {
      items: page.map((row) => itemBytes(room, space, row, now)),
      total:
        rows.length < query.limit ? rows.length : await count(tx, query, { since, upTo, read: rows.length }),
      lastChange: page.at(-1)?.changedAt ?? null,
    };
  });
}

/** How many match, including what has changed while we counted. Only a full page needs the number. */
async function count(
  tx: Tx,
  query: SweepQuery,
  range: { since: Micros; upTo: Micros; read: number },
): Promise<number> {
  const sum = async (from: Micros) => {
    const counts = query.statuses.map((s) => tx.deliveries.countChanged(query.agent, s, from));
    return (await Promise.all(counts)).reduce((total, n) => total + n, 0);
  };
  const beyond = await sum(range.upTo);
  return Math.max(range.read, (await sum(range.since)) - beyond);
}

/** Each status is an index range of its own; at most `limit` rows of each are read, then merged by stamp. */
async function merge(tx: Tx, query: SweepQuery, since: Micros): Promise<ChangedRow[]> {
  const parts: ChangedRow[] = [];
  for (const status of query.statuses) {
    parts.push(...(await tx.deliveries.changed(query.agent, status, since, query.limit)));
  }
  return parts.sort((a, b) => a.changedAt - b.changedAt);
}

function itemBytes(room: Room, space: SpaceId, row: ChangedRow, now: Micros): string {
  if (row.response !== null) return openText(room, row.response, responseIdentity({ space, id: row.id }));
  return pendingBytes(row, timedOutAt(row, now));
}
