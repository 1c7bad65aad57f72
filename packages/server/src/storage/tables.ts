import type { EventTables } from './tables-events.ts';
import type { TaskTables } from './tables-tasks.ts';

/**
 * The tables as both databases see them: text, whole numbers, bytes, null. Times are epoch microseconds.
 * Every table leads with `space_id`, so that the data can be sharded by space.
 */
export interface Tables extends EventTables, TaskTables {
  heads: { space_id: string; name: string; n: number; at: number; text: string; seal: string };
  spaces: { space_id: string; handle: string; created_at: number; push_targets: string | null };
  people: {
    space_id: string;
    person_id: string;
    email: string;
    name: string;
    role: string;
    password_hash: string | null;
    created_at: number;
    sat_at: number | null;
    removed_at: number | null;
  };
  sessions: {
    space_id: string;
    digest: string;
    person_id: string;
    created_at: number;
    expires_at: number;
    proved_at: number;
    device: string | null;
  };
  passkeys: {
    space_id: string;
    passkey_id: string;
    person_id: string;
    name: string;
    digest: string;
    credential: Uint8Array;
    counter: number;
    backed_up: number;
    created_at: number;
    last_used_at: number | null;
  };
  used_challenges: { space_id: string; digest: string; expires_at: number };
  resets: {
    space_id: string;
    person_id: string;
    digest: string;
    expires_at: number;
    given_by: string | null;
  };
  tokens: {
    space_id: string;
    token_id: string;
    person_id: string;
    name: string;
    digest: string;
    last_four: string;
    created_at: number;
    revoked_at: number | null;
  };
  agents: {
    space_id: string;
    agent_id: string;
    created_at: number;
    accepted_at: number | null;
    callbacks: string;
    callback_secrets: Uint8Array;
    last_seen_at: number | null;
    connected_at: number | null;
    /** 1 for the sample agent. */
    sample: number;
  };
  keys: {
    space_id: string;
    key_id: string;
    agent_id: string;
    tier: string;
    last_four: string;
    digest: string;
    created_at: number;
    expires_at: number | null;
    revoked_at: number | null;
  };
  deliveries: DeliveryTable;
  decisions: {
    space_id: string;
    seq: number;
    delivery_id: string;
    agent_id: string;
    verdict: string;
    person_id: string;
    delivered_at: number;
    decided_at: number;
    effect_at: number;
    state: string;
    content_sha256: string;
    answer: Uint8Array;
  };
  idempotency: {
    space_id: string;
    agent_id: string;
    idempotency_key: string;
    body_sha256: string;
    delivery_id: string;
    deduplicated: number;
    created_at: number;
    expires_at: number;
  };
  jobs: {
    space_id: string;
    job_id: string;
    kind: string;
    agent_id: string;
    delivery_id: string;
    origin: string;
    state: string;
    due_at: number;
    attempts: number;
    fence: number;
    leased_until: number | null;
    created_at: number;
    request: Uint8Array;
  };
  attempts: {
    space_id: string;
    job_id: string;
    delivery_id: string;
    number: number;
    at: number;
    duration_ms: number;
    outcome: string;
    status: number | null;
  };
  ledger: {
    space_id: string;
    seq: number;
    at: number;
    actor: string;
    action: string;
    subject: string;
    data: string;
    hash: string;
  };
  checkpoints: { space_id: string; seq: number; hash: string; at: number; signature: string };
  preferences: {
    space_id: string;
    person_id: string;
    settings: string;
    target: Uint8Array | null;
    digest_at: number | null;
  };
  drafts: {
    space_id: string;
    delivery_id: string;
    person_id: string;
    saved_at: number;
    draft: Uint8Array;
  };
  invitations: {
    space_id: string;
    invitation_id: string;
    digest: string;
    email: string;
    role: string;
    person_id: string;
    created_at: number;
    expires_at: number;
    accepted_at: number | null;
  };
  words: { space_id: string; word: string; seq: number };
  /** A single row for the whole server: with this key, a delivery's id tells its place. */
  id_keys: { space_id: string; key: string };
  /** Ids of deliveries that do not contain their place. */
  other_ids: { space_id: string; delivery_id: string; seq: number };
}

export interface DeliveryTable {
  space_id: string;
  seq: number;
  delivery_id: string;
  agent_id: string;
  tier: string;
  provider: string;
  type: string;
  headline: string;
  summary: string;
  content_sha256: string;
  created_at: number;
  changed_at: number;
  status: string;
  state: string;
  section: string;
  section_at: number;
  timeout_at: number | null;
  task_id: string | null;
  thread_id: string | null;
  interrupt_id: string | null;
  revises: string | null;
  revision: number;
  superseded_by: string | null;
  dedupe_key: string | null;
  read_at: number | null;
  read_by: string | null;
  snoozed_until: number | null;
  effect_at: number | null;
  withdrawn_at: number | null;
  cause_event: string | null;
  parts: number;
  irreversible: number;
  body: Uint8Array;
  response: Uint8Array | null;
}
