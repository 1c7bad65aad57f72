import { Fault } from '../faults.ts';
import type { AgentId, DeliveryId, SpaceId } from '../ids.ts';
import type { Person } from '../people/person.ts';
import { type Room, record } from '../room.ts';
import type { Tx } from '../store.ts';
import { type Micros, toIsoOrNull } from '../time.ts';
import type { Delivery } from './delivery.ts';
import { earlierSection, openSection } from './delivery.ts';
import { onDelivery } from './on-delivery.ts';

/** The text of an agent's head after its last delivery came while no person had met the agent yet. */
export const UNMET = 'unmet';

/**
 * Whether a person has met the agent. Its head is locked and at hand, and says whether that was not so at its last
 * delivery: an agent that delivers a lot before anybody looks need not be looked up each time.
 */
export async function isMet(tx: Tx, agent: AgentId): Promise<boolean> {
  const head = await tx.heads.get(`agent:${agent}`);
  return head?.text !== UNMET && tx.agents.isAccepted(agent);
}

/** The first decision or reading by a person makes a new agent a known one; its other deliveries take their places. */
export async function acceptAgent(tx: Tx, delivery: Delivery, now: Micros): Promise<void> {
  if (delivery.section !== 'new_agents' && (await tx.agents.isAccepted(delivery.agent))) return;
  await tx.agents.accept(delivery.agent, now);
  const head = await tx.heads.get(`agent:${delivery.agent}`);
  if (head?.text === UNMET) tx.heads.set(`agent:${delivery.agent}`, { ...head, text: '' });
  await placeOthers(tx, delivery);
}

const AT_ONCE = 1000;

/** All of them, page by page: one that nobody looked at for days may have sent thousands. */
async function placeOthers(tx: Tx, { id, agent }: Delivery): Promise<void> {
  let after: Delivery | undefined;
  do {
    const page = await tx.deliveries.list({ section: 'new_agents', agent, after, limit: AT_ONCE });
    for (const other of page.filter((one) => one.id !== id))
      await tx.deliveries.update({ ...other, ...openSection({ ...other, accepted: true }) });
    after = page.length < AT_ONCE ? undefined : page.at(-1);
  } while (after !== undefined);
}

type Place = Pick<Delivery, 'section' | 'sectionAt'>;

/** Updates and alerts: once they are read, nothing is left to do. */
function asksNothing({ type }: Delivery): boolean {
  return type === 'update' || type === 'alert';
}

/** Where a waiting delivery belongs when it is not snoozed: the place it returns to. */
export async function openPlace(tx: Tx, delivery: Delivery): Promise<Place> {
  if (delivery.readAt !== null && asksNothing(delivery)) return earlierSection(delivery.readAt);
  return openSection({ ...delivery, accepted: await tx.agents.isAccepted(delivery.agent) });
}

/** A person has read it. Updates and alerts ask for nothing more, so they step back to Earlier. */
export function markRead(room: Room, person: Person, id: DeliveryId): Promise<Delivery | Fault> {
  return onDelivery(room, { space: person.space, id }, async (tx, delivery) => {
    if (delivery.readAt !== null) return delivery;
    const now = room.clock.now();
    await record(room, tx, now, {
      actor: `person:${person.id}`,
      action: 'delivery.read',
      subject: id,
      data: {},
    });
    await acceptAgent(tx, delivery, now);
    const read = await placeRead(tx, { ...delivery, readAt: now, readBy: person.id });
    await tx.deliveries.update(read);
    tx.announce(`desk:${tx.space}`, delivery.id);
    return read;
  });
}

async function placeRead(tx: Tx, read: Delivery): Promise<Delivery> {
  const waits = read.state === 'pending';
  // A snoozed delivery that still asks for a decision stays snoozed until its time.
  if (!waits || (read.snoozedUntil !== null && !asksNothing(read))) return read;
  return { ...read, snoozedUntil: null, ...(await openPlace(tx, read)) };
}

/** Out of sight until then. Null brings it back now. */
export function snooze(
  room: Room,
  person: Person,
  id: DeliveryId,
  until: Micros | null,
): Promise<Delivery | Fault> {
  return onDelivery(room, { space: person.space, id }, async (tx, delivery) => {
    if (delivery.state !== 'pending') {
      return new Fault('not_pending', 'Only what still waits for a decision can be snoozed.');
    }
    const now = room.clock.now();
    await record(room, tx, now, {
      actor: `person:${person.id}`,
      action: 'delivery.snoozed',
      subject: id,
      data: { until: toIsoOrNull(until) },
    });
    return moveSnoozed(tx, delivery, until);
  });
}

/** The snooze has ended: the delivery returns to its place. Called by the ticker, and safe to repeat. */
export function wakeSnoozed(room: Room, space: SpaceId, id: DeliveryId): Promise<Delivery | Fault> {
  return onDelivery(room, { space, id }, async (tx, delivery) => {
    const due = delivery.snoozedUntil !== null && delivery.snoozedUntil <= room.clock.now();
    if (!due) return delivery;
    await record(room, tx, room.clock.now(), {
      actor: 'system',
      action: 'delivery.returned',
      subject: id,
      data: {},
    });
    return moveSnoozed(tx, delivery, null);
  });
}

async function moveSnoozed(tx: Tx, delivery: Delivery, until: Micros | null): Promise<Delivery> {
  const place: Place =
    until === null ? await openPlace(tx, delivery) : { section: 'snoozed', sectionAt: until };
  const moved: Delivery = { ...delivery, snoozedUntil: until, ...place };
  await tx.deliveries.update(moved);
  tx.announce(`desk:${tx.space}`, delivery.id);
  return moved;
}
