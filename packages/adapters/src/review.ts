import { type Answer, type Checked, faultOf, type JsonObject, type Wake } from '@lanternroom/sdk/wake';
import { answerTo } from './asking.ts';
import { draftOf, editedArgs, type HeldCall, keyOf, type Wording } from './call.ts';

/** How the adapters of this package ask. */
export interface ReviewOptions {
  readonly wake: Wake;
  /**
   * True, which is the default, stays until there is an answer. False looks once: what is undecided comes back as
   * pending, and the same call made later finds the same question.
   */
  readonly wait?: boolean | undefined;
  /** Ends the wait. The question stays on the desk, and the same call made again goes on with it. */
  readonly signal?: AbortSignal | undefined;
  /** How long the question stands, 60…604800; a day unless told otherwise. Afterwards the tool does not run. */
  readonly timeoutSeconds?: number | undefined;
  /** Your own words for headline and summary. */
  readonly describe?: ((call: HeldCall) => Wording) | undefined;
}

export type Verdict = Run | Refuse | { readonly kind: 'pending'; readonly deliveryId: string };

/** Run it with exactly these arguments: they are what the person has seen, or has put in their place. */
export interface Run {
  readonly kind: 'run';
  readonly deliveryId: string;
  readonly args: JsonObject;
  readonly edited: boolean;
  /** For the model, beside the tool's result; null when there is nothing to add. */
  readonly note: string | null;
}

/** Do not run it, and tell the model why. */
export interface Refuse {
  readonly kind: 'refuse';
  readonly deliveryId: string;
  readonly message: string;
}

const DAY_SECONDS = 86_400;

/**
 * Puts one tool call before a person and says what came of it. Made again for the same call, also after a crash or by
 * another process with the same log, it finds the question it has already asked.
 *
 * @example
 * const verdict = await review('my-framework', { id: [runId, callId], tool: 'refund', args }, { wake });
 * const output = verdict.kind === 'run' ? await refund(verdict.args) : verdict.message;
 */
export async function review(
  framework: string,
  call: HeldCall,
  options: ReviewOptions & { wait?: true },
): Promise<Run | Refuse>;
export async function review(framework: string, call: HeldCall, options: ReviewOptions): Promise<Verdict>;
export async function review(framework: string, call: HeldCall, options: ReviewOptions): Promise<Verdict> {
  const draft = () => draftOf(call, options.describe?.(call) ?? {}, options.timeoutSeconds ?? DAY_SECONDS);
  const answer = await answerTo(await keyOf(framework, call), draft, options);
  const { deliveryId } = answer;
  if (answer.status === 'timed_out') return tooLate(call, deliveryId, options);
  if (answer.status !== 'pending') return verdictOf(call, answer);
  return answer.timedOutAt === null ? { kind: 'pending', deliveryId } : tooLate(call, deliveryId, options);
}

/**
 * What is held at the same time is asked at the same time, so that the person sees it together. If one fails, the
 * others are not awaited: their questions stay on the desk, and are found again.
 */
export async function together<Held, Result>(
  held: readonly Held[],
  options: ReviewOptions,
  one: (held: Held, options: ReviewOptions) => Promise<Result>,
): Promise<Result[]> {
  const failed = new AbortController();
  const given = options.signal === undefined ? [] : [options.signal];
  const signal = AbortSignal.any([failed.signal, ...given]);
  try {
    return await Promise.all(held.map((each) => one(each, { ...options, signal })));
  } catch (error) {
    failed.abort();
    throw error;
  }
}

/** Nobody should approve later what will no longer run. If somebody has just done so, that counts. */
async function tooLate(call: HeldCall, deliveryId: string, options: ReviewOptions): Promise<Verdict> {
  const { wake, signal } = options;
  try {
    await wake.withdraw(deliveryId, `No answer in time: ${call.tool} was not run.`, { signal });
  } catch (error) {
    if (faultOf(error) !== 'conflict') throw error;
    const checked = await wake.check(deliveryId, { signal });
    if (checked.status !== 'pending') return verdictOf(call, checked);
  }
  const message = `Nobody answered in time, so ${call.tool} was not run. Go on without it, or ask again later.`;
  return { kind: 'refuse', deliveryId, message };
}

function verdictOf(call: HeldCall, answer: Exclude<Checked, { status: 'pending' }>): Run | Refuse {
  const { deliveryId } = answer;
  if (answer.status === 'approved') {
    return { kind: 'run', deliveryId, args: call.args, edited: false, note: said(answer.feedback) };
  }
  if (answer.status === 'rejected') return { kind: 'refuse', deliveryId, message: rejected(call, answer) };
  const { feedback, editedContent } = answer.instructions;
  const args = editedArgs(call, editedContent);
  if (args === null) return { kind: 'refuse', deliveryId, message: redirected(call, answer) };
  const note = `A person changed the arguments to ${JSON.stringify(args)}; ${call.tool} ran with these.`;
  return {
    kind: 'run',
    deliveryId,
    args,
    edited: true,
    note: [note, said(feedback)].filter(Boolean).join(' '),
  };
}

function rejected(call: HeldCall, answer: Extract<Answer, { status: 'rejected' }>): string {
  if (answer.withdrawnAt !== null) {
    return `The question about ${call.tool} was taken back, so it was not run. ${answer.feedback ?? ''}`.trim();
  }
  const reason = said(answer.feedback) ?? 'They gave no reason.';
  return `A person rejected this call, and ${call.tool} was not run. ${reason} Do not try the same again: find another way, or ask.`;
}

function redirected(call: HeldCall, answer: Extract<Answer, { status: 'redirected' }>): string {
  const { feedback, editedContent } = answer.instructions;
  const edited = editedContent === null ? null : `Their version: ${JSON.stringify(editedContent)}.`;
  const words = [said(feedback), edited].filter(Boolean).join(' ');
  return `A person wants this done differently, so ${call.tool} was not run. ${words} Follow that before you go on.`;
}

function said(feedback: string | null): string | null {
  return feedback === null || feedback.trim() === '' ? null : `They said: ${JSON.stringify(feedback)}.`;
}
