import type { Tier } from '../agents/key.ts';
import { putQuestion } from '../deliveries/question.ts';
import type { AgentId } from '../ids.ts';
import type { Room } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import type { Envelope, EventRecord, Outline } from './event.ts';

const REVIEW = 'human.review_required';

/** A `human.review_required` becomes a delivery, and so needs the heads that stamp it. */
export function headsToReview({ eventType }: Outline, agents: readonly AgentId[]): HeadName[] {
  return eventType === REVIEW ? agents.map((a): HeadName => `agent:${a}`) : [];
}

/** The agent that the event names, if it reached that one; otherwise all that it reached. */
function concerned({ subject }: Envelope, agents: readonly AgentId[]): readonly AgentId[] {
  const named = agents.filter((agent) => agent === subject.agent_id);
  return named.length > 0 ? named : agents;
}

type Placed = {
  event: EventRecord;
  /** Read only when it is needed. */
  envelope: () => Envelope;
  /** Those that it reached. */
  agents: readonly AgentId[];
  /** Its producer's. */
  tier: Tier;
};

/** An outside system asks for a person: the event becomes a question on the desk (K29). */
export async function reviewAsDelivery(
  room: Room,
  tx: Tx,
  { event, envelope: read, agents, tier }: Placed,
): Promise<void> {
  if (event.eventType !== REVIEW) return;
  const envelope = read();
  for (const agent of concerned(envelope, agents)) {
    const { showReviews } = await tx.waits.settings(agent);
    if (showReviews) await ask(room, tx, { agent, event, envelope, tier });
  }
}

async function ask(
  room: Room,
  tx: Tx,
  { agent, event, envelope, tier }: Pick<Placed, 'event' | 'tier'> & { agent: AgentId; envelope: Envelope },
): Promise<void> {
  const { subject, knowledge, routing, source } = envelope;
  await putQuestion(room, tx, {
    agent,
    provider: source.name,
    words: knowledge.summary,
    details: asDetails(envelope),
    taskId: typeof subject.task_id === 'string' ? subject.task_id : null,
    threadId: typeof subject.thread_id === 'string' ? subject.thread_id : null,
    interruptId: routing.interrupt_id ?? null,
    causeEvent: event.eventId,
    actor: `producer:${event.producer}`,
    tier,
  });
}

function asDetails({ knowledge }: Envelope) {
  return typeof knowledge.content === 'object' &&
    knowledge.content !== null &&
    !Array.isArray(knowledge.content)
    ? knowledge.content
    : { summary: knowledge.summary, content: knowledge.content ?? null, uri: knowledge.uri ?? null };
}
