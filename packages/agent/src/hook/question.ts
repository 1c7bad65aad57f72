import type { Draft } from '@lanternroom/sdk/wake';
import type { ToolCall } from './call.ts';
import type { Host } from './hosts.ts';

const LIMITS = { headline: 120, summary: 280, reference: 128 };

/** The call as a question. It depends only on the call, so that asking again is the same question. */
export function toQuestion(call: ToolCall, host: Host): Draft {
  const gist = gistOf(call);
  return {
    type: 'question',
    headline: fit(`May ${host.title} run ${call.tool}?${gist === '' ? '' : ` ${gist}`}`, LIMITS.headline),
    summary: fit(`${placeOf(call)}${gist === '' ? call.tool : gist}`, LIMITS.summary),
    // `input` is what will run, and the part that can be edited.
    details: { tool: call.tool, input: { ...call.input }, cwd: call.cwd, asked_by: host.title },
    ...(call.session.length <= LIMITS.reference ? { threadId: call.session } : {}),
    ...(call.id !== null && call.id.length <= LIMITS.reference ? { interruptId: call.id } : {}),
  };
}

/** What a person looks for first, by the field names of the hosts' tools. */
const TELLING = [
  'command',
  'cmd',
  'file_path',
  'path',
  'absolute_path',
  'url',
  'query',
  'prompt',
  'description',
];

function gistOf({ input }: ToolCall): string {
  const name = TELLING.find((key) => typeof input[key] === 'string' && input[key] !== '');
  return name === undefined ? '' : plain(String(input[name]));
}

function placeOf({ cwd }: ToolCall): string {
  return cwd === null || cwd === '' ? '' : `In ${plain(cwd)}: `;
}

/** One line without anything that could reverse it (W9). */
function plain(text: string): string {
  return text
    .replaceAll(/[\p{Cc}\p{Cs}\u2028\u2029\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function fit(text: string, most: number): string {
  const letters = [...plain(text)];
  return letters.length <= most ? letters.join('') : `${letters.slice(0, most - 1).join('')}…`;
}
