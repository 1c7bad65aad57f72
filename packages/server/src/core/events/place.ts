import type { AgentId } from '../ids.ts';
import { type Room, record } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import { type Entry, type Envelope, type EventRecord, stricter, subjectKey } from './event.ts';
import { queueForwards } from './forward.ts';
import { asSent } from './outgoing.ts';
import type { Taker } from './takers.ts';
import { judgeResume, type Resume } from './wait.ts';

/** An event that is to be kept, whoever sent it. */
export type Placing = {
  envelope: Envelope;
  /** The bytes that came: what makes a second one a duplicate. */
  raw: string | Uint8Array;
  /** What is kept of them; other than `raw` only where another format was mapped to ours. */
  kept: string | Uint8Array;
  producer: string;
  fillProducer: boolean;
  takers: readonly Taker[];
  actor: string;
};

export function headsToPlace(room: Room, envelope: Envelope, agents: readonly AgentId[]): HeadName[] {
  return [
    'ledger',
    ...(envelope.routing.sequence == null ? [] : [subjectHead(room, envelope)]),
    ...agents.flatMap((agent): HeadName[] => [`inbox:${agent}`, `resumes:${agent}`]),
  ];
}

function subjectHead(room: Room, envelope: Envelope): HeadName {
  return `subject:${room.vault.sha256(subjectKey(envelope)).slice(0, 32)}`;
}

/** Keeps the event, puts it into every inbox and judges each resume, in the transaction at hand (K9, K20). */
export async function place(room: Room, tx: Tx, placing: Placing): Promise<EventRecord> {
  const now = room.clock.now();
  const { envelope } = placing;
  const bodyHash = room.vault.sha256(placing.raw);
  const outOfOrder = await noteSequence(room, tx, envelope);
  const seq = await record(room, tx, now, {
    actor: placing.actor,
    action: 'event.accepted',
    subject: envelope.event_id,
    data: { type: envelope.event_type, body_sha256: bodyHash, inboxes: placing.takers.map((t) => t.agent) },
  });
  const event: EventRecord = {
    space: tx.space,
    seq,
    producer: placing.producer,
    eventId: envelope.event_id,
    eventType: envelope.event_type,
    receivedAt: now,
    bodyHash,
    taskId: typeof envelope.subject.task_id === 'string' ? envelope.subject.task_id : null,
    causationId: envelope.routing.causation_id ?? null,
    fillProducer: placing.fillProducer,
    outOfOrder,
  };
  await tx.events.insert(event, bytesOf(placing.kept));
  for (const taker of placing.takers) {
    const offset = await enter(tx, event, taker);
    await resume(room, tx, { taker, offset, event, envelope });
    await queueForwards(room, tx, event, taker, () => asSent(textOf(placing.kept), event));
  }
  tx.announce(`desk:${tx.space}`, 'events');
  return event;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === 'string' ? encoder.encode(text) : text;
}

function textOf(bytes: string | Uint8Array): string {
  return typeof bytes === 'string' ? bytes : decoder.decode(bytes);
}

/** Puts an event at the end of one inbox and returns its place. */
export async function enter(
  tx: Tx,
  event: EventRecord,
  { agent, keptFor, ackRequired }: Pick<Taker, 'agent' | 'keptFor' | 'ackRequired'>,
  at = event.receivedAt,
): Promise<number> {
  const head = await tx.heads.get(`inbox:${agent}`);
  const offset = (head?.n ?? 0) + 1;
  tx.heads.set(`inbox:${agent}`, { n: offset, at, text: '' });
  const entry: Entry = {
    space: tx.space,
    agent,
    offset,
    eventSeq: event.seq,
    producer: event.producer,
    eventId: event.eventId,
    eventType: event.eventType,
    taskId: event.taskId,
    receivedAt: at,
    keptUntil: at + keptFor,
    ack: ackRequired ? null : { status: 'stored', processedAt: at, reason: null },
  };
  await tx.entries.insert(entry);
  tx.announce(`inbox:${tx.space}:${agent}`);
  return offset;
}

/** As many as are looked at for one event, and as many as an agent may have open. */
export const MOST_WAITS = 1000;

type Waking = { taker: Taker; offset: number; event: EventRecord; envelope: Envelope };

/** Judged once, here, in the transaction that took the event in; a wait ends with its first resume (K21). */
async function resume(room: Room, tx: Tx, { taker, offset, event, envelope }: Waking): Promise<void> {
  const { agent, ceiling } = taker;
  const advice = stricter(envelope.routing.resume_policy, ceiling);
  if (advice === 'never' || advice === 'append_only') return;
  const { maxResumePolicy } = await tx.waits.settings(agent);
  const open = await tx.waits.open(agent, event.receivedAt, MOST_WAITS);
  const local = stricter(maxResumePolicy, ceiling);
  for (const { wait, reason } of judgeResume(envelope, local, open, event.receivedAt)) {
    if (wait !== null && !(await tx.waits.end(wait.id))) continue;
    const head = await tx.heads.get(`resumes:${agent}`);
    const made: Resume = {
      space: tx.space,
      agent,
      offset: (head?.n ?? 0) + 1,
      entryOffset: offset,
      id: `res_${room.ids.letters(20)}`,
      eventId: event.eventId,
      waitId: wait?.id ?? null,
      runStateRef: wait?.runStateRef ?? null,
      reason: event.outOfOrder ? `${reason} Its subject has arrived out of order.` : reason,
      outOfOrder: event.outOfOrder,
      at: event.receivedAt,
    };
    tx.heads.set(`resumes:${agent}`, { n: made.offset, at: made.at, text: '' });
    await tx.waits.insertResume(made);
  }
}

/** Going back or skipping marks the subject, until its order is taken up again (K22). */
async function noteSequence(room: Room, tx: Tx, envelope: Envelope): Promise<boolean> {
  const { sequence } = envelope.routing;
  if (sequence === undefined || sequence === null) return false;
  const name = subjectHead(room, envelope);
  const last = await tx.heads.get(name);
  tx.heads.set(name, { n: Math.max(sequence, last?.n ?? 0), at: room.clock.now(), text: '' });
  return last !== null && sequence !== last.n + 1;
}
