import type { Callback, Json } from './types.ts';

/** The JSON of docs/desk-api.md, "Events and producers". */
export type InboxLine = {
  agent_id: string;
  last_offset: number;
  oldest_offset: number | null;
  unacknowledged: number;
  open_waits: number;
  resumes: number;
};

export type Ack = {
  status: 'stored' | 'applied' | 'rejected';
  processed_at: string;
  reason: string | null;
};

type Named = {
  event_id: string;
  producer_id: string;
  event_type: string;
  task_id: string | null;
  causation_id: string | null;
  out_of_order: boolean;
  received_at: string;
};

/** An event in a chain of causes. */
export type ChainLink = Named;

export type EventEntry = Named & {
  agent_id: string;
  offset: number;
  source: { producer_id: string; name: string; type: string };
  summary: string;
  ack: Ack | null;
};

export type EventPage = { events: EventEntry[]; next_cursor: string | null };
export type Place = { offset: number; received_at: string; ack: Ack | null };

export type Resume = {
  resume_id: string;
  wait_id: string | null;
  run_state_ref: string | null;
  reason: string;
  out_of_order: boolean;
  at: string;
};

export type EventDetail = EventEntry & {
  places: Place[];
  resumes: Resume[];
  forwards: Callback[];
  causes: ChainLink[];
  effects: ChainLink[];
};

export type ResumePolicy = 'never' | 'append_only' | 'resume_if_waiting' | 'resume_immediately';

export type Subscription = {
  subscription_id: string;
  /** Made for the agent, and used until it subscribes itself. */
  default: boolean;
  created_at: string;
  event_types: string[];
  filters: Record<string, Json>;
  source_names: string[] | null;
  producer_ids: string[] | null;
  key_ids: string[] | null;
  max_payload_bytes: number | null;
  delivery: { type: string; url: string | null };
  furthest_resume: ResumePolicy;
  kept_seconds: number;
};

export type ProducerKey = {
  key_id: string;
  algorithm: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
};

export type Producer = {
  producer_id: string;
  name: string;
  tier: 'test' | 'live';
  created_at: string;
  last_seen_at: string | null;
  keys: ProducerKey[];
};

export type RefusedEvent = { at: string; event_id: string | null; status: number; reason: string };
