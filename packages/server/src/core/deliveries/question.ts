import type { Tier } from '../agents/key.ts';
import type { Json } from '../canonical.ts';
import type { AgentId } from '../ids.ts';
import { nextPlace, type Room, record, stamp } from '../room.ts';
import type { Tx } from '../store.ts';
import { codePoints, findForbidden } from '../text.ts';
import { bodyIdentity } from './content/sealed.ts';
import { shapeOf } from './content/shape.ts';
import { type Delivery, openSection, UNTOUCHED } from './delivery.ts';

const HEADLINE = 120;
const SUMMARY = 280;

/** A question that did not come through WAKE's door. */
export type Question = {
  agent: AgentId;
  provider: string;
  /** The question in the asker's words; shortened and made plain for the headline. */
  words: string;
  details: Json;
  /** How many things a person would count, where that is not the number of members in `details`. */
  parts?: number;
  taskId: string | null;
  threadId: string | null;
  interruptId: string | null;
  causeEvent: string | null;
  actor: string;
  tier: Tier;
};

/** Puts it on the desk, in the transaction at hand. Needs the heads `ledger` and the agent's. */
export async function putQuestion(room: Room, tx: Tx, q: Question): Promise<Delivery> {
  const content = contentOf(q);
  const contentHash = room.vault.sha256(room.vault.canonical(content));
  const createdAt = await stamp(room, tx, q.agent);
  const id = await tx.deliveries.idAt(await nextPlace(tx));
  const cause = q.causeEvent === null ? {} : { event: q.causeEvent };
  const seq = await record(room, tx, createdAt, {
    actor: q.actor,
    action: 'delivery.accepted',
    subject: id,
    data: { type: 'question', content_sha256: contentHash, ...cause },
  });
  const accepted = await tx.agents.isAccepted(q.agent);
  const made = { space: tx.space, seq, id, contentHash, createdAt, accepted };
  const delivery = toDelivery(q, content, made);
  await tx.deliveries.insert(delivery, room.vault.seal(JSON.stringify(content), bodyIdentity(delivery)));
  tx.announce(`desk:${tx.space}`, id);
  return delivery;
}

function contentOf(q: Question) {
  return {
    agent_id: q.agent,
    provider: q.provider,
    type: 'question' as const,
    headline: oneLine(q.words, HEADLINE),
    summary: oneLine(q.words, SUMMARY),
    details: q.details,
    task_id: q.taskId,
    thread_id: q.threadId,
    interrupt_id: q.interruptId,
  };
}

type Made = Pick<Delivery, 'space' | 'seq' | 'id' | 'contentHash' | 'createdAt'> & { accepted: boolean };

function toDelivery(q: Question, content: ReturnType<typeof contentOf>, made: Made): Delivery {
  const { type, headline, summary } = content;
  const { accepted, ...at } = made;
  return {
    ...at,
    ...UNTOUCHED,
    agent: q.agent,
    tier: q.tier,
    provider: q.provider,
    type,
    headline,
    summary,
    changedAt: at.createdAt,
    ...openSection({ type, accepted, timeoutAt: null, createdAt: at.createdAt }),
    timeoutAt: null,
    taskId: q.taskId,
    threadId: q.threadId,
    interruptId: q.interruptId,
    revises: null,
    revision: 1,
    dedupeKey: null,
    causeEvent: q.causeEvent,
    ...shapeOf(content),
    ...(q.parts === undefined ? {} : { parts: q.parts }),
  };
}

/** Somebody's words as one plain line: characters that W9 forbids become spaces, and a long text is cut. */
function oneLine(text: string, most: number): string {
  let line = '';
  for (const letter of text) line += findForbidden(letter) === null ? letter : ' ';
  const plain = line.trim() || 'A review is asked for';
  return codePoints(plain) <= most ? plain : `${[...plain].slice(0, most - 1).join('')}…`;
}
