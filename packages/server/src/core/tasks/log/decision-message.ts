import { isJsonObject, type JsonObject } from '../../canonical.ts';
import type { Delivery } from '../../deliveries/delivery.ts';
import { ExactJson } from '../../exact-json.ts';
import { elementTexts, memberText } from '../../json-text.ts';

/** Marks log entries that carry a decision, so that numbers which the person edited keep their digits (D59). */
export const DECISION_NOTE = 'decision';

export type TaskDecision = { status: string; feedback: string | null; edited_content: ExactJson };

/** From the bytes of the answer, which are the same on every surface (L4). */
export function toTaskDecision(answerBytes: string): TaskDecision {
  const { status, feedback } = JSON.parse(answerBytes) as Pick<TaskDecision, 'status' | 'feedback'>;
  return { status, feedback, edited_content: ExactJson.member(answerBytes, 'edited_content') };
}

/** The user message that a task goes on with: words, and the decision itself (A17). */
export function decisionMessage(
  messageId: string,
  answered: Pick<Delivery, 'id'>,
  { status, feedback, edited_content }: TaskDecision,
): JsonObject {
  const verdict = `${status.charAt(0).toUpperCase()}${status.slice(1)}`;
  // Somebody who reads only the words must not take an approval with changes for an approval of the original.
  const changed = edited_content.text === 'null' ? '' : ', with changes';
  const said = feedback === null ? '' : `: ${feedback}`;
  const data = { delivery_id: answered.id, status, feedback, edited_content: edited_content.json };
  return {
    messageId,
    role: 'ROLE_USER',
    parts: [{ text: `${verdict} by a person${changed}${said}` }, { data, mediaType: 'application/json' }],
  };
}

/** Reads it back from the log. */
export function readDecision(text: string): JsonObject {
  const message = JSON.parse(text) as JsonObject;
  const texts = elementTexts(memberText(text, 'parts') ?? '[]');
  const parts = (message.parts as JsonObject[]).map((part, index) => {
    const data = memberText(texts[index] ?? '{}', 'data');
    if (data === null || !isJsonObject(part.data)) return part;
    return { ...part, data: { ...part.data, edited_content: ExactJson.member(data, 'edited_content').json } };
  });
  return { ...message, parts };
}
