import type { ModelMessage, ToolApprovalRequest, ToolCallPart } from 'ai';
import { isObject } from './call.ts';
import { type Refuse, type ReviewOptions, type Run, review, together } from './review.ts';

export interface ApprovalOptions extends ReviewOptions {
  /** Your own id of the chat or run: groups its questions on the desk. */
  readonly threadId?: string | undefined;
}

/** Nothing is held; or a person has not decided yet; or go on with these messages. */
export type Approvals =
  | { readonly status: 'none' }
  | { readonly status: 'pending' }
  | { readonly status: 'ready'; readonly messages: ModelMessage[] };

/** What is needed of a result. SDK 7 keeps only the last step in `response`, and all of them in `responseMessages`. */
interface Generated {
  readonly response: { readonly messages: ModelMessage[] };
  readonly responseMessages?: ModelMessage[];
}

interface Held {
  readonly request: ToolApprovalRequest;
  readonly call: ToolCallPart;
}

/**
 * Answers every tool call of a conversation that waits for approval (`needsApproval`). The messages that come back end
 * with the responses: hand them to `generateText` or `streamText`, which run what was approved and nothing else.
 *
 * @example
 * const answered = await answerApprovals(messages, { wake, threadId: chatId, wait: false });
 * if (answered.status === 'ready') result = await generateText({ model, tools, messages: answered.messages });
 */
export async function answerApprovals(
  messages: readonly ModelMessage[],
  options: ApprovalOptions,
): Promise<Approvals> {
  const held = heldIn(messages);
  if (held.length === 0) return { status: 'none' };
  const decided = await together(held, options, async (one, asking) => ({
    ...one,
    verdict: await review('ai-sdk', callOf(one, options), asking),
  }));
  const settled = decided.flatMap(({ verdict, ...one }) =>
    verdict.kind === 'pending' ? [] : [{ ...one, verdict }],
  );
  if (settled.length < held.length) return { status: 'pending' };
  const edited = settled.filter(isEdit);
  const content = settled.map((one) => ({
    type: 'tool-approval-response' as const,
    approvalId: one.request.approvalId,
    ...responseTo(one),
  }));
  return { status: 'ready', messages: [...withInputs(messages, edited), { role: 'tool', content }] };
}

/**
 * Generates to the end and stays with it: `generate` is called with the messages so far, each call that needs approval
 * is put before the person, and it is called again.
 *
 * @example
 * const result = await generateWithPerson((messages) => generateText({ model, tools, messages }), messages, { wake });
 */
export async function generateWithPerson<Result extends Generated>(
  generate: (messages: ModelMessage[]) => Promise<Result>,
  messages: readonly ModelMessage[],
  options: Omit<ApprovalOptions, 'wait'>,
): Promise<Result> {
  let soFar = [...messages];
  for (;;) {
    // First what a crash has left open, then what is new.
    const answered = await answerApprovals(soFar, options);
    if (answered.status === 'ready') soFar = answered.messages;
    const result = await generate(soFar);
    soFar = [...soFar, ...(result.responseMessages ?? result.response.messages)];
    if (heldIn(soFar).length === 0) return result;
  }
}

type Part = Exclude<ModelMessage['content'], string>[number];

function heldIn(messages: readonly ModelMessage[]): Held[] {
  const parts = messages.flatMap((message): Part[] =>
    typeof message.content === 'string' ? [] : [...message.content],
  );
  const answered = new Set(
    parts.flatMap((part) => (part.type === 'tool-approval-response' ? [part.approvalId] : [])),
  );
  const calls = new Map(
    parts.flatMap((part) => (part.type === 'tool-call' ? [[part.toolCallId, part]] : [])),
  );
  return parts.flatMap((part) => {
    if (part.type !== 'tool-approval-request' || answered.has(part.approvalId)) return [];
    const call = calls.get(part.toolCallId);
    return call === undefined ? [] : [{ request: part, call }];
  });
}

function callOf({ request, call }: Held, { threadId }: ApprovalOptions) {
  const args = isObject(call.input) ? call.input : { input: call.input };
  return { id: [call.toolCallId, request.approvalId], tool: call.toolName, args, threadId };
}

type Settled = Held & { readonly verdict: Run | Refuse };

/** With an approval secret, the SDK refuses a call whose input is not the signed one, so an edit needs a new call. */
function isEdit(one: Settled): one is Held & { verdict: Run } {
  return (
    one.verdict.kind === 'run' &&
    one.verdict.edited &&
    one.request.signature === undefined &&
    isObject(one.call.input)
  );
}

function responseTo(one: Settled): { approved: boolean; reason?: string } {
  const { verdict, call } = one;
  if (verdict.kind === 'refuse') return { approved: false, reason: verdict.message };
  if (!verdict.edited || isEdit(one))
    return { approved: true, ...(verdict.note === null ? {} : { reason: verdict.note }) };
  const args = JSON.stringify(verdict.args);
  return {
    approved: false,
    reason: `${call.toolName} was not run: a person wants ${args} as its input. Call it again with exactly that.`,
  };
}

/** The conversation with the edited inputs, which the SDK then validates and hands to the tool. */
function withInputs(
  messages: readonly ModelMessage[],
  edits: readonly (Held & { verdict: Run })[],
): ModelMessage[] {
  const inputs = new Map(edits.map(({ call, verdict }) => [call.toolCallId, verdict.args]));
  if (inputs.size === 0) return [...messages];
  return messages.map((message) => {
    if (message.role !== 'assistant' || typeof message.content === 'string') return message;
    const content = message.content.map((part) => {
      if (part.type === 'tool-approval-request' && inputs.has(part.toolCallId)) return withoutOldInput(part);
      const input = part.type === 'tool-call' ? inputs.get(part.toolCallId) : undefined;
      return input === undefined ? part : { ...part, input };
    });
    return { ...message, content };
  });
}

function withoutOldInput({ inputSchemaInput: _, ...request }: ToolApprovalRequest): ToolApprovalRequest {
  return request;
}
