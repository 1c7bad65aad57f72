import type { Draft } from '@lanternroom/sdk/wake';
import { answerTo } from '../asking.ts';
import { fits, isObject, keyOf } from '../call.ts';
import type { ReviewOptions } from '../review.ts';
import type { PersonSays } from './ask.ts';
import { isQuestion } from './requests.ts';

/** The answer to an interrupt that holds no tool call; null while there is none. */
export async function answerQuestion(
  at: { threadId: string; id: string },
  value: unknown,
  options: ReviewOptions,
): Promise<PersonSays | null> {
  const key = await keyOf('langgraph', { id: [at.threadId, at.id], tool: '', args: { value } });
  const answer = await answerTo(key, () => draftOf(at, value, options.timeoutSeconds), options);
  if (answer.status === 'pending' && answer.timedOutAt === null) return null;
  const isAnswer = answer.status !== 'pending' && answer.status !== 'timed_out';
  return isAnswer ? answer : { status: 'timed_out', mayProceed: false };
}

function draftOf(at: { threadId: string; id: string }, value: unknown, timeoutSeconds = 86_400): Draft {
  const ids = {
    ...(fits(at.threadId) ? { threadId: at.threadId } : {}),
    ...(fits(at.id) ? { interruptId: at.id } : {}),
  };
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
