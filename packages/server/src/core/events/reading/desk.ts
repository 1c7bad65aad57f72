import { Fault, isFault } from '../../faults.ts';
import type { AgentId, SpaceId } from '../../ids.ts';
import type { Room } from '../../room.ts';
import type { Job } from '../../sending/job.ts';
import type { AgentQuery, Tx } from '../../store.ts';
import { entriesOf, lastOffset } from '../inbox/inbox.ts';
import { envelopeText } from '../inbox/outgoing.ts';
import { MOST_WAITS } from '../place.ts';
import type { EntryPlace, Page } from '../store.ts';
import type { Resume } from '../waits/wait.ts';
import { type Chain, followCauses } from './chain.ts';

/** Counts stop here: nobody needs to know how many thousand it is exactly. */
const MOST = 1000;

/** What a person sees of an inbox (K32). */
export type InboxView = {
  agent: AgentId;
  last: number;
  oldest: number | null;
  unacknowledged: number;
  openWaits: number;
  resumes: number;
};

export function listInboxes(room: Room, space: SpaceId, query: AgentQuery): Promise<InboxView[]> {
  return room.store.read(space, async (tx) => {
    const views: InboxView[] = [];
    for (const { id } of await tx.agents.page(query)) views.push(await viewOf(room, tx, id));
    return views;
  });
}

/** The inbox of one agent; null when there is no such agent. */
export function showInbox(room: Room, space: SpaceId, agent: AgentId): Promise<InboxView | null> {
  return room.store.read(space, async (tx) =>
    (await tx.agents.get(agent)) === null ? null : viewOf(room, tx, agent),
  );
}

async function viewOf(room: Room, tx: Tx, agent: AgentId): Promise<InboxView> {
  return {
    agent,
    last: await lastOffset(tx, { space: tx.space, agent }),
    oldest: await tx.entries.oldest(agent),
    unacknowledged: (await tx.entries.unacked(agent, MOST)).length,
    openWaits: (await tx.waits.open(agent, room.clock.now(), MOST_WAITS)).length,
    resumes: (await tx.heads.get(`resumes:${agent}`))?.n ?? 0,
  };
}

/** Newest first: of one inbox, or of all of them. */
export function listEntries(
  room: Room,
  space: SpaceId,
  query: { agent: AgentId | null; after: EntryPlace; limit: number },
): Promise<Page> {
  const { agent, after, limit } = query;
  return room.store.read(space, (tx) =>
    agent === null ? tx.entries.recent(after, limit) : tx.entries.newest(agent, after.place, limit),
  );
}

export type EventDetail = { page: Page; text: string; resumes: Resume[]; forwards: Job[]; chain: Chain };

/** One event with everything that is known of it in this inbox. */
export function showEvent(
  room: Room,
  at: { space: SpaceId; agent: AgentId; eventId: string; producer: string | null },
): Promise<EventDetail | Fault> {
  const { space, agent, eventId, producer } = at;
  return room.store.read(space, async (tx) => {
    const page = await entriesOf(tx, { space, agent }, eventId, producer);
    if (isFault(page)) return page;
    const newest = page.at(-1);
    if (newest === undefined) return new Fault('not_found', 'There is no event with this id in this inbox.');
    const jobs = await tx.jobs.byDelivery(eventId);
    return {
      page,
      text: envelopeText(newest.event),
      resumes: await tx.waits.resumesOf(agent, eventId, MOST),
      forwards: jobs.filter((job) => job.kind === 'forward' && job.agent === agent),
      chain: await followCauses(tx, agent, newest.event),
    };
  });
}
