import { hash } from 'node:crypto';
import { Compile } from 'typebox/compile';
import { isJsonObject, type JsonObject } from '../../../core/canonical.ts';
import { Fault, isFault } from '../../../core/faults.ts';
import type { SpaceId } from '../../../core/ids.ts';
import type { Room } from '../../../core/room.ts';
import { contentDigest, type PreparedContent } from '../../../core/tasks/content/content.ts';
import type { Report } from '../../../core/tasks/report.ts';
import { parseStrict } from '../../../http/reading/strict-json.ts';
import { metadataOf, toParts } from '../dialects/parts.ts';
import {
  AGENT_FRAMES,
  type ArtifactFrame,
  type MessageFrame,
  PARTS_MOST,
  type SayingFrame,
} from './frames.ts';

export type ErrorCode =
  | 'invalid_frame'
  | 'unknown_type'
  | 'not_found'
  | 'task_ended'
  | 'too_large'
  | 'unavailable';

export type FrameError = { type: 'error'; id: string | null; code: ErrorCode; message: string };

export type AgentFrame =
  | { kind: 'ack'; id: string }
  | { kind: 'ping' }
  | { kind: 'report'; id: string; report: Report }
  | { kind: 'error'; error: FrameError };

type Checker = ReturnType<typeof Compile>;
const checkers = new Map<string, Checker>();

/** Compiled when first needed: most servers start long before their first frame. */
function checkerOf(type: keyof typeof AGENT_FRAMES): Checker {
  let checker = checkers.get(type);
  if (checker === undefined) {
    checker = Compile(AGENT_FRAMES[type]);
    checkers.set(type, checker);
  }
  return checker;
}

/** Larger file content is stored by content, beside the log. */
const INLINE_MOST = 4096;

type Who = Pick<Report, 'space' | 'agent' | 'tier'>;

/** Reads one frame of an agent. Whatever is wrong with it is said in the error frame that answers it. */
export function readFrame(room: Room, who: Who, data: Uint8Array): AgentFrame {
  const parsed = parseStrict(data);
  if (!parsed.ok)
    return refuse(readableId(data), 'invalid_frame', parsed.message.replace('The body', 'The frame'));
  const { value } = parsed;
  if (!isJsonObject(value)) return refuse(null, 'invalid_frame', 'A frame is a JSON object.');
  const id = idOf(value);
  const { type } = value;
  if (typeof type !== 'string') return refuse(id, 'invalid_frame', 'type is required.');
  if (!isKnown(type))
    return refuse(
      id,
      'unknown_type',
      `There is no frame of type "${type.slice(0, 64)}" for an agent to send.`,
    );
  const problem = flaw(type, value);
  if (problem !== null) return refuse(id, 'invalid_frame', problem);
  if (type === 'ping') return { kind: 'ping' };
  if (type === 'ack') return { kind: 'ack', id: id ?? '' };
  try {
    return { kind: 'report', id: id ?? '', report: toReport(room, who, type, value) };
  } catch (reason) {
    if (isFault(reason)) return refuse(id, 'invalid_frame', reason.message);
    throw reason;
  }
}

function idOf({ id }: JsonObject): string | null {
  return typeof id === 'string' && id !== '' ? id : null;
}

/** JSON that is refused for what it holds still says which frame it is: without that it would come again for ever. */
function readableId(data: Uint8Array): string | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(data));
    return isJsonObject(value) ? idOf(value) : null;
  } catch {
    return null;
  }
}

function isKnown(type: string): type is keyof typeof AGENT_FRAMES {
  return Object.hasOwn(AGENT_FRAMES, type);
}

function flaw(type: keyof typeof AGENT_FRAMES, value: JsonObject): string | null {
  const checker = checkerOf(type);
  if (checker.Check(value)) return null;
  const [first] = checker.Errors(shortened(value));
  if (first === undefined) return 'The frame is not as it should be.';
  const place = first.instancePath.slice(1).replaceAll('/', '.');
  return `${place === '' ? 'The frame' : place}: ${first.message}.`;
}

