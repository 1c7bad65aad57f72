import { Fault } from '../faults.ts';
import type { AgentId, SpaceId } from '../ids.ts';
import type { Room } from '../room.ts';
import type { Tx } from '../store.ts';
import { type Micros, SECOND } from '../time.ts';
import { framesTopic, liveLinks } from './frames.ts';

/** A connection that was not renewed for this long is considered dead, and its work goes to another. */
export const LINK_KEPT: Micros = 60 * SECOND;
export const RENEW_LINKS_EVERY: Micros = LINK_KEPT / 3;

/** Follows a connection's name in a wake-up: it may own frames that are older than those it has seen. */
export const ADOPTED = '!';

/** Follows a connection's name in a wake-up: its laptop has reconnected, so this one is half-open at best. */
export const REPLACED = '-';

/** Per agent, at the same time (A13). */
const MOST_LINKS = 100;

type At = { space: SpaceId; agent: AgentId; link: string };

/**
 * `replaces` is the connection that this laptop had before; it is gone, though nobody recorded that when its server
 * died.
 */
type Joining = At & { replaces: string | null };

/**
 * A laptop has connected: it gets the work that nobody has, and the work of connections that are gone. Refused when
 * too many are connected already, because every message to the agent reads them all.
 */
export function join(room: Room, { space, agent, link, replaces }: Joining): Promise<Fault | null> {
  return room.store.write(space, [`frames:${agent}`], async (tx) => {
    const now = room.clock.now();
    const others = (await tx.links.of(agent)).filter(({ id }) => id !== link);
    const lost = others.filter(({ id, until }) => until <= now || id === replaces);
    if (others.length - lost.length >= MOST_LINKS) return tooManyLinks();
    // It may join a second time, if its lease ran out although it was there.
    await tx.links.remove(agent, link);
    await tx.links.insert({ agent, id: link, since: now, until: now + LINK_KEPT });
    await tx.frames.adopt(agent, null, link);
    for (const { id } of lost) {
      await tx.links.remove(agent, id);
      await tx.frames.adopt(agent, id, link);
      if (id === replaces) tx.announce(framesTopic(space, agent), id + REPLACED);
    }
    await tx.agents.connected(agent, now);
    tx.announce(framesTopic(space, agent), link + ADOPTED);
    tx.announce(`desk:${space}`, 'agents');
    return null;
  });
}

function tooManyLinks(): Fault {
  return new Fault(
    'rate_limited',
    `This agent has ${MOST_LINKS} connections, and may have no more. End one, then come back.`,
  );
}

/** A laptop has disconnected: the agent's other laptops take over, or the work waits (A14). */
export function leave(room: Room, { space, agent, link }: At): Promise<void> {
  return room.store.write(space, [`frames:${agent}`], async (tx) => {
    await tx.links.remove(agent, link);
    await handOver(room, tx, agent, link);
    await tx.agents.connected(agent, room.clock.now());
    tx.announce(`desk:${space}`, 'agents');
  });
}

async function handOver(room: Room, tx: Tx, agent: AgentId, link: string): Promise<void> {
  const heir = (await liveLinks(room, tx, agent)).at(0)?.id ?? null;
  const moved = await tx.frames.adopt(agent, link, heir);
  if (heir !== null && moved > 0) tx.announce(framesTopic(tx.space, agent), heir + ADOPTED);
}

/**
 * Renews the connections of one space that are open here. Returns those whose lease had run out, as happens while the
 * database is away: they were taken for dead, and new work waits until they join again.
 */
export function renewLinks<L extends Omit<At, 'space'>>(
  room: Room,
  space: SpaceId,
  links: readonly L[],
): Promise<L[]> {
  return room.store.write(space, [], async (tx) => {
    const now = room.clock.now();
    const lapsed: L[] = [];
    for (const at of links)
      if (!(await tx.links.renew(at.agent, at.link, { now, until: now + LINK_KEPT }))) lapsed.push(at);
    return lapsed;
  });
}

/** Hands over what was left behind by connections whose server died: to the agent's other laptops, or it waits. */
export async function sweepLost(room: Room): Promise<void> {
  const lost = await room.store.directory.lostLinks(room.clock.now(), 100);
  for (const at of lost) {
    await room.store.write(at.space, [`frames:${at.agent}`], async (tx) => {
      const link = (await tx.links.of(at.agent)).find(({ id }) => id === at.link);
      if (link === undefined || link.until > room.clock.now()) return;
      await tx.links.remove(at.agent, at.link);
      await handOver(room, tx, at.agent, at.link);
      await noteLastThere(tx, at.agent, link.until);
      tx.announce(`desk:${at.space}`, 'agents');
    });
  }
}

/**
 * The connection ended without a goodbye. It received work until its lease ended, and a later cancel of that must
 * reach it.
 */
async function noteLastThere(tx: Tx, id: AgentId, leaseEnd: Micros): Promise<void> {
  const agent = await tx.agents.get(id);
  if (agent === null) return;
  await tx.agents.connected(id, Math.max(leaseEnd, agent.connectedAt ?? 0, agent.lastSeenAt ?? 0));
}

export type AgentPresence = { online: boolean; lastSeenAt: Micros | null; waiting: number };

const MOST_WAITING = 1000;

/** Online or asleep, and since when (A14, A23). */
export function presenceOf(room: Room, space: SpaceId, agent: AgentId): Promise<AgentPresence> {
  return room.store.read(space, async (tx) => ({
    online: (await liveLinks(room, tx, agent)).length > 0,
    lastSeenAt: (await tx.agents.get(agent))?.lastSeenAt ?? null,
    waiting: await tx.frames.waiting(agent, MOST_WAITING),
  }));
}
