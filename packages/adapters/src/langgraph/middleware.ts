import { interrupt } from '@langchain/langgraph';
import { createMiddleware, ToolMessage } from 'langchain';
import { isObject } from '../call.ts';
import type { Refuse, Run } from '../review.ts';
import type { ToolRequest } from './requests.ts';

export interface OverseenTools {
  /** Names of the tools that only run when a person lets them. */
  readonly tools: readonly string[];
}

/**
 * For `createAgent`: every call of these tools interrupts the graph by itself, so that of two calls in one batch the
 * approved one runs although the other was rejected. (LangChain's own middleware then drops both.)
 *
 * @example
 * const agent = createAgent({ model, tools: [refund], middleware: [lanternMiddleware({ tools: ['refund'] })], checkpointer });
 */
export function lanternMiddleware({ tools }: OverseenTools) {
  return createMiddleware({
    name: 'Lanternroom',
    wrapToolCall: async (request, handler) => {
      const { toolCall } = request;
      if (!tools.includes(toolCall.name)) return handler(request);
      const held: ToolRequest = {
        lanternroom: 'tool_call',
        tool: toolCall.name,
        args: toolCall.args,
        tool_call_id: toolCall.id ?? '',
        ...purposeOf(request.tool),
      };
      const verdict: unknown = interrupt(held);
      if (!isRun(verdict)) return refusal(held, verdict);
      const result = await handler({ ...request, toolCall: { ...toolCall, args: verdict.args } });
      return verdict.note === null ? result : withNote(result, verdict.note);
    },
  });
}

function purposeOf(tool: unknown): { purpose?: string } {
  const description = isObject(tool) ? tool.description : undefined;
  return typeof description === 'string' ? { purpose: description } : {};
}

/** Only a verdict of ours runs a tool: anything else a graph is resumed with counts as a no. */
function isRun(verdict: unknown): verdict is Run {
  return isObject(verdict) && verdict.kind === 'run' && isObject(verdict.args);
}

function refusal(held: ToolRequest, verdict: unknown): ToolMessage {
  const isRefusal = (value: unknown): value is Refuse => isObject(value) && typeof value.message === 'string';
  const content = isRefusal(verdict)
    ? verdict.message
    : `No person has decided on this call, so ${held.tool} was not run.`;
  return new ToolMessage({ content, name: held.tool, tool_call_id: held.tool_call_id, status: 'error' });
}

function withNote<T>(result: T, note: string): T {
  if (ToolMessage.isInstance(result) && typeof result.content === 'string') {
    result.content = `${result.content}\n\n${note}`;
  }
  return result;
}
