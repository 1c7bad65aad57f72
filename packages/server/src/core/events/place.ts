import type { AgentId } from '../ids.ts';
import { type Room, record } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import {
  type Entry,
  type Envelope,
  type EventRecord,
  type Outline,
  type ResumePolicy,
  stricter,
} from './event.ts';
import { asSent } from './inbox/outgoing.ts';
import { queueForwards } from './subscriptions/forward.ts';
import type { Taker } from './subscriptions/takers.ts';
import { judgeResume, type Resume, type Verdict } from './waits/wait.ts';

/** An event that is to be stored, whoever sent it. */
export type Placing = {
  outline: Outline;
  /** Parsed only for what resumes, reviews or forwards; most events are only stored. */
  envelope(): Envelope;
  /** The hash of the bytes that arrived, by which a duplicate is recognised. */
  bodyHash: string;
  /** What is stored. It differs from what arrived only where another format was mapped to ours. */
  kept: string | Uint8Array;
  producer: string;
  takers: readonly Taker[];
  actor: string;
};

export function headsToPlace(room: Room, { subject }: Outline, agents: readonly AgentId[]): HeadName[] {
  return [
    'ledger',
    ...(subject === null ? [] : [subjectHead(room, subject)]),
    ...agents.flatMap((agent): HeadName[] => [`inbox:${agent}`, `resumes:${agent}`]),
  ];
}

function subjectHead(room: Room, subject: string): HeadName {
  return `subject:${room.vault.sha256(subject).slice(0, 32)}`;
}

/** Keeps the event, puts it into every inbox and judges each resume, in the transaction at hand (K9, K20). */
export async function place(room: Room, tx: Tx, placing: Placing): Promise<EventRecord> {
  const now = room.clock.now();
  const { outline, bodyHash, envelope } = placing;
  const outOfOrder = await noteSequence(room, tx, outline);
  const seq = await record(room, tx, now, {
    actor: placing.actor,
    action: 'event.accepted',
    subject: outline.eventId,
    data: { type: outline.eventType, body_sha256: bodyHash, inboxes: placing.takers.map((t) => t.agent) },
  });
  const event: EventRecord = {
    space: tx.space,
    seq,
    producer: placing.producer,
    eventId: outline.eventId,
    eventType: outline.eventType,
    receivedAt: now,
    bodyHash,
    taskId: outline.taskId,
    causationId: outline.causationId,
    fillProducer: outline.fillProducer,
    outOfOrder,
  };
  await tx.events.insert(event, bytesOf(placing.kept));
  for (const taker of placing.takers) {
    const offset = await enter(tx, { event, hasUri: outline.hasUri }, taker);
    await resume(room, tx, { taker, offset, event, policy: outline.resumePolicy, envelope });
    await queueForwards(room, tx, taker, { event, body: () => asSent(textOf(placing.kept), event) });
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
  { event, hasUri }: { event: EventRecord; hasUri: boolean },
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
    hasUri,
    ack: ackRequired ? null : { status: 'stored', processedAt: at, reason: null },
  };
  await tx.entries.insert(entry);
  tx.announce(`inbox:${tx.space}:${agent}`);
  return offset;
}

/** How many waits are examined for one event, and how many an agent may have open. */
export const MOST_WAITS = 1000;

type Waking = {
  taker: Taker;
  offset: number;
  event: EventRecord;
  policy: ResumePolicy;
  envelope(): Envelope;
};

/** Judged once, here, in the transaction that took the event in; a wait ends with its first resume (K21). */
async function resume(room: Room, tx: Tx, waking: Waking): Promise<void> {
  const { event, policy, envelope } = waking;
  const { agent, ceiling } = waking.taker;
  const advice = stricter(policy, ceiling);
  if (advice === 'never' || advice === 'append_only') return;
  const { maxResumePolicy } = await tx.waits.settings(agent);
  const open = await tx.waits.open(agent, event.receivedAt, MOST_WAITS);
  if (open.length === 0 && advice === 'resume_if_waiting') return;
  const local = stricter(maxResumePolicy, ceiling);
  for (const judged of judgeResume(envelope(), local, open, event.receivedAt)) {
    if (judged.wait !== null && !(await tx.waits.end(judged.wait.id))) continue;
    await writeResume(room, tx, waking, judged);
  }
}

async function writeResume(
  room: Room,
  tx: Tx,
  { taker: { agent }, offset, event }: Waking,
  { wait, reason }: Verdict,
): Promise<void> {
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

/** A number that goes back or skips marks the subject until its order is restored (K22). */
async function noteSequence(room: Room, tx: Tx, { sequence, subject }: Outline): Promise<boolean> {
  if (sequence === null || subject === null) return false;
  const name = subjectHead(room, subject);
  const last = await tx.heads.get(name);
  tx.heads.set(name, { n: Math.max(sequence, last?.n ?? 0), at: room.clock.now(), text: '' });
  return last !== null && sequence !== last.n + 1;
}
