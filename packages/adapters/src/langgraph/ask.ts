import { interrupt } from '@langchain/langgraph';
import type { Answer, Draft } from '@lanternroom/sdk/wake';
import type { QuestionRequest } from './requests.ts';

/** A person's answer, or the news that nobody gave one in time. */
export type PersonSays = Answer | { readonly status: 'timed_out'; readonly mayProceed: false };

/**
 * Inside a node: pauses the graph with a question and returns the answer when it is resumed. The node runs again from
 * its start then, so put what must not happen twice into a node of its own.
 *
 * @example
 * const answer = askPerson({ type: 'question', headline: 'Draft is ready', summary: 'May I send it?' });
 */
export function askPerson(draft: Draft): PersonSays {
  const request: QuestionRequest = { lanternroom: 'question', draft };
  return interrupt(request);
}
