import { LanternError } from '@lanternroom/sdk/wake';
import { type AgentInputItem, RunState, type RunToolApprovalItem, run } from '@openai/agents';
import { type HeldCall, isObject } from '../call.ts';
import { type Refuse, type ReviewOptions, type Run, review, together } from '../review.ts';
import { withArguments } from './edit.ts';
import type { AnyAgent, State } from './state.ts';

export interface ApprovalOptions extends ReviewOptions {
  /** Your own id of this run, the same after a restart: together with the call's id it tells one question from another. */
  readonly runId: string;
}

/** Passed on unchanged to the framework's own `run`. */
export interface PersonRunOptions extends Omit<ApprovalOptions, 'wait'> {
  readonly context?: unknown;
  readonly maxTurns?: number | undefined;
}

/** Nothing is held; or a person has not decided yet; or the run goes on with this state. */
export type Approvals<A extends AnyAgent> =
  | { readonly status: 'none' }
  | { readonly status: 'pending' }
  | { readonly status: 'ready'; readonly state: State<A> };

/**
 * Answers every tool call that a run holds back (`needsApproval`). In a mixed batch the approved calls run and the
 * rejected ones do not.
 *
 * @example
 * const answered = await answerApprovals(agent, result.state, { wake, runId, wait: false });
 * if (answered.status === 'ready') result = await run(agent, answered.state);
 */
export async function answerApprovals<A extends AnyAgent>(
  agent: A,
  state: State<A>,
  options: ApprovalOptions,
): Promise<Approvals<A>> {
  assertRunId(options.runId);
  const held = state.getInterruptions();
  if (held.length === 0) return { status: 'none' };
  const verdicts = await together(held, options, (item, asking) =>
    review('openai-agents', callOf(item, options), asking),
  );
  const decided = held.flatMap((item, index) => {
    const verdict = verdicts[index];
    return verdict === undefined || verdict.kind === 'pending' ? [] : [{ item, verdict }];
  });
  if (decided.length < held.length) return { status: 'pending' };
  const verdictOf = new Map(decided.map(({ item, verdict }) => [callId(item), verdict]));
  const edits = decided.flatMap(({ item, verdict }) =>
    verdict.kind === 'run' && verdict.edited && isEditable(item)
      ? [[callId(item), verdict.args] as const]
      : [],
  );
  // Edited first: the framework binds an approval to the arguments that the call has at that moment.
  const settled = edits.length === 0 ? state : await withArguments(agent, state, new Map(edits));
  for (const item of settled.getInterruptions()) settle(settled, item, verdictOf.get(callId(item)));
  return { status: 'ready', state: settled };
}

/**
 * Runs an agent to its end and stays with it: each call that needs approval is put before the person.
 *
 * @example
 * const result = await runWithPerson(agent, 'Refund order A-17.', { wake, runId });
 */
export async function runWithPerson<A extends AnyAgent>(
  agent: A,
  input: string | AgentInputItem[] | State<A>,
  options: PersonRunOptions,
) {
  const { signal, maxTurns, context } = options;
  const call = {
    ...(signal === undefined ? {} : { signal }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(context === undefined ? {} : { context }),
  };
  let next = input;
  if (next instanceof RunState) {
    // The state was left paused: what it holds is answered first.
    const left = await answerApprovals(agent, next, options);
    if (left.status === 'ready') next = left.state;
  }
  for (;;) {
    const result = await run(agent, next, call);
    const answered = await answerApprovals(agent, result.state, options);
    if (answered.status !== 'ready') return result;
    next = answered.state;
  }
}

function callOf(item: RunToolApprovalItem, { runId }: ApprovalOptions): HeldCall {
  const tool = item.name ?? item.rawItem.type;
  return { id: [runId, callId(item)], tool, args: argsOf(item), threadId: runId };
}

/** What the person reads: the arguments of a function, or the whole action of a shell, computer or patch call. */
function argsOf(item: RunToolApprovalItem): HeldCall['args'] {
  if (item.arguments === undefined) return { ...item.rawItem };
  try {
    const parsed: unknown = JSON.parse(item.arguments);
    if (isObject(parsed)) return parsed;
  } catch {
    // Shown as it is: the model wrote something that is not JSON.
  }
  return { arguments: item.arguments };
}

function settle<A extends AnyAgent>(
  state: State<A>,
  item: RunToolApprovalItem,
  verdict: Run | Refuse | undefined,
): void {
  if (verdict === undefined) return;
  if (verdict.kind === 'refuse') {
    state.reject(item, { message: verdict.message });
  } else if (!verdict.edited || isEditable(item)) {
    state.approve(item);
  } else {
    const args = JSON.stringify(verdict.args);
    state.reject(item, { message: `Not run: a person wants ${args} instead. Propose it again like that.` });
  }
}

/** Only for a function call is it certain that the tool receives the edited arguments. */
function isEditable(item: RunToolApprovalItem): boolean {
  return item.rawItem.type === 'function_call';
}

function callId({ rawItem }: RunToolApprovalItem): string {
  const id = 'callId' in rawItem ? rawItem.callId : rawItem.id;
  if (typeof id === 'string' && id !== '') return id;
  throw new LanternError(
    'wrong_usage',
    'This tool call has no id, so its answer could be taken for another call.',
  );
}

function assertRunId(runId: unknown): void {
  if (typeof runId === 'string' && runId !== '') return;
  const message =
    'Give the run an id of your own (runId), the same after a restart: it tells one question from another.';
  throw new LanternError('wrong_usage', message);
}
