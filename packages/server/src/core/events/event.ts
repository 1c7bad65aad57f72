import type { Json, JsonObject } from '../canonical.ts';
import type { AgentId, SpaceId } from '../ids.ts';
import { fromIso, type Micros } from '../time.ts';

/** From the most careful to the least: the stricter of two is the one further left. */
export const RESUME_POLICIES = ['never', 'append_only', 'resume_if_waiting', 'resume_immediately'] as const;
export type ResumePolicy = (typeof RESUME_POLICIES)[number];

export function stricter(a: ResumePolicy, b: ResumePolicy): ResumePolicy {
  return RESUME_POLICIES.indexOf(a) <= RESUME_POLICIES.indexOf(b) ? a : b;
}

/** An AKEP envelope, after its schema has been checked. */
export type Envelope = {
  spec: string;
  event_id: string;
  event_type: string;
  occurred_at: string;
  source: { producer_id?: string; name: string; type: string; source_event_id?: string };
  subject: Record<string, string | number | boolean | null>;
  knowledge: {
    kind: string;
    content_type: string;
    summary: string;
    expires_at?: string | null;
    content?: Json;
  } & JsonObject;
  routing: {
    resume_policy: ResumePolicy;
    interrupt_id?: string | null;
    causation_id?: string | null;
    sequence?: number | null;
  } & JsonObject;
};

/** What is stored of an envelope in columns. Everything else is read from its bytes when it is needed. */
export type Outline = {
  eventId: string;
  eventType: string;
  taskId: string | null;
  causationId: string | null;
  resumePolicy: ResumePolicy;
  sequence: number | null;
  /** The subject that the sequence numbers belong to; null without one. */
  subject: string | null;
  /** A test producer left its id out: it is filled in when the event is sent out (K5). */
  fillProducer: boolean;
  /** Its knowledge lies elsewhere: an artifact of its task (K16). */
  hasUri: boolean;
};

export function outlineOf(envelope: Envelope): Outline {
  const { event_id, event_type, subject, routing, source, knowledge } = envelope;
  // Beyond the safe integers there is no next number, and so no order to judge.
  const sequence = Number.isSafeInteger(routing.sequence) ? (routing.sequence ?? null) : null;
  return {
    eventId: event_id,
    eventType: event_type,
    taskId: typeof subject.task_id === 'string' ? subject.task_id : null,
    causationId: routing.causation_id ?? null,
    resumePolicy: routing.resume_policy,
    sequence,
    subject: sequence === null ? null : subjectKey(envelope),
    fillProducer: source.producer_id === undefined,
    hasUri: typeof knowledge.uri === 'string',
  };
}

/** An event as it is stored: the exact bytes that arrived, and the columns it is looked up by. */
export type EventRecord = {
  space: SpaceId;
  seq: number;
  producer: string;
  eventId: string;
  eventType: string;
  receivedAt: Micros;
  bodyHash: string;
  taskId: string | null;
  causationId: string | null;
  fillProducer: boolean;
  outOfOrder: boolean;
};

export const ACK_STATUSES = ['stored', 'applied', 'rejected'] as const;
export type AckStatus = (typeof ACK_STATUSES)[number];

export type Ack = { status: AckStatus; processedAt: Micros; reason: string | null };

/** One event in one agent's inbox, with its place. */
export type Entry = {
  space: SpaceId;
  agent: AgentId;
  offset: number;
  eventSeq: number;
  producer: string;
  eventId: string;
  eventType: string;
  taskId: string | null;
  receivedAt: Micros;
  keptUntil: Micros;
  /** True also where it was not recorded. */
  hasUri: boolean;
  ack: Ack | null;
};

/** An event whose knowledge has expired is stored but never wakes a wait (K20). */
export function hasExpired(envelope: Envelope, now: Micros): boolean {
  const { expires_at } = envelope.knowledge;
  const at = typeof expires_at === 'string' ? fromIso(expires_at) : null;
  return at !== null && at <= now;
}

/** Names a subject, so that its events can be put in order: all its members, in one fixed spelling. */
export function subjectKey(envelope: Envelope): string {
  const { subject } = envelope;
  return JSON.stringify(
    Object.keys(subject)
      .sort()
      .map((name) => [name, subject[name]]),
  );
}

type Told = 'completed' | 'failed' | 'input_required';

const TOLD_BY: ReadonlyMap<string, Told> = new Map([
  ['knowledge.acquired', 'completed'],
  ['tool.completed', 'completed'],
  ['human.approved', 'completed'],
  ['tool.failed', 'failed'],
  ['human.rejected', 'failed'],
  ['human.review_required', 'input_required'],
]);

/** The types of event that tell a task's state. */
export const TELLING_TYPES: readonly string[] = [...TOLD_BY.keys()];

/** The state of a task after this event; null when the event does not change it (K16). */
export function taskStatusAfter(eventType: string): Told | null {
  return TOLD_BY.get(eventType) ?? null;
}

export type AckJudged = { kind: 'set' } | { kind: 'same' } | { kind: 'refused' };

/** `stored` moves on to `applied` or `rejected`; saying the same again changes nothing; any other change is refused (K13). */
export function judgeAck(before: Ack | null, status: AckStatus): AckJudged {
  if (before === null) return { kind: 'set' };
  if (before.status === status) return { kind: 'same' };
  return before.status === 'stored' ? { kind: 'set' } : { kind: 'refused' };
}
