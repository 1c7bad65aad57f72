import { LanternError } from '../faults.ts';
import type { AkepEvent, EventSource, Knowledge, Routing } from './wire.ts';

/**
 * What a producer wants to make known. The rest of the envelope is filled in: an `event_id`, the time, the source,
 * `resume_if_waiting` as the advice, and the content type.
 */
export interface EventDraft extends Pick<AkepEvent, 'event_type' | 'subject'> {
  /** Bring your own, with `occurred_at`, when you may send the same event again after a restart. */
  readonly event_id?: string | undefined;
  readonly occurred_at?: string | undefined;
  readonly source?: Partial<EventSource> | undefined;
  readonly knowledge: Pick<Knowledge, 'kind' | 'summary'> & Partial<Knowledge>;
  readonly routing?: Partial<Routing> | undefined;
  readonly links?: Record<string, string> | undefined;
  readonly extensions?: Record<string, unknown> | undefined;
}

type SourceOf<T> = Omit<EventSource, 'producer_id'> & T;

const PARTS = [
  'spec',
  'event_id',
  'event_type',
  'occurred_at',
  'source',
  'subject',
  'knowledge',
  'routing',
  'links',
  'extensions',
];
const SUBJECTS = ['task_id', 'thread_id', 'agent_id', 'user_id', 'artifact_id'];
const EVENT_ID = /^[A-Za-z0-9_:-]{8,128}$/;
const EVENT_TYPE = /^[a-z0-9][a-z0-9_.-]{1,126}[a-z0-9]$/;

/** The whole envelope, checked for what would surely be refused. The server judges the rest. */
export function fromEventDraft<T extends { producer_id?: string }>(
  draft: EventDraft,
  sender: { source: SourceOf<T>; nowMs: number },
) {
  const { knowledge, routing, links, extensions } = draft;
  const envelope = {
    spec: 'akep.v1',
    event_id: draft.event_id ?? newEventId(),
    event_type: draft.event_type,
    occurred_at: draft.occurred_at ?? new Date(sender.nowMs).toISOString(),
    source: { ...sender.source, ...draft.source },
    subject: draft.subject,
    knowledge: { content_type: contentTypeOf(knowledge), ...knowledge },
    routing: { resume_policy: 'resume_if_waiting', ...routing },
    ...(links === undefined ? {} : { links }),
    ...(extensions === undefined ? {} : { extensions }),
  };
  const flaw = flawOf(draft) ?? flawOfEnvelope(envelope);
  if (flaw !== null) throw new LanternError('wrong_usage', flaw);
  return envelope;
}

function newEventId(): string {
  return `evt_${crypto.randomUUID().replaceAll('-', '')}`;
}

/** A caller without types may have left `knowledge` out; the check that follows says so. */
function contentTypeOf(knowledge: EventDraft['knowledge'] | undefined): string {
  const content = knowledge?.content;
  return content === undefined || typeof content === 'string' ? 'text/plain' : 'application/json';
}

function flawOf(draft: EventDraft): string | null {
  const unknown = Object.keys(draft).find((name) => !PARTS.includes(name));
  if (unknown === undefined) return null;
  return `AKEP events carry knowledge, not commands: leave out ${JSON.stringify(unknown)}, or put it under extensions.`;
}

function flawOfEnvelope(envelope: Pick<AkepEvent, 'event_id' | 'event_type' | 'subject' | 'knowledge'>) {
  if (!EVENT_ID.test(envelope.event_id)) {
    return 'An event_id has 8 to 128 letters, digits, "_", ":" or "-": give another one, or none.';
  }
  if (!EVENT_TYPE.test(envelope.event_type)) {
    return 'An event_type is like "tool.completed": small letters, digits, ".", "_" and "-".';
  }
  if (!SUBJECTS.some((name) => typeof envelope.subject?.[name] === 'string')) {
    return `The subject says whom it concerns: give at least one of ${SUBJECTS.join(', ')}.`;
  }
  const isSaid = typeof envelope.knowledge?.summary === 'string' && envelope.knowledge.summary !== '';
  return isSaid ? null : 'knowledge.summary is missing: say in a sentence what is known now.';
}
