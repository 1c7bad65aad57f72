import type { Assumed, Checked, Unanswered } from '@lanternroom/sdk/wake';

/** An answer in the words of the wire (W14). */
export function fromAnswer(answer: Checked | Assumed | Unanswered): Record<string, unknown> {
  const said = answer.status === 'redirected' ? answer.instructions : answer;
  return {
    delivery_id: answer.deliveryId,
    status: answer.status === 'timed_out' ? 'pending' : answer.status,
    may_proceed: answer.status === 'approved',
    feedback: 'feedback' in said ? said.feedback : null,
    edited_content: 'editedContent' in said ? said.editedContent : null,
    responded_at: 'respondedAt' in answer ? answer.respondedAt : null,
  };
}

const MEANINGS = {
  approved: 'Approved: go on as you proposed.',
  rejected: 'Rejected: do not do it. Read the feedback and find another way, or ask again.',
  redirected: 'Redirected: work in edited_content and feedback completely before you go on.',
  pending: 'Nobody has answered yet. Go on with work that does not depend on it, and look again later.',
  timed_out: 'Nobody has answered yet. Go on with work that does not depend on it, and look again later.',
};

/** What the agent has to do now. */
export function meaningOf(answer: { readonly status: keyof typeof MEANINGS }): string {
  return MEANINGS[answer.status];
}
