import type { Assumed, Checked, Content, Unanswered } from '@lanternroom/sdk/wake';
import { EXIT } from './world.ts';

export type Outcome = Checked | Assumed | Unanswered;

/** An answer in the words of the wire, for `--json`. */
export function fromOutcome(outcome: Outcome): Record<string, unknown> {
  const said = outcome.status === 'redirected' ? outcome.instructions : outcome;
  return {
    delivery_id: outcome.deliveryId,
    status: outcome.status,
    feedback: 'feedback' in said ? said.feedback : null,
    edited_content: 'editedContent' in said ? said.editedContent : null,
    responded_at: 'respondedAt' in outcome ? outcome.respondedAt : null,
    ...(outcome.status === 'rejected' && outcome.withdrawnAt ? { withdrawn_at: outcome.withdrawnAt } : {}),
    ...(outcome.status === 'pending' && outcome.timedOutAt ? { timed_out_at: outcome.timedOutAt } : {}),
    ...(outcome.status === 'timed_out' ? { assumption: outcome.assumption } : {}),
  };
}

/** The same for people: what to do, then what was said. */
export function tell(outcome: Outcome): string {
  switch (outcome.status) {
    case 'approved':
      return block('approved: go on as planned', outcome.feedback);
    case 'rejected':
      return block('rejected: do not go on', outcome.feedback, readable(outcome.editedContent ?? null));
    case 'redirected': {
      const { feedback, editedContent } = outcome.instructions;
      return block('redirected: work these in first', feedback, readable(editedContent));
    }
    case 'pending':
      return block('pending: nobody has answered yet');
    case 'timed_out':
      if (!outcome.mayProceed) return block('timed_out: nobody has answered in time');
      return block(
        'timed_out: nobody has answered in time; the assumption is in the log',
        outcome.assumption,
      );
  }
}

/** One line of `lantern responses`. */
export function tellInLine(outcome: Checked): string {
  const facts = fromOutcome(outcome);
  const notes = [
    facts.feedback,
    facts.edited_content === null ? null : '(with edited content: --json shows it)',
  ];
  const at = facts.responded_at ?? '-';
  const line = [
    at,
    outcome.status.padEnd(10),
    outcome.deliveryId,
    ...notes.filter((note) => note !== null),
  ].join('  ');
  return `${shown(line).replaceAll(/\s*\n\s*/g, ' ')}\n`;
}

export function exitOf(outcome: Outcome): number {
  const codes = { approved: EXIT.done, rejected: EXIT.rejected, redirected: EXIT.redirected };
  return outcome.status === 'pending' || outcome.status === 'timed_out'
    ? EXIT.timedOut
    : codes[outcome.status];
}

function readable(content: Content): string | null {
  return typeof content === 'object' && content !== null ? JSON.stringify(content, null, 2) : content;
}

function block(...parts: (string | null)[]): string {
  return parts.flatMap((part) => (part === null ? [] : `${shown(part)}\n`)).join('');
}

/** Other people's text, without anything that could control a terminal or reverse a line. */
export function shown(text: string): string {
  return text.replaceAll(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');
}
