import { isRecord, parseJson, textOf } from '../json.ts';
import { meantBy } from '../wake/answer.ts';
import type { Artifact, Message, TaskDecision } from './wire.ts';

/** The subprotocol of the socket (A13). */
export const PROTOCOL = 'lantern.v1';

/** Something to do: it begins a turn of the agent. */
export interface WorkFrame {
  readonly type: 'task' | 'message' | 'decision';
  readonly id: string;
  /**
   * The hub numbers its frames; together with the task's id, a server that was set up anew is not mistaken for the
   * old one.
   */
  readonly turn: string;
  readonly taskId: string;
  /** A decision may come without: the context is that of its task. */
  readonly contextId: string | null;
  readonly message: Message;
  readonly history: readonly Message[];
  readonly deliveryId?: string;
  readonly decision?: TaskDecision;
}

/** What the hub says first: who we are, and what it accepts. */
export interface Hello {
  readonly type: 'hello';
  /** `@handle/name`. */
  readonly agent: string;
  readonly connectionId: string | null;
  readonly maxFrameBytes: number;
  readonly uploadUrl: string | null;
}

export type HubFrame =
  | Hello
  | WorkFrame
  | { readonly type: 'cancel'; readonly id: string; readonly taskId: string }
  | { readonly type: 'event'; readonly id: string; readonly cursor: string; readonly event: unknown }
  | { readonly type: 'resume'; readonly id: string; readonly resume: unknown }
  | { readonly type: 'ack'; readonly id: string }
  | { readonly type: 'pong' }
  | { readonly type: 'error'; readonly id: string | null; readonly code: string; readonly message: string }
  /** From a newer server, or broken. */
  | { readonly type: 'unknown'; readonly id: string | null; readonly name: string };

const ENDINGS = ['completed', 'failed', 'rejected', 'input_required', 'auth_required'] as const;

export type Ending = (typeof ENDINGS)[number];

/** What an agent says. Each frame is kept until the hub has acknowledged it, and sent again with the same id. */
export type AgentFrame = { readonly id: string; readonly taskId: string } & (
  | { readonly type: 'accepted' }
  | { readonly type: 'status' | Ending; readonly message?: Message }
  | { readonly type: 'message'; readonly message: Message }
  | {
      readonly type: 'artifact';
      readonly artifact: Artifact;
      readonly append?: boolean;
      readonly lastChunk?: boolean;
    }
);

/** With this the turn is over: either the hub takes it, or nobody ever hears how the task ended. */
export function endsTurn({ type }: AgentFrame): boolean {
  return type === 'message' || ENDINGS.some((ending) => ending === type);
}

// The only escapes of this kind that are written: whole pairs are written as they are.
const HALF_PAIR = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/**
 * The hub refuses a text that was cut in the middle of a character, so the rest of that character is replaced by a
 * mark.
 */
export function writeFrame(frame: object): string {
  const text = JSON.stringify(frame);
  return text.includes('\\ud') ? text.replaceAll(HALF_PAIR, '$1\ufffd') : text;
}

/** Reads one frame of the hub. Nothing is trusted before it was checked. */
export function readHubFrame(text: string): HubFrame {
  const frame = parseJson(text);
  if (!isRecord(frame)) return { type: 'unknown', id: null, name: 'no JSON object' };
  const id = textOf(frame.id);
  const name = textOf(frame.type) ?? 'no type';
  const strange = { type: 'unknown', id, name } as const;
  if (name === 'error') {
    return { type: 'error', id, code: textOf(frame.code) ?? 'error', message: textOf(frame.message) ?? '' };
  }
  if (name === 'pong') return { type: 'pong' };
  if (name === 'hello') return readHello(frame);
  if (id === null) return strange;
  if (name === 'ack') return { type: 'ack', id };
  if (name === 'cancel') {
    return typeof frame.taskId === 'string' ? { type: 'cancel', id, taskId: frame.taskId } : strange;
  }
  if (name === 'event') return { type: 'event', id, cursor: textOf(frame.cursor) ?? '', event: frame.event };
  if (name === 'resume') return { type: 'resume', id, resume: frame };
  return readWork(frame) ?? strange;
}

const FRAME_MOST = 1024 * 1024;

function readHello({ agent, connectionId, maxFrameBytes, uploadUrl }: Record<string, unknown>): Hello {
  return {
    type: 'hello',
    agent: textOf(agent) ?? '',
    connectionId: textOf(connectionId),
    maxFrameBytes: typeof maxFrameBytes === 'number' ? maxFrameBytes : FRAME_MOST,
    uploadUrl: textOf(uploadUrl),
  };
}

/** The same for what a journal has stored. */
export function readWork(frame: unknown): WorkFrame | null {
  if (!isRecord(frame) || typeof frame.id !== 'string' || typeof frame.taskId !== 'string') return null;
  const { type } = frame;
  if (type !== 'task' && type !== 'message' && type !== 'decision') return null;
  const decision = isRecord(frame.decision) ? decisionOf(frame.decision) : null;
  const message = isMessage(frame.message) ? frame.message : decision && spoken(frame.id, decision);
  if (!message) return null;
  return {
    type,
    id: frame.id,
    turn: `${frame.id}.${frame.taskId}`,
    taskId: frame.taskId,
    contextId: textOf(frame.contextId),
    message,
    history: Array.isArray(frame.history) ? frame.history.filter(isMessage) : [],
    ...(typeof frame.deliveryId === 'string' ? { deliveryId: frame.deliveryId } : {}),
    ...(decision === null ? {} : { decision }),
  };
}

function isMessage(value: unknown): value is Message {
  return isRecord(value) && Array.isArray(value.parts) && value.parts.every(isRecord);
}

function decisionOf(value: Record<string, unknown>): TaskDecision | null {
  const status = (['approved', 'rejected', 'redirected'] as const).find((one) => one === value.status);
  if (status === undefined) return null;
  const edited_content = value.edited_content ?? null;
  return { status: meantBy(status, edited_content), feedback: textOf(value.feedback), edited_content };
}

/** A decision as a message, where the hub sent none along (A17). */
function spoken(id: string, decision: TaskDecision): Message {
  const text = [decision.status, decision.feedback].filter(Boolean).join(': ');
  return { messageId: id, role: 'ROLE_USER', parts: [{ text }, { data: { ...decision } }] };
}