/** To say what is wrong, each part is looked at and written up, and a frame has room for half a million of them. */
function shortened(frame: JsonObject): JsonObject {
  const shorter = { ...frame };
  for (const name of ['message', 'artifact']) {
    const holder = frame[name];
    if (isJsonObject(holder) && Array.isArray(holder.parts))
      shorter[name] = { ...holder, parts: holder.parts.slice(0, PARTS_MOST + 1) };
  }
  return shorter;
}

export function refuse(id: string | null, code: ErrorCode, message: string): AgentFrame {
  return { kind: 'error', error: { type: 'error', id, code, message } };
}

function toReport(room: Room, who: Who, type: string, frame: JsonObject): Report {
  const { id: frameId, taskId } = frame as { id: string; taskId: string };
  const base = { ...who, frameId, taskId };
  if (type === 'accepted') return { ...base, kind: 'state', state: 'working', message: null };
  if (type === 'artifact') return { ...base, ...toArtifact(room, who.space, frame as ArtifactFrame) };
  if (type === 'message')
    return { ...base, kind: 'message', message: toMessage(room, frame as MessageFrame) };
  const message = toMessage(room, frame as SayingFrame);
  const state = type === 'status' ? 'working' : (type as 'completed');
  return { ...base, kind: 'state', state, message: message.parts === undefined ? null : message };
}

/** An agent's words; a message without parts if there are none. */
function toMessage(room: Room, { message, text }: { message?: unknown; text?: string }): JsonObject {
  if (message === undefined && text === undefined) return {};
  if (message !== undefined && text !== undefined)
    throw new Fault('invalid_field', 'Send message or text, not both.', { field: 'text' });
  const given = isJsonObject(message) ? message : {};
  const parts = text === undefined ? toParts(given.parts, 'message.parts', 'any') : [{ text }];
  return {
    messageId: typeof given.messageId === 'string' ? given.messageId : room.ids.uuid(),
    role: 'ROLE_AGENT',
    parts,
    ...metadataOf(given, 'message'),
    ...(Array.isArray(given.extensions) ? { extensions: given.extensions } : {}),
  };
}

function toArtifact(room: Room, space: SpaceId, frame: ArtifactFrame) {
  const { artifactId, name, description, extensions } = frame.artifact as JsonObject;
  const parts = toParts(frame.artifact.parts, 'artifact.parts', 'any');
  const artifact: JsonObject = {
    artifactId: String(artifactId),
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    parts,
    ...metadataOf(frame.artifact as JsonObject, 'artifact'),
    ...(Array.isArray(extensions) ? { extensions } : {}),
  };
  return {
    kind: 'artifact' as const,
    artifact,
    append: frame.append ?? false,
    lastChunk: frame.lastChunk ?? false,
    content: parts.flatMap((part, at) => largeContent(room, space, part, at)),
  };
}

function largeContent(room: Room, space: SpaceId, part: JsonObject, at: number): PreparedContent[] {
  if (typeof part.raw !== 'string' || part.raw.length <= (INLINE_MOST * 4) / 3) return [];
  const bytes = Buffer.from(part.raw, 'base64');
  return [{ part: at, bytes, digest: contentDigest(room, space, hash('sha256', bytes)) }];
}

const CODES: Partial<Record<Fault['fault'], ErrorCode>> = {
  not_found: 'not_found',
  task_ended: 'task_ended',
  payload_too_large: 'too_large',
  invalid_field: 'invalid_frame',
};

/** The error frame for a frame that was refused or could not be stored. */
export function toFrameError(id: string, reason: unknown): FrameError {
  const fault = isFault(reason) ? reason : null;
  const code = (fault === null ? undefined : CODES[fault.fault]) ?? 'unavailable';
  const message = fault?.message ?? 'The frame could not be kept. Send it again in a moment.';
  return { type: 'error', id, code, message };
}
