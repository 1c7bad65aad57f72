import type { Delivery } from '../deliveries/delivery.ts';
import { openSection } from '../deliveries/delivery.ts';
import { bodyIdentity } from '../deliveries/sealed.ts';
import type { AgentId } from '../ids.ts';
import { type Room, record, stamp } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import { codePoints, findForbidden } from '../text.ts';
import type { Envelope, EventRecord } from './event.ts';

const HEADLINE = 120;
const SUMMARY = 280;

/** A `human.review_required` needs the agents' stamps as well. */
export function headsToReview(envelope: Envelope, agents: readonly AgentId[]): HeadName[] {
  return envelope.event_type === 'human.review_required' ? agents.map((a): HeadName => `agent:${a}`) : [];
}

/** The agent that the event names, when it is one of those it reached; otherwise all of these. */
function concerned({ subject }: Envelope, agents: readonly AgentId[]): readonly AgentId[] {
  const named = agents.filter((agent) => agent === subject.agent_id);
  return named.length > 0 ? named : agents;
}

/** Somebody outside asks for a person: it becomes a question on the desk of the agent it concerns (K29). */
export async function reviewAsDelivery(
  room: Room,
  tx: Tx,
  event: EventRecord,
  envelope: Envelope,
  agents: readonly AgentId[],
): Promise<void> {
  if (envelope.event_type !== 'human.review_required') return;
  for (const agent of concerned(envelope, agents)) {
    const { showReviews } = await tx.waits.settings(agent);
    if (showReviews) await ask(room, tx, { agent, event, envelope });
  }
}

async function ask(
  room: Room,
  tx: Tx,
  q: { agent: AgentId; event: EventRecord; envelope: Envelope },
): Promise<void> {
  const { subject, knowledge, routing, source } = q.envelope;
  const content = {
    agent_id: q.agent,
    provider: source.name,
    type: 'question' as const,
    headline: oneLine(knowledge.summary, HEADLINE),
    summary: oneLine(knowledge.summary, SUMMARY),
    details: asDetails(q.envelope),
    task_id: typeof subject.task_id === 'string' ? subject.task_id : null,
    thread_id: typeof subject.thread_id === 'string' ? subject.thread_id : null,
    interrupt_id: routing.interrupt_id ?? null,
  };
  const raw = JSON.stringify(content);
  const id = room.ids.uuid();
  const contentHash = room.vault.sha256(room.vault.canonical(content));
  const createdAt = await stamp(room, tx, q.agent);
  const seq = await record(room, tx, createdAt, {
    actor: `producer:${q.event.producer}`,
    action: 'delivery.accepted',
    subject: id,
    data: { type: 'question', content_sha256: contentHash, event: q.event.eventId },
  });
  const known = (await tx.agents.get(q.agent))?.acceptedAt !== null;
  const delivery: Delivery = {
    space: tx.space,
    seq,
    id,
    agent: q.agent,
    tier: 'live',
    provider: content.provider,
    type: 'question',
    headline: content.headline,
    summary: content.summary,
    contentHash,
    createdAt,
    changedAt: createdAt,
    status: 'pending',
    state: 'pending',
    ...openSection({ type: 'question', accepted: known, timeoutAt: null, createdAt }),
    timeoutAt: null,
    taskId: content.task_id,
    threadId: content.thread_id,
    interruptId: content.interrupt_id,
    revises: null,
    revision: 1,
    supersededBy: null,
    dedupeKey: null,
    readAt: null,
    readBy: null,
    snoozedUntil: null,
    effectAt: null,
    withdrawnAt: null,
    causeEvent: q.event.eventId,
  };
  await tx.deliveries.insert(delivery, room.vault.seal(raw, bodyIdentity(delivery)));
  tx.announce(`desk:${tx.space}`, id);
}

function asDetails({ knowledge }: Envelope) {
  return typeof knowledge.content === 'object' &&
    knowledge.content !== null &&
    !Array.isArray(knowledge.content)
    ? knowledge.content
    : { summary: knowledge.summary, content: knowledge.content ?? null, uri: knowledge.uri ?? null };
}

/** A producer's words on one plain line of ours: what W9 forbids becomes a space, what is too long is cut. */
function oneLine(text: string, most: number): string {
  let line = '';
  for (const letter of text) line += findForbidden(letter) === null ? letter : ' ';
  const plain = line.trim() || 'A review is asked for';
  return codePoints(plain) <= most ? plain : `${[...plain].slice(0, most - 1).join('')}…`;
}
