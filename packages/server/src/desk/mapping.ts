import type { Agent } from '../core/agents/agent.ts';
import type { budgetOf } from '../core/agents/budget.ts';
import type { KeyRecord } from '../core/agents/key.ts';
import { isJsonObject, type JsonObject } from '../core/canonical.ts';
import type { Answer, Decision } from '../core/deliveries/decision/decision.ts';
import { type Delivery, timedOutAt, type Verdict } from '../core/deliveries/delivery.ts';
import { ceilingOf, keptFor, type Subscription } from '../core/events/subscriptions/subscription.ts';
import type { ExactJson } from '../core/exact-json.ts';
import { memberText } from '../core/json-text.ts';
import type { LedgerLine } from '../core/ledger/ledger.ts';
import type { Person, TokenRecord } from '../core/people/person.ts';
import type { Attempt, Job } from '../core/sending/job.ts';
import { isBlank } from '../core/text.ts';
import { fromIso, type Micros, SECOND, toIso, toIsoOrNull } from '../core/time.ts';
import { choice, invalid, optionalText } from '../http/reading/fields.ts';

export const VERDICTS: readonly Verdict[] = ['approved', 'rejected', 'redirected'];
export const FEEDBACK_MOST = 20_000;

/**
 * What a row shows beyond its delivery: whether it has timed out, whether its agent is a sample, and the held
 * verdict.
 */
export type Seen = { now: Micros; samples: ReadonlySet<string>; held: ReadonlyMap<string, Verdict> };

/** One row of the list. */
export function fromDelivery(d: Delivery, { now, samples, held }: Seen) {
  return {
    delivery_id: d.id,
    agent_id: d.agent,
    tier: d.tier,
    provider: d.provider,
    type: d.type,
    headline: d.headline,
    summary: d.summary,
    status: d.status,
    state: d.state,
    held_status: held.get(d.id) ?? null,
    section: d.section,
    created_at: toIso(d.createdAt),
    changed_at: toIso(d.changedAt),
    timeout_at: toIsoOrNull(d.timeoutAt),
    timed_out_at: toIsoOrNull(timedOutAt(d, now)),
    effect_at: toIsoOrNull(d.effectAt),
    snoozed_until: toIsoOrNull(d.snoozedUntil),
    read_at: toIsoOrNull(d.readAt),
    withdrawn_at: toIsoOrNull(d.withdrawnAt),
    task_id: d.taskId,
    thread_id: d.threadId,
    interrupt_id: d.interruptId,
    revises: d.revises,
    revision: d.revision,
    superseded_by: d.supersededBy,
    parts: d.parts,
    irreversible: d.irreversible,
    sample: samples.has(d.agent),
  };
}

export function fromDecision(
  d: Decision,
  person: Person | null,
  answer: { feedback: string | null; edited_content: ExactJson } | null,
) {
  return {
    status: d.verdict,
    state: d.state === 'effective' ? 'decided' : d.state,
    decided_by: { person_id: d.person, name: person?.name ?? null },
    decided_at: toIso(d.decidedAt),
    effect_at: toIso(d.effectAt),
    content_sha256: d.contentHash,
    feedback: answer?.feedback ?? null,
    edited_content: answer?.edited_content ?? null,
  };
}

/** 422 without a hash: a decision is bound to what was shown (core rule 3). Any other value simply does not match. */
export function toAnswer({ value: body, raw }: { value: JsonObject; raw: Buffer }): Answer {
  const hash = body.content_sha256;
  if (typeof hash !== 'string' || isBlank(hash)) {
    throw invalid(
      'content_sha256',
      'content_sha256 is required: send the hash of the delivery that you were shown.',
    );
  }
  return {
    verdict: choice('status', body.status, VERDICTS),
    feedback: body.feedback === '' ? null : optionalText(body, 'feedback', FEEDBACK_MOST),
    editedContent: toEdited(body, raw),
    contentHash: hash.toLowerCase(),
  };
}

/** Checked as a value, stored as the text that was sent. */
export function toEdited(body: JsonObject, raw: Buffer): string | null {
  const edited = body.edited_content ?? null;
  if (edited === null) return null;
  if (typeof edited !== 'string' && !isJsonObject(edited))
    throw invalid('edited_content', 'edited_content must be an object, a string or null.');
  return memberText(raw.toString('utf8'), 'edited_content');
}

