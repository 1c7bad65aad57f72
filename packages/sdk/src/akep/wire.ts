/** AKEP v1 as it travels, with what Lanternroom adds around it (K4, K11…K21). Names are those of the wire. */

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
export type SourceType = (typeof SOURCE_TYPES)[number];

export const KNOWLEDGE_KINDS = [
  'observation',
  'tool_result',
  'approval',
  'document',
  'artifact',
  'message',
  'memory',
] as const;
export type KnowledgeKind = (typeof KNOWLEDGE_KINDS)[number];

/** From the most careful to the least. Advice of the producer: the agent's own policy may be stricter, and wins. */
export const RESUME_POLICIES = ['never', 'append_only', 'resume_if_waiting', 'resume_immediately'] as const;
export type ResumePolicy = (typeof RESUME_POLICIES)[number];

export const ACK_STATUSES = ['stored', 'applied', 'rejected'] as const;
export type AckStatus = (typeof ACK_STATUSES)[number];

export type Plain = string | number | boolean | null;

export interface EventSource {
  producer_id: string;
  name: string;
  type: SourceType;
  source_event_id?: string;
}

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

export interface EventView {
  event: AkepEvent;
  cursor: string;
  ack: Ack | null;
}

export interface TaskView {
  task_id: string;
  status: string;
  updated_at: string;
  events: string[];
  artifacts: { event_id: string; uri: string; content_type: string; summary: string }[];
}

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

export interface Policy {
  max_resume_policy: ResumePolicy;
  show_reviews: boolean;
}
