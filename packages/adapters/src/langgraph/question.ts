import type { Draft, Wake } from '@lanternroom/sdk/wake';
import { isObject, keyOf } from '../call.ts';
import type { ReviewOptions } from '../review.ts';
import type { PersonSays } from './ask.ts';
import { isQuestion } from './requests.ts';

/** The answer to an interrupt that holds no tool call; null while there is none. */
export async function answerQuestion(
  at: { threadId: string; id: string },
  value: unknown,
  options: ReviewOptions,
): Promise<PersonSays | null> {
  const draft = draftOf(at, value, options.timeoutSeconds);
  const key = await keyOf('langgraph', { id: [at.threadId, at.id], tool: '', args: { value } });
  const { wake, signal } = options;
  const deliveryId =
    (await wake.recall(key)) ?? (await deliver(wake, { ...draft, dedupeKey: key }, { key, signal }));
  if (options.wait === false) {
    const checked = await wake.check(deliveryId, { signal });
    if (checked.status !== 'pending') return checked;
    return checked.timedOutAt === null ? null : { status: 'timed_out', mayProceed: false };
  }
  const answer = await wake.waitFor(deliveryId, { signal });
  return answer.status === 'timed_out' ? { status: 'timed_out', mayProceed: false } : answer;
}

async function deliver(
  wake: Wake,
  draft: Draft,
  how: { key: string; signal: AbortSignal | undefined },
): Promise<string> {
  return (await wake.deliver(draft, { idempotencyKey: how.key, signal: how.signal })).deliveryId;
}

function draftOf(at: { threadId: string; id: string }, value: unknown, timeoutSeconds = 86_400): Draft {
  const ids = { threadId: at.threadId, interruptId: at.id };
  if (isQuestion(value)) return { timeoutSeconds, ...ids, ...value.draft };
  return {
    type: 'question',
    headline: 'A paused graph asks how to go on',
    summary: 'It interrupted itself with what is below; the answer goes back to it.',
    details: isObject(value) ? value : { asked: value ?? null },
    timeoutSeconds,
    ...ids,
  };
}
