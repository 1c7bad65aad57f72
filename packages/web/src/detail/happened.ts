import type { Attempt, Callback, Detail } from '../api/types.ts';
import { isOfTask, VERDICT_WORDS } from '../words/delivery.ts';
import { timeAndDay } from '../words/time.ts';

export type Happening = { at: string; text: string; job?: string };

const CALLED_BUT: Record<string, string> = {
  timeout: 'did not answer in time',
  connect: 'refused the connection',
  dns: 'could not be found by name',
  tls: 'has no certificate that can be trusted',
  reset: 'broke off the connection',
  garbage: 'gave an answer that makes no sense',
  too_large: 'gave an answer that is far too long',
};

const NOT_CALLED: Record<string, string> = {
  target_not_allowed: "it is not on the agent's callback allowlist",
  refused_address: 'its name leads to an address that may not be called',
  refused_request: 'its address may not be called',
  unreadable: 'what was to be sent cannot be opened with the present master key',
};

/** What happened, one sentence per line, oldest first. */
export function happened(detail: Detail, now: number): Happening[] {
  const lines: Happening[] = [{ at: detail.created_at, text: `${detail.agent_id} sent it.` }];
  if (detail.read_at !== null)
    lines.push({ at: detail.read_at, text: `${detail.read_by?.name ?? 'Somebody'} read it.` });
  for (const decision of detail.decisions) {
    const who = decision.decided_by.name ?? 'Somebody';
    const word = VERDICT_WORDS[decision.status].toLowerCase();
    lines.push({
      at: decision.decided_at,
      text: decision.state === 'undone' ? `${who} ${word} it, and took that back.` : `${who} ${word} it.`,
    });
    if (decision.state === 'decided')
      lines.push({ at: decision.effect_at, text: 'The answer went out; the agent can read it.' });
  }
  if (detail.withdrawn_at !== null) lines.push({ at: detail.withdrawn_at, text: withdrawnWords(detail) });
  if (detail.timed_out_at !== null)
    lines.push({ at: detail.timed_out_at, text: 'Its time ran out; the agent went on by itself.' });
  const origins = new Map(detail.callbacks.map((callback) => [callback.job_id, callback.origin]));
  for (const attempt of detail.attempts)
    lines.push({
      at: attempt.at,
      text: attemptWords(attempt, origins.get(attempt.job_id) ?? 'the receiver'),
    });
  return lines
    .sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .map((line) => ({ ...line, at: timeAndDay(line.at, now) }));
}

const withdrawnWords = (detail: Detail) =>
  isOfTask(detail) ? 'The task went on without an answer from here.' : `${detail.agent_id} withdrew it.`;

function attemptWords(attempt: Attempt, origin: string): string {
  if (attempt.status !== null)
    return `${origin} was called and answered ${attempt.status} after ${attempt.duration_ms} ms.`;
  const reason = NOT_CALLED[attempt.outcome];
  if (reason !== undefined) return `${origin} was not called: ${reason}.`;
  return `${origin} was called but ${CALLED_BUT[attempt.outcome] ?? `it did not work (${attempt.outcome})`}.`;
}

export function callbackWords(callback: Callback, now: number): string {
  const tries = callback.attempts === 1 ? 'one attempt' : `${callback.attempts} attempts`;
  switch (callback.state) {
    case 'done':
      return `The callback to ${callback.origin} arrived.`;
    case 'due':
      if (callback.attempts === 0) return `The callback to ${callback.origin} is on its way.`;
      return `The callback to ${callback.origin} is due ${callback.due_at === null ? 'now' : timeAndDay(callback.due_at, now)}, after ${tries}.`;
    case 'gone':
      return `${callback.origin} said that nobody listens there any more.`;
    case 'given_up':
      return `The callback to ${callback.origin} was given up after ${tries}.`;
  }
}
