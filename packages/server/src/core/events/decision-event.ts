import type { Json } from '../canonical.ts';
import type { Delivery, Verdict } from '../deliveries/delivery.ts';
import { isFault } from '../faults.ts';
import type { Room } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import { toIso } from '../time.ts';
import { type Envelope, outlineOf } from './event.ts';
import { place } from './place.ts';
import { ownProducer } from './producer.ts';
import { type Forward, findTakers, plainTaker } from './subscriptions/takers.ts';

/** The head rows that the event of a decision passes through. */
export function headsOfDecisionEvent(agent: string): HeadName[] {
  return [`inbox:${agent}`, `resumes:${agent}`];
}

const TYPES = {
  approved: 'human.approved',
  rejected: 'human.rejected',
  redirected: 'message.received',
} as const;

/** A decision that takes effect is also an event in the agent's inbox, written in the same transaction (K28). */
export async function placeDecisionEvent(
  room: Room,
  tx: Tx,
  answered: Delivery,
  answerBytes: string,
): Promise<void> {
  if (answered.status === 'pending') return;
  const space = await tx.spaces.get();
  const producer = ownProducer(space?.handle ?? 'home');
  const envelope = toEnvelope(answered, answered.status, producer, JSON.parse(answerBytes) as Json);
  const raw = withAnswer(envelope, answerBytes);
  await place(room, tx, {
    outline: outlineOf(envelope),
    envelope: () => envelope,
    bodyHash: room.vault.sha256(raw),
    kept: raw,
    producer,
    takers: [plainTaker(answered.agent, await forwardsOf(tx, answered, envelope, producer))],
    actor: 'system',
  });
}

/** The envelope with the answer's own bytes in it: numbers keep their digits here as on every other surface (L4). */
function withAnswer(envelope: Envelope, answerBytes: string): string {
  const mark = `the answer of ${envelope.event_id}`;
  const knowledge = { ...envelope.knowledge, content: mark };
  return JSON.stringify({ ...envelope, knowledge }).replace(JSON.stringify(mark), () => answerBytes);
}

function toEnvelope(answered: Delivery, verdict: Verdict, producer: string, content: Json): Envelope {
  return {
    spec: 'akep.v1',
    event_id: `evt_decision_${answered.id}`,
    event_type: TYPES[verdict],
    occurred_at: toIso(answered.changedAt),
    source: { producer_id: producer, name: 'lanternroom', type: 'human' },
    subject: {
      agent_id: answered.agent,
      task_id: answered.taskId ?? answered.id,
      ...(answered.threadId === null ? {} : { thread_id: answered.threadId }),
    },
    knowledge: {
      kind: 'approval',
      content_type: 'application/json',
      summary: `A person has ${verdict} this delivery.`,
      content,
    },
    routing: {
      resume_policy: 'resume_if_waiting',
      ...(answered.interruptId === null ? {} : { interrupt_id: answered.interruptId }),
      ...(answered.causeEvent === null ? {} : { causation_id: answered.causeEvent }),
    },
  };
}

/** It goes into the inbox whatever the agent subscribes to, and is forwarded where the agent has asked for that. */
async function forwardsOf(
  tx: Tx,
  { agent }: Delivery,
  envelope: Envelope,
  producer: string,
): Promise<readonly Forward[]> {
  const arrival = { envelope, producer, keyId: null, algorithm: 'v1' as const, size: 0 };
  const takers = findTakers(await tx.subscriptions.of(agent), arrival);
  return isFault(takers) ? [] : takers.flatMap((taker) => taker.forwards);
}
