import type { ExactNumber } from './exact-json.ts';
import type { TaskState } from './task-types.ts';

/** The JSON of docs/desk-api.md, with the same names, so that what is read here can be found there. */
export type DeliveryType = 'question' | 'output' | 'alert' | 'update';
export type Status = 'pending' | Verdict;
export type Verdict = 'approved' | 'rejected' | 'redirected';
export type DeliveryState = 'pending' | 'held' | 'decided' | 'withdrawn' | 'superseded';
export const SECTIONS = ['needs_you', 'alerts', 'new_agents', 'to_read', 'snoozed', 'earlier'] as const;
export type Section = (typeof SECTIONS)[number];

export type Json = null | boolean | number | ExactNumber | string | Json[] | JsonObject;
export type JsonObject = { [key: string]: Json };

export type Row = {
  delivery_id: string;
  agent_id: string;
  tier: 'test' | 'live';
  provider: string;
  type: DeliveryType;
  headline: string;
  summary: string;
  status: Status;
  state: DeliveryState;
  /** The verdict of an answer that has not been sent yet. */
  held_status?: Verdict | null;
  section: Section;
  created_at: string;
  changed_at: string;
  timeout_at: string | null;
  timed_out_at: string | null;
  effect_at: string | null;
  snoozed_until: string | null;
  read_at: string | null;
  withdrawn_at: string | null;
  task_id: string | null;
  thread_id: string | null;
  interrupt_id: string | null;
  revises: string | null;
  revision: number;
  superseded_by: string | null;
  /** How many items its details have at the top level; 0 for a text. */
  parts: number;
  irreversible: boolean;
  sample?: boolean;
};

export type Decision = {
  status: Verdict;
  state: 'held' | 'undone' | 'decided';
  decided_by: { person_id: string; name: string | null };
  decided_at: string;
  effect_at: string;
  content_sha256: string;
  feedback: string | null;
  edited_content: Json;
};

export type Callback = {
  job_id: string;
  origin: string;
  state: 'due' | 'done' | 'gone' | 'given_up';
  attempts: number;
  due_at: string | null;
  created_at: string;
};

export type Attempt = {
  job_id: string;
  number: number;
  at: string;
  duration_ms: number;
  outcome: string;
  status: number | null;
};

export type Draft = { mode: Verdict | null; feedback: string; edited_content: Json };
export type KeptDraft = Draft & { saved_at: string };

export type Previous = { delivery_id: string; details: Json; decision: Decision | null };

/** Both counts stop at 1000; of the rows there are up to three on each side, in the order in which they came. */
export type ThreadPlace = { before: number; after: number; earlier: Row[]; later: Row[] };

export type Detail = Row & {
  content_sha256: string;
  details: Json;
  content: JsonObject;
  callback_webhook: string | null;
  timeout_seconds: number | null;
  allow_secrets: { path: string; reason: string }[];
  decision: Decision | null;
  decisions: Decision[];
  read_by?: { person_id: string; name: string | null } | null;
  callbacks: Callback[];
  attempts: Attempt[];
  draft?: KeptDraft | null;
  previous?: Previous | null;
  /** Its place among those of its thread; null when it is in none. */
  thread?: ThreadPlace | null;
  /** The A2A task that asks this question. */
  a2a_task?: { task_id: string; state: TaskState } | null;
};

export type Overview = {
  sections: Record<Exclude<Section, 'earlier'>, number>;
  minutes: number;
  last_decision_at: string | null;
  sat_at: string | null;
  next_sitting_at: string | null;
  deliveries_ever: number;
  /** The decisions that this person can still undo, oldest first. */
  held?: HeldDecision[];
};

export type HeldDecision = { delivery_id: string; headline: string; status: Verdict; effect_at: string };

export type Role = 'owner' | 'decider' | 'reader';
export type Person = { person_id: string; email: string; name: string; role: Role; created_at: string };
export type Session = { person: Person; space: { handle: string } };

export type Key = {
  key_id: string;
  tier: 'test' | 'live';
  prefix: string;
  last_four: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
};

/** How many deliveries a key may still make. */
export type Budget = { key_id: string; per_hour: number; at_once: number; left: number };

export type Agent = {
  agent_id: string;
  created_at: string;
  accepted_at: string | null;
  last_seen_at: string | null;
  /** When the agent last connected or disconnected; null when it never has. */
  connected_at: string | null;
  callbacks: string[];
  keys: Key[];
  /** Of the keys that are valid. Present for a single agent, not in lists. */
  budgets?: Budget[];
  waiting?: number;
  /** Connected over A2A at this moment. */
  online?: boolean;
  sample?: boolean;
  stats?: AgentStats;
};

/** Which part of the list of agents: after this cursor, with these letters in the name. */
export type Part = { q: string; cursor: string | null };

export type AgentPage = { agents: Agent[]; next_cursor: string | null; has_sample: boolean };

export type AgentStats = {
  waiting: number;
  answered_week: number;
  median_answer_seconds: number | null;
  callbacks_failing: number;
};

export type HistoryEntry = Decision & {
  delivery_id: string;
  agent_id: string;
  type: DeliveryType | null;
  headline: string | null;
};

export type LedgerEntry = {
  seq: number;
  at: string;
  actor: string;
  action: string;
  subject: string;
  data: JsonObject;
  hash: string;
};

/** The result of verifying the whole chain of the ledger. */
export type Verified = {
  ok: boolean;
  entries: number;
  verified_at: string;
  problems: { seq: number; problem: string }[];
};

export type Sitting = { days: number[]; at: string };

export type Preferences = {
  theme: 'system' | 'light' | 'dark';
  density: 'comfortable' | 'compact';
  size: 'small' | 'normal' | 'large';
  keys: Record<string, string>;
  keys_off: boolean;
  time_zone: string;
  sittings: Sitting[];
  quiet: { from: string; to: string } | null;
  digest: { kind: 'off' | 'email' | 'webhook'; target: string | null };
};

export type ServerSettings = {
  version: string;
  url: string;
  undo_seconds: number;
  retention_days: number;
  rates: unknown;
  /** Whether digests by e-mail can be switched on. */
  mail?: boolean;
  /** Where callers may have push notifications sent; null for anywhere. */
  push_targets: string[] | null;
  role: Role;
};

export type Letter = {
  week: string;
  from: string;
  to: string;
  /** The time zone in which its days begin and end. */
  time_zone: string;
  letter: Sentence[];
  charts: Chart[];
};
/** The list behind a number: `/desk/{list}?{query}`. */
export type ListName = 'deliveries' | 'history';
export type Sentence = { text: string; list: ListName | null; query: string | null };
export type Chart = {
  name: string;
  title: string;
  unit: string;
  list: ListName | null;
  points: ChartPoint[];
};
export type ChartPoint = { label: string; value: number | null; query: string | null };
