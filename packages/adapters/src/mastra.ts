import { LanternError } from '@lanternroom/sdk/wake';
import { isObject } from './call.ts';
import { type ReviewOptions, review } from './review.ts';

export interface OverseenOptions extends ReviewOptions {
  /** Groups what belongs together on the desk. */
  readonly threadId?: string | undefined;
}

/** What is needed of a Mastra tool. */
interface MastraTool {
  readonly id: string;
  readonly description?: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: the arguments of `execute` differ between Mastra 0 and 1
  execute?: ((...given: any[]) => Promise<any>) | undefined;
}

interface Given {
  readonly args: Record<string, unknown>;
  readonly callId: string;
  /** The same arguments of `execute` with other input for the tool. */
  with(args: Record<string, unknown>): unknown[];
}

/**
 * The same tool, which waits for the person before it runs. A refused call ends with `{ status: 'not_run', message }`
 * for the model. With `wait: false` an undecided call ends with the news that it was not run yet; made again
 * later it is a new question, because Mastra gives each call a new id.
 *
 * @example
 * const agent = new Agent({ name: 'clerk', instructions, model, tools: { refund: overseen(refund, { wake }) } });
 */
export function overseen<T extends MastraTool>(tool: T, options: OverseenOptions): T {
  const run = tool.execute;
  if (run === undefined) throw new LanternError('wrong_usage', `The tool ${tool.id} has nothing to execute.`);
  const held: T = Object.assign(Object.create(Object.getPrototypeOf(tool)), tool);
  held.execute = async (...all: unknown[]) => {
    const given = read(tool, all);
    const { threadId } = options;
    const call = {
      id: [threadId ?? '', given.callId],
      tool: tool.id,
      args: given.args,
      purpose: tool.description,
      threadId,
    };
    const verdict = await review('mastra', call, options);
    if (verdict.kind === 'run') return run.apply(tool, given.with(verdict.args));
    if (verdict.kind === 'refuse') return { status: 'not_run', message: verdict.message };
    const message = `Not run yet: a person has to decide first. End here, and call ${tool.id} again when you are told to.`;
    return { status: 'pending', message, deliveryId: verdict.deliveryId };
  };
  return held;
}

/** Mastra 0 calls `execute({ context: input, … }, { toolCallId })`, Mastra 1 `execute(input, { agent: { toolCallId } })`. */
function read(tool: MastraTool, [first, second, ...rest]: unknown[]): Given {
  const about = isObject(second) ? second : {};
  const agent = isObject(about.agent) ? about.agent : about;
  const callId = agent.toolCallId;
  if (!isObject(first) || typeof callId !== 'string' || callId === '') {
    throw new LanternError(
      'wrong_usage',
      `This call of ${tool.id} has no id, so nobody can be asked about it.`,
    );
  }
  if (isObject(first.context) && 'runtimeContext' in first) {
    return { args: first.context, callId, with: (args) => [{ ...first, context: args }, second, ...rest] };
  }
  return { args: first, callId, with: (args) => [args, second, ...rest] };
}
