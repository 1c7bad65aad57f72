import type { AgentId, DeliveryId, PersonId, SpaceId } from '../../ids.ts';
import type { Micros } from '../../time.ts';
import type { Delivery, Verdict } from '../delivery.ts';

/** A person's answer, before it is judged. */
export type Answer = {
  verdict: Verdict;
  feedback: string | null;
  /** JSON text, exactly as the person gave it; null when nothing was edited. */
  editedContent: string | null;
  /** The hash of what the person was shown (core rule 3). */
  contentHash: string;
};

export type DecisionState = 'held' | 'undone' | 'effective';

export type Decision = {
  space: SpaceId;
  seq: number;
  delivery: DeliveryId;
  agent: AgentId;
  verdict: Verdict;
  person: PersonId;
  /** When the delivery that is decided on arrived. */
  deliveredAt: Micros;
  decidedAt: Micros;
  effectAt: Micros;
  state: DecisionState;
  contentHash: string;
};

export type Judged =
  | { kind: 'held'; effectAt: Micros }
  | { kind: 'effective' }
  | { kind: 'already_decided' }
  | { kind: 'already_held' }
  | { kind: 'changed'; contentHash: string }
  | { kind: 'withdrawn' }
  | { kind: 'superseded' };

/** May this answer stand? A plain function of values; who answers and when is the caller's business. */
export function judge(
  delivery: Pick<Delivery, 'state' | 'contentHash'>,
  answer: Answer,
  now: Micros,
  undoWindow: Micros,
): Judged {
  switch (delivery.state) {
    case 'decided':
      return { kind: 'already_decided' };
    case 'held':
      return { kind: 'already_held' };
    case 'withdrawn':
      return { kind: 'withdrawn' };
    case 'superseded':
      return { kind: 'superseded' };
    case 'pending':
      break;
  }
  if (answer.contentHash !== delivery.contentHash)
    return { kind: 'changed', contentHash: delivery.contentHash };
  return undoWindow === 0 ? { kind: 'effective' } : { kind: 'held', effectAt: now + undoWindow };
}

/** Undo works while the decision is held and its window is open, and never afterwards. */
export function mayUndo(decision: Decision | null, now: Micros): boolean {
  return decision !== null && decision.state === 'held' && now < decision.effectAt;
}
