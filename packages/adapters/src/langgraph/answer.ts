import type { RunnableConfig } from '@langchain/core/runnables';
import { Command } from '@langchain/langgraph';
import { LanternError } from '@lanternroom/sdk/wake';
import { type ReviewOptions, review, together } from '../review.ts';
import { answerHitl } from './hitl.ts';
import { type Held, interruptsOf, type PausedGraph } from './interrupts.ts';
import { answerQuestion } from './question.ts';
import { isHitlRequest, isToolRequest } from './requests.ts';

export type LanternOptions = ReviewOptions;

/** It updates nothing and goes to no node, so it fits every graph, whatever its state and nodes. */
export type Resume = Command<Record<string, unknown>, never, never>;

/** The graph is not paused; or still waits for a person; or goes on with this command. */
export type Answered =
  | { readonly status: 'none' }
  | { readonly status: 'pending' }
  | { readonly status: 'ready'; readonly resume: Resume };

/**
 * Answers every interrupt of a paused thread: calls held by `lanternMiddleware` or by LangChain's
 * `humanInTheLoopMiddleware`, questions of `askPerson`, and any other interrupt as a plain question.
 *
 * @example
 * const answered = await answerInterrupts(agent.graph, config, { wake, wait: false });
 * if (answered.status === 'ready') await agent.graph.invoke(answered.resume, config);
 */
export async function answerInterrupts(
  graph: PausedGraph,
  config: RunnableConfig,
  options: LanternOptions,
): Promise<Answered> {
  const threadId = threadOf(config);
  const interrupts = await interruptsOf(graph, config);
  if (interrupts.length === 0) return { status: 'none' };
  const answers = await together(interrupts, options, (one, asking) => answerOne(threadId, one, asking));
  if (answers.some(({ value }) => value === null)) return { status: 'pending' };
  const resume = Object.fromEntries(answers.map(({ id, value }) => [id, value]));
  return { status: 'ready', resume: new Command<Record<string, unknown>, never, never>({ resume }) };
}

/**
 * Runs a graph to its end and stays with it: each interrupt is put before the person, and the graph goes on with the
 * answer. Without an input it goes on with a thread that was left paused, for example by a crash.
 *
 * @example
 * const result = await runWithPerson(agent.graph, { messages: [['user', 'Refund order A-17']] }, config, { wake });
 */
export async function runWithPerson<Input, Output>(
  graph: PausedGraph & { invoke(input: Input | Command | null, config: RunnableConfig): Promise<Output> },
  input: Input | null,
  config: RunnableConfig,
  options: Omit<LanternOptions, 'wait'>,
): Promise<Output> {
  const signalled = options.signal === undefined ? config : { ...config, signal: options.signal };
  let next: Input | Command | null = input;
  // A node that died after it was answered still looks as if it waited: it continues first.
  if (input === null && !(await interruptsOf(graph, config)).some(({ earlier }) => earlier > 0)) {
    const left = await answerInterrupts(graph, config, options);
    if (left.status === 'ready') next = left.resume;
  }
  for (;;) {
    const output = await graph.invoke(next, signalled);
    const answered = await answerInterrupts(graph, config, options);
    if (answered.status !== 'ready') return output;
    next = answered.resume;
  }
}

async function answerOne(
  threadId: string,
  { id, value, earlier }: Held,
  options: LanternOptions,
): Promise<{ id: string; value: unknown }> {
  if (isToolRequest(value)) {
    const { tool, args, purpose } = value;
    const call = { id: [threadId, id], tool, args, purpose, threadId };
    const verdict = await review('langgraph', call, options);
    return { id, value: verdict.kind === 'pending' ? null : verdict };
  }
  if (isHitlRequest(value)) return { id, value: await answerHitl({ threadId, id }, value, options) };
  // A node asks about a call once. A plain question may be repeated by the same node, and each answer is for one of
  // them.
  const question = earlier === 0 ? id : `${id}:${earlier}`;
  return { id, value: await answerQuestion({ threadId, id: question }, value, options) };
}

function threadOf(config: RunnableConfig): string {
  const id: unknown = config.configurable?.thread_id;
  if (typeof id === 'string' && id !== '') return id;
  const message =
    'Give the thread to answer as config.configurable.thread_id: it tells one question from another.';
  throw new LanternError('wrong_usage', message);
}
