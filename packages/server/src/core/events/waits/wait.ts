import type { AgentId, SpaceId } from '../../ids.ts';
import type { Micros } from '../../time.ts';
import { type Envelope, hasExpired, type ResumePolicy, stricter } from '../event.ts';

/** What a paused run waits for, with a reference to its saved state (K20). */
export type Wait = {
  space: SpaceId;
  id: string;
  agent: AgentId;
  subject: Record<string, string | number | boolean | null>;
  eventTypes: string[] | null;
  interruptId: string | null;
  runStateRef: string;
  policy: ResumePolicy | null;
  expiresAt: Micros | null;
  createdAt: Micros;
};

export type Resume = {
  space: SpaceId;
  agent: AgentId;
  offset: number;
  /** The place of its event in the inbox. */
  entryOffset: number;
  id: string;
  eventId: string;
  waitId: string | null;
  runStateRef: string | null;
  reason: string;
  outOfOrder: boolean;
  at: Micros;
};

/** In the form that every door sends (K21). */
export function fromResume(resume: Resume) {
  return {
    resume_id: resume.id,
    event_id: resume.eventId,
    wait_id: resume.waitId,
    run_state_ref: resume.runStateRef,
    decision: 'resume',
    reason: resume.reason,
    out_of_order: resume.outOfOrder,
  };
}

/** Everything that the wait names matches. */
export function matches(wait: Wait, envelope: Envelope, now: Micros): boolean {
  if (wait.expiresAt !== null && wait.expiresAt <= now) return false;
  if (wait.eventTypes !== null && !wait.eventTypes.includes(envelope.event_type)) return false;
  if (wait.interruptId !== null && wait.interruptId !== (envelope.routing.interrupt_id ?? null)) return false;
  return Object.entries(wait.subject).every(
    ([name, value]) => Object.hasOwn(envelope.subject, name) && envelope.subject[name] === value,
  );
}

export type Verdict = { wait: Wait | null; reason: string };

/**
 * May this event wake something? Advice is never authority: the stricter of the event's policy, the agent's and
 * the wait's decides (K20). Returns each wake-up, none when it is only to be kept.
 */
export function judgeResume(
  envelope: Envelope,
  local: ResumePolicy,
  open: readonly Wait[],
  now: Micros,
): Verdict[] {
  if (hasExpired(envelope, now)) return [];
  const advice = stricter(envelope.routing.resume_policy, local);
  if (advice === 'never' || advice === 'append_only') return [];
  const matching = open.filter((wait) => matches(wait, envelope, now));
  // If a run waits for this event but must not be woken by it, no other wake-up may take the wait's place.
  if (matching.length === 0 && advice === 'resume_immediately') {
    return [{ wait: null, reason: 'The event asks to resume at once.' }];
  }
  const woken = matching.filter((wait) => mayWake(advice, wait.policy));
  return woken.map((wait) => ({ wait, reason: reasonFor(wait) }));
}

function mayWake(advice: ResumePolicy, own: ResumePolicy | null): boolean {
  const policy = own === null ? advice : stricter(advice, own);
  return policy === 'resume_if_waiting' || policy === 'resume_immediately';
}

function reasonFor(wait: Wait): string {
  const named = [
    ...Object.keys(wait.subject).map((name) => `subject.${name}`),
    ...(wait.eventTypes === null ? [] : ['event type']),
    ...(wait.interruptId === null ? [] : ['interrupt']),
  ];
  return `An open wait matches (${named.join(', ') || 'any event'}).`;
}
