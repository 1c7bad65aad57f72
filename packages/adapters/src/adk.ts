import { LanternError } from '@lanternroom/sdk/wake';
import { keyOf } from './call.ts';
import { type ReviewOptions, review } from './review.ts';

export interface AdkOptions extends ReviewOptions {
  /** Names of the tools that only run when a person lets them. */
  readonly tools: readonly string[];
}

/** What ADK hands to a callback before it runs a tool. */
export interface BeforeTool {
  readonly tool: { readonly name: string; readonly description?: string };
  readonly args: Record<string, unknown>;
  readonly context: {
    readonly functionCallId?: string | undefined;
    readonly sessionId: string;
    readonly state: { get(key: string): unknown; set(key: string, value: unknown): void };
  };
}

/**
 * For `beforeToolCallback` of an `LlmAgent`: the tool waits for the person. ADK asks for the calls of a batch one after
 * the other. With `wait: false` an undecided call ends with the news that it was not run yet, and the session remembers
 * it: the same call made later in that session picks up the answer.
 *
 * @example
 * const agent = new LlmAgent({ name: 'clerk', model, tools: [refund], beforeToolCallback: lanternCallback({ wake, tools: ['refund'] }) });
 */
export function lanternCallback(options: AdkOptions) {
  return async ({ tool, args, context }: BeforeTool): Promise<Record<string, unknown> | undefined> => {
    if (!options.tools.includes(tool.name)) return undefined;
    const { sessionId, state } = context;
    // A call that is made again has a new id. The answer is used once: after it, the same call is a new question.
    const mark = await keyOf('lanternroom', { id: [], tool: tool.name, args });
    const earlier = state.get(mark);
    const callId = demandId(earlier ?? context.functionCallId);
    const about = { purpose: tool.description, threadId: sessionId };
    const call = { id: [sessionId, callId], tool: tool.name, args: { ...args }, ...about };
    const verdict = await review('google-adk', call, options);
    if (verdict.kind === 'pending') state.set(mark, callId);
    else if (earlier) state.set(mark, null);
    if (verdict.kind === 'refuse') return { status: 'not_run', message: verdict.message };
    if (verdict.kind === 'pending') {
      const message = `Not run yet: a person has to decide first. End here, and call ${tool.name} again when you are told to.`;
      return { status: 'pending', message, delivery_id: verdict.deliveryId };
    }
    // Changed in place: ADK hands this very object to the tool next.
    for (const name of Object.keys(args)) delete args[name];
    Object.assign(args, verdict.args);
    return undefined;
  };
}

/** Without an id, an answer could be taken for that of another call. */
function demandId(id: unknown): string {
  if (typeof id === 'string' && id !== '') return id;
  throw new LanternError('wrong_usage', 'This tool call has no id, so nobody can be asked about it.');
}
