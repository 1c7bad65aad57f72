import { createHash } from 'node:crypto';
import { inexactNumber, repeatedName } from '../exact-json.ts';
import type { Host, Input } from './hosts.ts';

/** One tool call, as the host passes it to its hook. */
export interface ToolCall {
  readonly session: string;
  /** The host's own id of this call; null where it gives none. */
  readonly id: string | null;
  readonly tool: string;
  readonly input: Input;
  readonly cwd: string | null;
}

/** Why a call cannot be asked about, in a sentence. */
export interface Odd {
  readonly odd: string;
}

const LONGEST_NAME = 256;
// Deeper than the server accepts, and far below what our own recursion could not handle.
const DEEPEST = 1_000;

export function readCall(text: string, host: Host): ToolCall | Odd {
  if (text.trim() === '') return { odd: 'The hook got no input, so nobody can say what would run.' };
  const body = parse(text);
  if (!isRecord(body)) return { odd: 'The hook got something that is not a JSON object.' };
  if (body.hook_event_name !== host.event) {
    const got = JSON.stringify(body.hook_event_name ?? null);
    return {
      odd: `This hook is for ${host.event} of ${host.title}, and was called for ${got.slice(0, 80)}.`,
    };
  }
  const { tool_name: tool, tool_input: input, session_id: session, tool_use_id: id, cwd } = body;
  const repeated = repeatedName(text);
  if (repeated !== null)
    return {
      odd: `The call says ${JSON.stringify(repeated.slice(0, 80))} twice in one place, so nobody can say what would run.`,
    };
  if (!isName(tool)) return { odd: 'The call names no tool.' };
  if (!isRecord(input)) return { odd: `The call of ${tool} has no input object.` };
  if (!isName(session)) return { odd: `The call of ${tool} names no session.` };
  const number = inexactNumber(text);
  if (number !== null)
    return {
      odd: `The call of ${tool} holds ${number}, which nobody could be shown exactly: write it as a text.`,
    };
  if (isDeeper(input, DEEPEST))
    return { odd: `The call of ${tool} is nested too deeply for anybody to look at.` };
  return { session, tool, input, id: isName(id) ? id : null, cwd: typeof cwd === 'string' ? cwd : null };
}

/**
 * The same for the same tool, input, folder and session, however the keys of the input are ordered. The folder is part of
 * what the person was shown: `rm -rf build` is another call elsewhere.
 */
export function fingerprint(host: string, { session, tool, input, cwd }: Omit<ToolCall, 'id'>): string {
  return digest([host, session, tool, sorted(input), cwd]);
}

/** The same for the same call, and for no other. */
export function callKey(host: string, call: ToolCall): string {
  return call.id === null ? crypto.randomUUID() : digest([host, call.session, call.id]);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function digest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isRecord(value)) return value;
  return Object.keys(value)
    .sort()
    .map((key) => [key, sorted(value[key])]);
}

function isDeeper(value: unknown, most: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return most === 0 || Object.values(value).some((inner) => isDeeper(inner, most - 1));
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== '' && value.length <= LONGEST_NAME;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
