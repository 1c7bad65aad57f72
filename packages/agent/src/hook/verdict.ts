import { isDeepStrictEqual } from 'node:util';
import type { Answer, Redirected } from '@lanternroom/sdk/wake';
import { parseExact } from '../exact-json.ts';
import { isRecord, type ToolCall } from './call.ts';
import type { Allowed, Host, Input } from './hosts.ts';

export type Verdict =
  | ({ readonly kind: 'allow' } & Allowed)
  | { readonly kind: 'deny'; readonly reason: string }
  /** The person changed the input, and this host cannot be handed another one: the agent has to call again. */
  | { readonly kind: 'again'; readonly input: Input; readonly reason: string };

export function toVerdict(answer: Answer, call: ToolCall, host: Host): Verdict {
  if (answer.status === 'approved') return { kind: 'allow', input: null, feedback: answer.feedback };
  if (answer.status === 'rejected') return { kind: 'deny', reason: refusal(answer.feedback) };
  return redirected(answer, call, host);
}

function redirected({ instructions }: Redirected, call: ToolCall, host: Host): Verdict {
  const { feedback, editedContent } = instructions;
  const input = inputIn(editedContent, call);
  if (input === null) return { kind: 'deny', reason: otherwise(feedback, editedContent) };
  if (isDeepStrictEqual(input, { ...call.input })) return { kind: 'allow', input: null, feedback };
  if (host.takes(input, call.input)) return { kind: 'allow', input, feedback };
  const said = feedback === null ? '' : ` They said: ${feedback}`;
  const reason = `The person changed the input.${said} Call ${call.tool} again with exactly this input: ${JSON.stringify(input)}`;
  return { kind: 'again', input, reason };
}

/** The edited input, when the edit is one of the input and of nothing else. */
function inputIn(edited: unknown, call: ToolCall): Input | null {
  const content = typeof edited === 'string' ? parseExact(edited) : edited;
  if (!isRecord(content) || !isRecord(content.input)) return null;
  const isOther = (content.tool ?? call.tool) !== call.tool || (content.cwd ?? call.cwd) !== call.cwd;
  return isOther ? null : content.input;
}

function refusal(feedback: string | null): string {
  return feedback === null || feedback.trim() === ''
    ? 'The person said no. Do not try to get the same thing another way; ask what they would accept.'
    : `The person said no: ${feedback}`;
}

function otherwise(feedback: string | null, edited: unknown): string {
  const text = typeof edited === 'string' ? edited : edited === null ? null : JSON.stringify(edited);
  const parts = [feedback, text].filter((part) => part !== null && part.trim() !== '');
  return `The person wants it done differently. ${parts.join(' ') || 'Ask them how.'}`.trim();
}
