import { accept } from '../deliveries/accept.ts';
import type { Content, Draft } from '../deliveries/delivery.ts';
import { LEAVING } from '../events/retention.ts';
import { Fault, isFault } from '../faults.ts';
import type { DeliveryId } from '../ids.ts';
import type { Person } from '../people/person.ts';
import { type Room, record } from '../room.ts';
import type { Agent } from './agent.ts';
import type { Identity } from './key.ts';

export const SAMPLE_AGENT = 'sample-agent';

/** What the sample agent delivers: the content as an agent would send it, and the draft it becomes. */
export type Specimen = { content: Content; draft: Draft };

export type Sampled = { agent: Agent; deliveries: DeliveryId[] };

/** An agent that shows what the desk is for. It has no key, so that nobody can ever deliver in its name. */
export async function makeSample(
  room: Room,
  person: Person,
  specimens: (earlier: readonly DeliveryId[]) => Specimen | null,
): Promise<Sampled | Fault> {
  const agent = await ensureAgent(room, person);
  if (isFault(agent)) return agent;
  const deliveries: DeliveryId[] = [];
  for (let next = specimens([]); next !== null; next = specimens(deliveries)) {
    const made = await deliverSpecimen(room, agent, next, deliveries.length);
    if (isFault(made)) return made;
    deliveries.push(made.id);
  }
  return { agent, deliveries };
}

/** A click that was interrupted can be repeated: the agent is found again, and no delivery is made twice. */
function ensureAgent(room: Room, person: Person): Promise<Agent | Fault> {
  return room.store.write(person.space, ['ledger'], async (tx) => {
    const before = await tx.agents.get(SAMPLE_AGENT);
    if (before?.sample) return before;
    if (before !== null) {
      return new Fault('name_taken', `An agent of yours is already named ${SAMPLE_AGENT}.`, {
        field: 'agent_id',
      });
    }
    const now = room.clock.now();
    const agent: Agent = {
      space: person.space,
      id: SAMPLE_AGENT,
      createdAt: now,
      acceptedAt: now,
      callbacks: [],
      lastSeenAt: null,
      connectedAt: null,
      sample: true,
    };
    await tx.agents.insert(agent, []);
    await record(room, tx, now, {
      actor: `person:${person.id}`,
      action: 'sample.added',
      subject: agent.id,
      data: {},
    });
    tx.announce(`desk:${tx.space}`, 'agents');
    return agent;
  });
}

// The sample takes nothing from anybody's allowance.
const GENEROUS = { perHour: 1_000_000, burst: 1_000_000 };
const encoder = new TextEncoder();

function deliverSpecimen(room: Room, agent: Agent, { content, draft }: Specimen, index: number) {
  const { rates } = room.settings;
  const generous = { ...room, settings: { ...room.settings, rates: { ...rates, test: GENEROUS } } };
  return accept(generous, {
    identity: sampleIdentity(agent),
    draft,
    content,
    raw: encoder.encode(JSON.stringify(content)),
    idempotencyKey: `sample-${agent.createdAt}-${index}`,
  });
}

function sampleIdentity(agent: Agent): Identity {
  return {
    key: {
      space: agent.space,
      id: 'sample',
      agent: agent.id,
      tier: 'test',
      lastFour: '',
      digest: '',
      createdAt: agent.createdAt,
      expiresAt: null,
      revokedAt: null,
    },
    accepted: true,
    callbacks: [],
  };
}

/** Removes everything the sample delivered; the ledger keeps its lines, as always. */
export function removeSample(room: Room, person: Person): Promise<Fault | null> {
  return room.store.write(person.space, ['ledger', ...LEAVING], async (tx) => {
    const agent = await tx.agents.get(SAMPLE_AGENT);
    if (agent === null || !agent.sample) return new Fault('not_found', 'There is no sample here.');
    await tx.agents.remove(agent.id);
    await record(room, tx, room.clock.now(), {
      actor: `person:${person.id}`,
      action: 'sample.removed',
      subject: agent.id,
      data: {},
    });
    tx.announce(`desk:${tx.space}`, 'agents');
    return null;
  });
}
