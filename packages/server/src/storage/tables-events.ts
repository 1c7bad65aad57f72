/** The tables of AKEP: who sends, what was sent, and where it is stored. */
export interface EventTables {
  producers: {
    space_id: string;
    producer_id: string;
    name: string;
    tier: string;
    any_id: number;
    created_at: number;
    last_seen_at: number | null;
  };
  producer_keys: {
    space_id: string;
    key_id: string;
    producer_id: string;
    algorithm: string;
    created_at: number;
    expires_at: number | null;
    revoked_at: number | null;
    secret: Uint8Array;
  };
  refusals: {
    space_id: string;
    producer_id: string;
    at: number;
    event_id: string | null;
    status: number;
    reason: string;
  };
  events: {
    space_id: string;
    seq: number;
    producer_id: string;
    event_id: string;
    event_type: string;
    received_at: number;
    body_sha256: string;
    task_id: string | null;
    causation_id: string | null;
    fill_producer: number;
    out_of_order: number;
    /** Empty if the body is in a segment. */
    body: Uint8Array;
    segment: number | null;
    body_at: number | null;
    body_size: number | null;
  };
  bodies: { space_id: string; segment: number; last_seq: number; sealed: Uint8Array };
  entries: {
    space_id: string;
    agent_id: string;
    place: number;
    event_seq: number;
    producer_id: string;
    event_id: string;
    event_type: string;
    task_id: string | null;
    received_at: number;
    kept_until: number;
    has_uri: number;
    ack: string | null;
    processed_at: number | null;
    reason: string | null;
  };
  subscriptions: {
    space_id: string;
    subscription_id: string;
    agent_id: string;
    body: string;
    is_default: number;
    created_at: number;
    tier: string;
    secret: Uint8Array | null;
  };
  waits: {
    space_id: string;
    wait_id: string;
    agent_id: string;
    open: number;
    subject: string;
    event_types: string | null;
    interrupt_id: string | null;
    run_state_ref: string;
    policy: string | null;
    expires_at: number | null;
    created_at: number;
  };
  resumes: {
    space_id: string;
    agent_id: string;
    place: number;
    resume_id: string;
    event_id: string;
    wait_id: string | null;
    run_state_ref: string | null;
    reason: string;
    out_of_order: number;
    at: number;
    entry_place: number;
  };
  inboxes: { space_id: string; agent_id: string; max_resume_policy: string; show_reviews: number };
}
