import type { Json, JsonObject } from './types.ts';

/** The JSON of docs/desk-api.md, "Tasks and cards". */
export const TASK_STATES = [
  'submitted',
  'working',
  'input_required',
  'auth_required',
  'completed',
  'failed',
  'canceled',
  'rejected',
] as const;
export type TaskState = (typeof TASK_STATES)[number];

export type TaskRow = {
  task_id: string;
  agent_id: string;
  context_id: string;
  caller: { kind: 'agent' | 'person' | 'token' | 'public'; id: string | null; name: string | null };
  state: TaskState;
  asked: string;
  created_at: string;
  changed_at: string;
  delivery_id: string | null;
  direct: boolean;
  entries: number;
};

/** A part as in A2A 1.0; `stored` is content that is kept beside the log. */
export type Part = {
  text?: string;
  data?: Json;
  raw?: string;
  url?: string;
  stored?: { id: string; size: number };
  mediaType?: string;
  filename?: string;
};

export type TaskEntry = {
  pos: number;
  kind: 'message' | 'status' | 'artifact';
  at: string;
  state: TaskState | null;
  role: 'user' | 'agent' | null;
  parts: Part[];
  artifact: {
    artifact_id: string;
    name: string | null;
    description: string | null;
    append: boolean;
    last: boolean;
  } | null;
};

export type TaskDetail = TaskRow & { log: TaskEntry[]; next_after: number | null };

export type Caller = {
  caller_id: string;
  name: string;
  last_four: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
};

export const VISIBILITIES = ['space', 'listed', 'public'] as const;

export type Skill = {
  id: string;
  name: string;
  description: string;
  tags: string[];
  examples?: string[];
};

export type CardFields = {
  description: string;
  version: string;
  skills: Skill[];
  input_modes: string[];
  output_modes: string[];
  provider: { organization: string; url: string } | null;
  documentation_url: string | null;
  icon_url: string | null;
  visibility: (typeof VISIBILITIES)[number];
  private: boolean;
  wait_seconds: number;
};

export type CardPreview = { v1: JsonObject; all: JsonObject };
export type CardView = {
  card: CardFields & { changed_at: string };
  url: string;
  preview: CardPreview;
  signed_with: string[];
};
export type SigningKey = { key_id: string; created_at: string; retired_at: string | null };
