import { type Content, type Draft, type JsonObject, LanternError } from '@lanternroom/sdk/wake';

/** A tool call that a framework holds back until a person has decided. */
export interface HeldCall {
  /**
   * The framework's own ids for this moment, such as run and tool call. The same ids and arguments are asked about
   * once.
   */
  readonly id: readonly string[];
  readonly tool: string;
  readonly args: JsonObject;
  /** What the tool is for, shown to the person beside the arguments. */
  readonly purpose?: string | undefined;
  /** Groups what belongs together on the desk. */
  readonly threadId?: string | undefined;
}

/** What the person reads instead of our own words. */
export interface Wording {
  readonly headline?: string | undefined;
  readonly summary?: string | undefined;
}

const HEADLINE = 120;
const SUMMARY = 280;
const ID = 128;

/** The question about a call. It contains nothing that changes between attempts, so that a repetition is recognised. */
export function draftOf(call: HeldCall, wording: Wording, timeoutSeconds: number): Draft {
  const purpose = call.purpose === undefined || call.purpose === '' ? {} : { purpose: call.purpose };
  return {
    type: 'question',
    headline: oneLine(wording.headline ?? `Ready to run ${call.tool}`, HEADLINE),
    summary: oneLine(wording.summary ?? `May it run? ${signature(call)}`, SUMMARY),
    details: { tool: call.tool, arguments: call.args, ...purpose },
    timeoutSeconds,
    ...(fits(call.threadId) ? { threadId: call.threadId } : {}),
    ...(fits(call.id.at(-1)) ? { interruptId: call.id.at(-1) } : {}),
  };
}

/** `refund(order: "A-17", amount: 40)` */
export function signature(call: Pick<HeldCall, 'tool' | 'args'>): string {
  const args = Object.entries(call.args).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return `${call.tool}(${args.join(', ')})`;
}

/** The key under which a call is delivered: made of everything that must be the same for the answer to count. */
export async function keyOf(framework: string, call: HeldCall): Promise<string> {
  const text = JSON.stringify([call.id, call.tool, sorted(asShown(call))]);
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  const hex = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${framework}:${hex.slice(0, 40)}`;
}

/**
 * The arguments that a person put in place of the proposed ones, or null: the content of the delivery with other
 * `arguments`. Anything else, such as a text or another tool, is an instruction for the agent and runs nothing.
 */
export function editedArgs(call: HeldCall, edited: Content): JsonObject | null {
  if (!isObject(edited) || !isObject(edited.arguments)) return null;
  if (edited.tool !== undefined && edited.tool !== call.tool) return null;
  const isSame = JSON.stringify(sorted(edited.arguments)) === JSON.stringify(sorted(asShown(call)));
  return isSame ? null : edited.arguments;
}

/** The arguments as the person reads them, and as they come back in an edit: a date is a text there. */
function asShown({ args }: HeldCall): unknown {
  try {
    return JSON.parse(JSON.stringify(args));
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : 'unknown reason';
    throw new LanternError('wrong_usage', `What a person is to decide on is not JSON: ${why}.`, { cause });
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The same value with its keys sorted: some frameworks return them in another order after a restart. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.map(([name, inner]) => [name, sorted(inner)]);
}

/** Headline and summary are one line without control or direction characters (W9). */
function oneLine(text: string, longest: number): string {
  const clean = text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  const points = [...clean];
  return points.length <= longest ? clean : `${points.slice(0, longest - 1).join('')}…`;
}

/** The server accepts no longer ones, and they only group what belongs together. */
export function fits(id: string | undefined): boolean {
  return id !== undefined && id !== '' && [...id].length <= ID;
}
