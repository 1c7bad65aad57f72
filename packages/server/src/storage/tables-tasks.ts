/** The tables of the A2A relay. */
export interface TaskTables {
  tasks: {
    space_id: string;
    seq: number;
    task_id: string;
    agent_id: string;
    context_id: string;
    caller: string;
    dialect: string;
    state: string;
    created_at: number;
    changed_at: number;
    length: number;
    is_direct: number;
    awaited_until: number;
    link_id: string | null;
    delivery_id: string | null;
    log_bytes: number;
  };
  task_log: {
    space_id: string;
    task_seq: number;
    pos: number;
    kind: string;
    note: string;
    at: number;
    entry_key: string | null;
    body: Uint8Array | null;
  };
  frames: {
    space_id: string;
    agent_id: string;
    place: number;
    type: string;
    task_seq: number;
    task_id: string;
    pos: number;
    link_id: string | null;
    at: number;
    body: Uint8Array | null;
  };
  links: { space_id: string; agent_id: string; link_id: string; since: number; until: number };
  pushes: {
    space_id: string;
    task_seq: number;
    push_id: string;
    dialect: string;
    sent_pos: number;
    job_id: string | null;
    created_at: number;
    body: Uint8Array;
  };
  callers: {
    space_id: string;
    token_id: string;
    agent_id: string;
    name: string;
    digest: string;
    last_four: string;
    created_at: number;
    expires_at: number | null;
    revoked_at: number | null;
    last_used_at: number | null;
  };
  cards: {
    space_id: string;
    agent_id: string;
    visibility: string;
    wait_seconds: number;
    body: string;
    changed_at: number;
  };
  blobs: {
    space_id: string;
    blob_id: string;
    agent_id: string;
    digest: string | null;
    size: number;
    chunks: number;
    created_at: number;
    is_unnamed: number;
  };
  blob_chunks: { space_id: string; blob_id: string; place: number; body: Uint8Array };
  blob_uses: { space_id: string; task_seq: number; blob_id: string };
  signing_keys: {
    space_id: string;
    key_id: string;
    created_at: number;
    retired_at: number | null;
    jwk: Uint8Array;
  };
}
