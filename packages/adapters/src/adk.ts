import { LanternError } from '@lanternroom/sdk/wake';
import { type ReviewOptions, review } from './review.ts';

export interface AdkOptions extends ReviewOptions {
  /** Names of the tools that only run when a person lets them. */
  readonly tools: readonly string[];
}

/** What ADK hands to a callback before it runs a tool. */
export interface BeforeTool {
  readonly tool: { readonly name: string; readonly description?: string };
  readonly args: Record<string, unknown>;
  readonly context: { readonly functionCallId?: string | undefined; readonly sessionId: string };
}

/**
 * For `beforeToolCallback` of an `LlmAgent`: the tool waits for the person. ADK asks for the calls of a batch one after
 * the other. With `wait: false` an undecided call ends with the news that it was not run yet.
 *
 * @example
 * const agent = new LlmAgent({ name: 'clerk', model, tools: [refund], beforeToolCallback: lanternCallback({ wake, tools: ['refund'] }) });
 */
export function lanternCallback(options: AdkOptions) {
  return async ({ tool, args, context }: BeforeTool): Promise<Record<string, unknown> | undefined> => {
    if (!options.tools.includes(tool.name)) return undefined;
    const id = [context.sessionId, demandId(context.functionCallId)];
    const purpose = tool.description;
    const call = { id, tool: tool.name, args: { ...args }, purpose, threadId: context.sessionId };
    const verdict = await review('google-adk', call, options);
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