export function toUntil(body: JsonObject, now: Micros): Micros | null {
  if (body.until === null) return null;
  const until = typeof body.until === 'string' ? fromIso(body.until) : null;
  // Beyond the year 2255 microseconds are no longer exact.
  if (until === null || until <= now || !Number.isSafeInteger(until))
    throw invalid('until', 'until must be an ISO 8601 time in the future, or null to bring it back.');
  return until;
}

/** What is known of an agent beyond its row. */
export type AgentSeen = {
  keys: readonly KeyRecord[];
  waiting: number;
  lastSeenAt: Micros | null;
  /** Connected over A2A at this moment. */
  online: boolean;
};

export function fromAgent(a: Agent, { keys, waiting, lastSeenAt, online }: AgentSeen) {
  return {
    agent_id: a.id,
    created_at: toIso(a.createdAt),
    accepted_at: toIsoOrNull(a.acceptedAt),
    last_seen_at: toIsoOrNull(lastSeenAt),
    connected_at: toIsoOrNull(a.connectedAt),
    callbacks: a.callbacks,
    keys: keys.map(fromKey),
    waiting,
    online,
    sample: a.sample,
  };
}

/** How much a key may deliver (W5), and what is left of it. */
export function fromBudget(
  { id }: KeyRecord,
  { perHour, burst, remaining }: Awaited<ReturnType<typeof budgetOf>>,
) {
  return { key_id: id, per_hour: perHour, at_once: burst, left: remaining };
}

/** What an agent has asked for, and what comes of it. The secret of a forward is never shown here. */
export function fromSubscription(s: Subscription) {
  const { security = {}, delivery, capabilities } = s.body;
  return {
    subscription_id: s.id,
    default: s.isDefault,
    created_at: toIso(s.createdAt),
    event_types: s.body.event_types,
    filters: s.body.filters ?? {},
    source_names: security.accepted_source_names ?? null,
    producer_ids: security.accepted_producer_ids ?? null,
    key_ids: security.signature_key_ids ?? null,
    max_payload_bytes: capabilities?.max_payload_bytes ?? null,
    delivery: { type: delivery.type, url: delivery.url ?? null },
    furthest_resume: ceilingOf(s.body),
    kept_seconds: keptFor(s.body) / SECOND,
  };
}

function fromKey(k: KeyRecord) {
  return {
    key_id: k.id,
    tier: k.tier,
    prefix: `wk_${k.tier}_`,
    last_four: k.lastFour,
    created_at: toIso(k.createdAt),
    expires_at: toIsoOrNull(k.expiresAt),
    revoked_at: toIsoOrNull(k.revokedAt),
  };
}

export function fromPerson(p: Person) {
  return { person_id: p.id, email: p.email, name: p.name, role: p.role, created_at: toIso(p.createdAt) };
}

export function fromToken(t: TokenRecord) {
  return {
    token_id: t.id,
    name: t.name,
    last_four: t.lastFour,
    created_at: toIso(t.createdAt),
    revoked_at: toIsoOrNull(t.revokedAt),
  };
}

export function fromJob(j: Job) {
  return {
    job_id: j.id,
    origin: j.origin,
    state: j.state,
    attempts: j.attempts,
    due_at: j.state === 'due' ? toIso(j.dueAt) : null,
    created_at: toIso(j.createdAt),
  };
}

export function fromAttempt(a: Attempt) {
  return {
    job_id: a.job,
    number: a.number,
    at: toIso(a.at),
    duration_ms: a.durationMs,
    outcome: a.outcome,
    status: a.status,
  };
}

export function fromLine(line: LedgerLine) {
  return {
    seq: line.seq,
    at: toIso(line.at),
    actor: line.actor,
    action: line.action,
    subject: line.subject,
    data: JSON.parse(line.data) as JsonObject,
    hash: line.hash,
  };
}

/** A cell that a spreadsheet would take for a formula is kept as text. */
function cell(value: string | number): string {
  const text = String(value);
  const safe = /^(?:\s*[=+\-@]|[\t\r])/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const CSV_HEADER = 'seq,at,actor,action,subject,data,hash\r\n';

export function fromLineToCsv(line: LedgerLine): string {
  const cells = [line.seq, toIso(line.at), line.actor, line.action, line.subject, line.data, line.hash];
  return `${cells.map(cell).join(',')}\r\n`;
}
