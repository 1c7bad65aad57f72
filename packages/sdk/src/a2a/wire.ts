/** A2A 1.0 in JSON, which is also how tasks are stored and how they reach an agent. */

/** Every state of a task; `isEnded` says which of them are the last. */
export const TASK_STATES = [
  'TASK_STATE_SUBMITTED',
  'TASK_STATE_WORKING',
  'TASK_STATE_INPUT_REQUIRED',
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
  'TASK_STATE_AUTH_REQUIRED',
] as const;

/** Where a task stands: `TASK_STATE_INPUT_REQUIRED` and `TASK_STATE_AUTH_REQUIRED` wait for somebody. */
export type TaskState = (typeof TASK_STATES)[number];

/** One of `text`, `data`, `raw` (base64) and `url`. */
export interface Part {
  text?: string;
  data?: unknown;
  raw?: string;
  url?: string;
  mediaType?: string;
  filename?: string;
  metadata?: Record<string, unknown>;
}

/** What a caller or an agent said. The same `messageId` is the same message, however often it is sent. */
export interface Message {
  messageId: string;
  role: 'ROLE_USER' | 'ROLE_AGENT';
  parts: Part[];
  contextId?: string;
  taskId?: string;
  referenceTaskIds?: string[];
  extensions?: string[];
  metadata?: Record<string, unknown>;
}

/** Something that a task has made, in one part or several. */
export interface Artifact {
  artifactId: string;
  name?: string;
  description?: string;
  parts: Part[];
  extensions?: string[];
  metadata?: Record<string, unknown>;
}

/** The state, with what was said about it. */
export interface TaskStatus {
  state: TaskState;
  message?: Message;
  timestamp?: string;
}

/** A caller's request to an agent, and all that came of it. */
export interface Task {
  id: string;
  contextId: string;
  status: TaskStatus;
  artifacts?: Artifact[];
  history?: Message[];
  metadata?: Record<string, unknown>;
}

/** One line of a stream: exactly one of them is there. */
export interface StreamItem {
  task?: Task;
  message?: Message;
  statusUpdate?: { taskId: string; contextId: string; status: TaskStatus };
  artifactUpdate?: {
    taskId: string;
    contextId: string;
    artifact: Artifact;
    append?: boolean;
    lastChunk?: boolean;
  };
}

/** A person's answer to a task that asked for input. An approval with edited content counts as redirected (W23). */
export interface TaskDecision {
  readonly status: 'approved' | 'rejected' | 'redirected';
  readonly feedback: string | null;
  readonly edited_content: unknown;
}

const ENDED: readonly TaskState[] = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
];

/**
 * Whether a task in this state will never change again.
 *
 * @example
 * if (isEnded(task.status.state)) show(task.artifacts);
 */
export function isEnded(state: TaskState): boolean {
  return ENDED.includes(state);
}

/**
 * The text parts of a message, joined: what a person would read.
 *
 * @example
 * show(textIn(task.status.message));
 */
export function textIn(message: { readonly parts: readonly Part[] } | undefined): string {
  return (message?.parts ?? []).flatMap((part) => (part.text === undefined ? [] : part.text)).join('\n');
}
