import { LanternError } from '@lanternroom/sdk/wake';
import { fits, type HeldCall, keyOf, signature } from '../call.ts';
import { type Refuse, type ReviewOptions, type Run, review, together } from '../review.ts';
import type { HitlRequest } from './requests.ts';

type Decision =
  | { type: 'approve' }
  | { type: 'edit'; editedAction: { name: string; args: HeldCall['args'] } }
  | { type: 'reject'; message: string };

interface Decided {
  readonly call: HeldCall;
  readonly verdict: Run | Refuse;
}

/** One question per held call; null while one of them is open. */
export async function answerHitl(
  at: { threadId: string; id: string },
  request: HitlRequest,
  options: ReviewOptions,
): Promise<{ decisions: Decision[] } | null> {
  const held = request.actionRequests.map((action, index) => ({
    call: {
      id: [at.threadId, at.id, String(index)],
      tool: action.name,
      args: action.args,
      purpose: action.description,
      threadId: at.threadId,
    },
    allowed: allowedFor(request, index),
  }));
  for (const one of held) assertCanReject(one.call.tool, one.allowed);
  const decided = await together(held, options, async (one, asking): Promise<Decided | null> => {
    const verdict = await review('langgraph', one.call, asking);
    return verdict.kind === 'pending' ? null : { call: one.call, verdict: withinLimits(one, verdict) };
  });
  const settled = decided.filter((one) => one !== null);
  if (settled.length < decided.length) return null;
  const dropped = droppedBy(settled);
  if (dropped.length > 0) await tellWhatWasDropped(at, dropped, options);
  return { decisions: settled.map((one) => decisionOf(one, dropped)) };
}

function allowedFor(request: HitlRequest, index: number): readonly string[] {
  return request.reviewConfigs[index]?.allowedDecisions ?? [];
}

function assertCanReject(tool: string, allowed: readonly string[]): void {
  if (allowed.includes('approve') && allowed.includes('reject')) return;
  const message = `humanInTheLoopMiddleware must allow "approve" and "reject" for ${tool}: a person can say both.`;
  throw new LanternError('wrong_usage', message);
}

function withinLimits(
  held: { call: HeldCall; allowed: readonly string[] },
  verdict: Run | Refuse,
): Run | Refuse {
  if (verdict.kind !== 'run' || !verdict.edited || held.allowed.includes('edit')) return verdict;
  const message = `${held.call.tool} was not run: a person wants ${JSON.stringify(verdict.args)} as its arguments, and this agent does not take edits. Call it again with these.`;
  return { kind: 'refuse', deliveryId: verdict.deliveryId, message };
}

/** LangChain's middleware drops approved calls when another call of the same batch was rejected. */
function droppedBy(decided: readonly Decided[]): Decided[] {
  const isMixed = decided.some(({ verdict }) => verdict.kind === 'refuse');
  return isMixed ? decided.filter(({ verdict }) => verdict.kind === 'run') : [];
}

async function tellWhatWasDropped(
  at: { threadId: string; id: string },
  dropped: readonly Decided[],
  { wake, signal }: ReviewOptions,
): Promise<void> {
  const calls = dropped.map(({ call, verdict }) => ({
    tool: call.tool,
    args: verdict.kind === 'run' ? verdict.args : call.args,
  }));
  const key = await keyOf('langgraph-dropped', { id: [at.threadId, at.id], tool: '', args: { calls } });
  if ((await wake.recall(key, { signal })) !== null) return;
  const names = [...new Set(calls.map(({ tool }) => tool))].join(', ');
  await wake.deliver(
    {
      type: 'update',
      headline: [...`Not run although approved: ${names}`].slice(0, 120).join(''),
      summary:
        'LangChain drops approved calls when another of the same batch is rejected. The agent may ask again.',
      details: {
        not_run: calls.map(signature),
        deliveries: dropped.map(({ verdict }) => verdict.deliveryId),
      },
      ...(fits(at.threadId) ? { threadId: at.threadId } : {}),
    },
    { idempotencyKey: key, signal },
  );
}

function decisionOf({ call, verdict }: Decided, dropped: readonly Decided[]): Decision {
  if (verdict.kind === 'refuse') {
    const lost = dropped.map((one) => signature(one.call)).join(', ');
    const also =
      lost === '' ? '' : ` Approved, but not run because of this: ${lost}. Call again what is still needed.`;
    return { type: 'reject', message: verdict.message + also };
  }
  if (!verdict.edited) return { type: 'approve' };
  return { type: 'edit', editedAction: { name: call.tool, args: verdict.args } };
}
