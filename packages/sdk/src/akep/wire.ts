/** AKEP v1 as it travels, with what Lanternroom adds around it (K4, K11…K21). Names are those of the wire. */

/** Every kind of source. */
export const SOURCE_TYPES = [
  'publisher',
  'tool',
  'agent',
  'human',
  'system',
  'webhook',
  'queue',
  'sensor',
  'other',
] as const;
/** What kind of thing has sent an event. */
export type SourceType = (typeof SOURCE_TYPES)[number];

/** Every kind of knowledge. */
export const KNOWLEDGE_KINDS = [
  'observation',
  'tool_result',
  'approval',
  'document',
  'artifact',
  'message',
  'memory',
] as const;
/** What kind of knowledge an event carries. */
export type KnowledgeKind = (typeof KNOWLEDGE_KINDS)[number];

/** From the most careful to the least. Advice of the producer: the agent's own policy may be stricter, and wins. */
export const RESUME_POLICIES = ['never', 'append_only', 'resume_if_waiting', 'resume_immediately'] as const;
/** When an event may wake a paused run. */
export type ResumePolicy = (typeof RESUME_POLICIES)[number];

/** Every acknowledgement; `stored` may still become one of the other two. */
export const ACK_STATUSES = ['stored', 'applied', 'rejected'] as const;
/** What became of an event: kept for later, worked in, or not for this agent. */
export type AckStatus = (typeof ACK_STATUSES)[number];

/** A value that a subject or a filter can hold. */
export type Plain = string | number | boolean | null;

/** Who has sent an event. The signature vouches for `producer_id`, and for nothing else. */
export interface EventSource {
  producer_id: string;
  name: string;
  type: SourceType;
  source_event_id?: string;
}

/** What an event makes known: a sentence, and the content or where it is to be had. */
export interface Knowledge {
  kind: KnowledgeKind;
  content_type: string;
  summary: string;
  content?: unknown;
  uri?: string | null;
  confidence?: number | null;
  expires_at?: string | null;
  hash?: string;
}

/** The producer's advice on what an event may wake, and what it follows from. */
export interface Routing {
  resume_policy: ResumePolicy;
  priority?: 'low' | 'normal' | 'high' | 'urgent';
  interrupt_id?: string | null;
  causation_id?: string | null;
  sequence?: number | null;
}

/** One event. Knowledge, never a command: what to do with it is the agent's own decision. */
export interface AkepEvent {
  spec: string;
  event_id: string;
  event_type: string;
  occurred_at: string;
  source: EventSource;
  /** At least one of `task_id`, `thread_id`, `agent_id`, `user_id`, `artifact_id`. */
  subject: Record<string, Plain>;
  knowledge: Knowledge;
  routing: Routing;
  links?: Record<string, string>;
  extensions?: Record<string, unknown>;
}

/** The state of an entry in the inbox; null in `EventView` when nobody has said anything yet. */
export interface Ack {
  status: AckStatus;
  processed_at: string;
  reason: string | null;
}

/** One event, its place in the inbox, and what became of it. */
export interface EventView {
  event: AkepEvent;
  cursor: string;
  ack: Ack | null;
}

/** What the events say about a task: `completed`, `failed`, `input_required` or `unknown`; of an A2A task of the server, its own state. */
export interface TaskView {
  task_id: string;
  status: string;
  updated_at: string;
  events: string[];
  artifacts: { event_id: string; uri: string; content_type: string; summary: string }[];
}

/** Which events come into the inbox, and how they are handed on. */
export interface SubscriptionBody {
  spec: string;
  sink: string;
  /** `*` takes every type. */
  event_types: string[];
  /** Dotted paths; a plain value must be equal, a list must contain it, all of them hold. */
  filters?: Record<string, Plain | Plain[]>;
  delivery: {
    type: 'webhook' | 'relay' | 'sse' | 'websocket' | 'poll' | 'long_poll';
    url?: string;
    ack_required?: boolean;
    replay_retention_seconds?: number;
  };
  security?: {
    accepted_source_names?: string[];
    accepted_producer_ids?: string[];
    signature_key_ids?: string[];
  };
  capabilities?: { resume_policies?: ResumePolicy[]; max_payload_bytes?: number };
}

/** A subscription as the server keeps it. `default` marks the one that every space begins with. */
export interface Subscription extends SubscriptionBody {
  subscription_id: string;
  created_at: string;
  default?: true;
  /** What a forwarding one signs with: shown once, when it is made. `verifyEvent` takes it. */
  secret?: string;
}

/** What a paused run waits for, with a reference to its saved state. It names at least one of the first three. */
export interface WaitBody {
  subject?: Record<string, Plain>;
  event_types?: string[] | null;
  interrupt_id?: string | null;
  run_state_ref: string;
  policy?: ResumePolicy | null;
  expires_at?: string | null;
}

/** A wait that is open. */
export interface Wait extends WaitBody {
  wait_id: string;
  created_at: string;
}

/** The server's decision that a paused run may go on. Each wait is resumed at most once. */
export interface Resume {
  resume_id: string;
  event_id: string;
  wait_id: string | null;
  run_state_ref: string | null;
  decision: 'resume';
  reason: string;
  /** Events of this subject did not come in the order of their sequence: look before going on. */
  out_of_order: boolean;
}

/** The agent's own limit on what may wake it. `show_reviews`: events of the type `human.review_required` become questions on the desk. */
export interface Policy {
  max_resume_policy: ResumePolicy;
  show_reviews: boolean;
}
