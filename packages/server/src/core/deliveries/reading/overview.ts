import type { Person } from '../../people/person.ts';
import { preferencesOf } from '../../people/preferences/choose.ts';
import { nextSitting } from '../../people/sittings/sittings.ts';
import { type Room, record } from '../../room.ts';
import type { Tx } from '../../store.ts';
import type { Micros } from '../../time.ts';
import type { Decision } from '../decision/decision.ts';
import { type Delivery, type DeliveryType, SECTIONS, type Section } from '../delivery.ts';

/** Counting stops here: nobody needs to know a larger number. */
export const MOST_COUNTED = 1000;

/** Looked at for those that can still be taken back. */
const LATEST_DECISIONS = 50;

/** How many minutes a delivery takes: a question is only answered, an output is read first. */
const MINUTES: Record<DeliveryType, number> = { question: 1, output: 3, alert: 1, update: 0.5 };

export type Counts = ReadonlyMap<DeliveryType, number>;
export type Overview = {
  sections: Record<Exclude<Section, 'earlier'>, number>;
  /** How long a sitting would take now: what needs the person, and what new agents have sent. */
  minutes: number;
  lastDecisionAt: Micros | null;
  satAt: Micros | null;
  nextSittingAt: Micros | null;
  deliveriesEver: number;
  /** What this person can still take back, oldest first. */
  held: HeldDecision[];
};
export type HeldDecision = { delivery: Delivery; decision: Decision };

/**
 * How long the waiting deliveries will take, in whole minutes, rounded up: better to promise too much time than too
 * little.
 */
export function estimateMinutes(...waiting: readonly Counts[]): number {
  let minutes = 0;
  for (const counts of waiting) for (const [type, n] of counts) minutes += n * MINUTES[type];
  return Math.ceil(minutes);
}

export function overview(room: Room, person: Person): Promise<Overview> {
  return room.store.read(person.space, async (tx) => {
    const open = SECTIONS.filter((s) => s !== 'earlier');
    const counts = new Map<Section, Counts>();
    for (const section of open) counts.set(section, await tx.counts.waitingIn(section, MOST_COUNTED));
    const of = (section: Section): Counts => counts.get(section) ?? new Map();
    const { preferences } = await preferencesOf(room, tx, person);
    const latest = await tx.decisions.history({ limit: LATEST_DECISIONS });
    const [last] = await tx.decisions.history({ standing: true, limit: 1 });
    return {
      sections: {
        needs_you: total(of('needs_you')),
        alerts: total(of('alerts')),
        new_agents: total(of('new_agents')),
        to_read: total(of('to_read')),
        snoozed: total(of('snoozed')),
      },
      minutes: estimateMinutes(of('needs_you'), of('new_agents')),
      lastDecisionAt: last?.decidedAt ?? null,
      satAt: await tx.people.satAt(person.id),
      nextSittingAt: nextSitting(preferences, room.clock.now()),
      deliveriesEver: await tx.counts.deliveries(MOST_COUNTED),
      held: await heldBy(tx, person, latest),
    };
  });
}

export function total(counts: Counts): number {
  let sum = 0;
  for (const n of counts.values()) sum += n;
  return sum;
}

async function heldBy(tx: Tx, person: Person, latest: readonly Decision[]): Promise<HeldDecision[]> {
  const held: HeldDecision[] = [];
  for (const decision of latest) {
    if (decision.state !== 'held' || decision.person !== person.id) continue;
    const delivery = await tx.deliveries.get(decision.delivery);
    if (delivery !== null) held.unshift({ delivery, decision });
  }
  return held;
}

/** The person has sat: the tide line of their list moves here. */
export function sit(room: Room, person: Person): Promise<void> {
  return room.store.write(person.space, ['ledger'], async (tx) => {
    const now = room.clock.now();
    await tx.people.setSatAt(person.id, now);
    await record(room, tx, now, {
      actor: `person:${person.id}`,
      action: 'person.sat',
      subject: person.id,
      data: {},
    });
    tx.announce(`desk:${tx.space}`, 'me');
  });
}
