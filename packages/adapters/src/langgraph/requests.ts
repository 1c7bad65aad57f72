import type { Draft, JsonObject } from '@lanternroom/sdk/wake';
import { isObject } from '../call.ts';

/** What our interrupt carries. It is stored in a checkpoint, so it is plain JSON. */
export interface ToolRequest {
  readonly lanternroom: 'tool_call';
  readonly tool: string;
  readonly args: JsonObject;
  readonly tool_call_id: string;
  readonly purpose?: string;
}

export interface QuestionRequest {
  readonly lanternroom: 'question';
  readonly draft: Draft;
}

/** What LangChain's humanInTheLoopMiddleware puts into its interrupt. */
export interface HitlRequest {
  readonly actionRequests: readonly { name: string; args: JsonObject; description?: string }[];
  readonly reviewConfigs: readonly { actionName: string; allowedDecisions: readonly string[] }[];
}

export function isToolRequest(value: unknown): value is ToolRequest {
  return (
    isObject(value) &&
    value.lanternroom === 'tool_call' &&
    typeof value.tool === 'string' &&
    isObject(value.args)
  );
}

export function isQuestion(value: unknown): value is QuestionRequest {
  return isObject(value) && value.lanternroom === 'question' && isObject(value.draft);
}

export function isHitlRequest(value: unknown): value is HitlRequest {
  return isObject(value) && Array.isArray(value.actionRequests) && Array.isArray(value.reviewConfigs);
}
