import { judgeTarget } from '../../core/agents/allowlist.ts';
import type { Identity } from '../../core/agents/key.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/canonical.ts';
import type { Accepted } from '../../core/deliveries/accept.ts';
import { DELIVERY_TYPES, type Draft, STATUSES, type Status } from '../../core/deliveries/delivery.ts';
import type { SweepQuery, Swept } from '../../core/deliveries/sweep.ts';
import { Fault } from '../../core/faults.ts';
import { toUuid } from '../../core/ids.ts';
import type { Rate } from '../../core/rate.ts';
import { type AllowedSecret, findSecret } from '../../core/secrets/secrets.ts';
import { isBlank, isLongerThan } from '../../core/text.ts';
import { fromIso, toIso } from '../../core/time.ts';
import { BODY_LIMIT } from '../../http/reading/body.ts';
import {
  choice,
  invalid,
  missing,
  optionalText,
  optionalWhole,
  type Query,
  requiredChoice,
  requiredLine,
  requiredText,
  single,
  wholeQuery,
} from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { LIMITS, VERSIONS } from './schema.ts';

const REQUIRED = ['agent_id', 'provider', 'type', 'headline', 'summary'] as const;

/** What an agent may deliver, checked in the order missing (400), not yours (403), wrong (422). W7, W3, W8. */
export function toDraft(body: JsonObject, identity: Identity): Draft {
  for (const field of REQUIRED) {
    if (body[field] === undefined || body[field] === null) throw missing(field);
  }
  assertOwnAgent(requiredText(body, 'agent_id', LIMITS.agentId), identity);
  const draft: Draft = {
    provider: requiredText(body, 'provider', LIMITS.provider),
    type: requiredChoice(body, 'type', DELIVERY_TYPES),
    headline: requiredLine(body, 'headline', LIMITS.headline),
    summary: requiredLine(body, 'summary', LIMITS.summary),
    timeoutSeconds: optionalWhole(body, 'timeout_seconds', LIMITS.timeoutLeast, LIMITS.timeoutMost),
    callback: toCallback(body, identity),
    taskId: optionalText(body, 'task_id', LIMITS.reference),
    threadId: optionalText(body, 'thread_id', LIMITS.reference),
    interruptId: optionalText(body, 'interrupt_id', LIMITS.reference),
    revises: toRevises(body),
    dedupeKey: optionalText(body, 'dedupe_key', LIMITS.reference),
  };
  assertDetails(body);
  return draft;
}

/** Identity is the key's (W3). */
function assertOwnAgent(agentId: string, identity: Identity): void {
  if (agentId === identity.key.agent) return;
  throw new Fault(
    'agent_mismatch',
    'This key belongs to another agent. Use the agent_id that the key was made for.',
    {
      field: 'agent_id',
    },
  );
}

/** Where no `agent_id` is wanted, one that is given all the same must be right (W3). */
export function assertNoOtherAgent(given: JsonObject, identity: Identity): void {
  const agentId = optionalText(given, 'agent_id', LIMITS.agentId);
  if (agentId !== null) assertOwnAgent(agentId, identity);
}

function toCallback(body: JsonObject, identity: Identity): string | null {
  const url = body.callback_webhook;
  if (url === undefined || url === null) return null;
  if (typeof url !== 'string') throw invalid('callback_webhook', 'callback_webhook must be a string.');
  const verdict = judgeTarget(url, identity.callbacks, identity.key.tier);
  if (verdict.allowed) return verdict.url;
  throw new Fault('target_not_allowed', verdict.message, {
    field: 'callback_webhook',
    extra: { reason: verdict.reason },
  });
}

function toRevises(body: JsonObject): string | null {
  const given = optionalText(body, 'revises', LIMITS.reference);
  const id = given === null ? null : toUuid(given);
  if (given === null || id !== null) return id;
  throw invalid('revises', 'revises must be the delivery_id of an earlier delivery of this agent.');
}

function assertDetails(body: JsonObject): void {
  const details = body.details ?? null;
  if (details !== null && typeof details !== 'string' && !isJsonObject(details)) {
    throw invalid('details', 'details must be an object, a string or null.');
  }
  const allowed = toAllowed(body.allow_secrets);
  const found = details === null ? null : findSecret(details, allowed);
  if (found === null) return;
  throw new Fault(
    'secret_in_details',
    `details holds what looks like a credential (${found.kind}) at ${found.path}. Remove it, or name it in allow_secrets with a reason.`,
    { field: 'details', extra: { path: found.path, kind: found.kind } },
  );
}

function toAllowed(value: Json | undefined): AllowedSecret[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrongAllowed();
  return value.map((entry) => {
    if (!isJsonObject(entry)) throw wrongAllowed();
    const { path, reason } = entry;
    if (!isShortText(path, LIMITS.path) || !isShortText(reason, LIMITS.reason)) throw wrongAllowed();
    return { path: toPointer(path), reason };
  });
}

function isShortText(value: Json | undefined, most: number): value is string {
  return typeof value === 'string' && !isBlank(value) && !isLongerThan(value, most);
}

function wrongAllowed(): Fault {
  return invalid(
    'allow_secrets',
    `allow_secrets must be a list of {"path", "reason"}, each with a reason of 1 to ${LIMITS.reason} characters.`,
  );
}

/**
 * We report places as JSON Pointers from the body's root; pointers from `details`, and dotted paths as people type
 * them, are understood too.
 */
function toPointer(path: string): string {
  const pointer = path.startsWith('/') ? path : `/${path.replace(/^\$\.?/, '').replaceAll('.', '/')}`;
  return /^\/details(?:\/|$)/.test(pointer) ? pointer : `/details${pointer}`;
}

export function fromAccepted(accepted: Accepted): { status: number; body: string } {
  const deduplicated = accepted.kind === 'deduplicated';
  return {
    status: deduplicated ? 200 : 201,
    body: JSON.stringify({
      delivery_id: accepted.id,
      status: 'received',
      created_at: toIso(accepted.createdAt),
      ...(deduplicated ? { deduplicated } : {}),
    }),
  };
}

export function toSweep(query: Query, identity: Identity): SweepQuery & { sinceGiven: string | null } {
  assertNoOtherAgent({ agent_id: single(query, 'agent_id') }, identity);
  const sinceGiven = single(query, 'since');
  const since = sinceGiven === null ? null : fromIso(sinceGiven);
  if (sinceGiven !== null && since === null) {
    throw invalid(
      'since',
      'since must be an ISO 8601 time such as 2026-03-08T11:55:00.000000Z; pass next_since as it came.',
    );
  }
  const limit = wholeQuery(query, 'limit', { least: 1, most: LIMITS.sweepMost }) ?? LIMITS.sweepDefault;
  return {
    agent: identity.key.agent,
    statuses: toStatuses(single(query, 'status')),
    since,
    limit,
    sinceGiven,
  };
}

function toStatuses(text: string | null): Status[] {
  if (text === null) return [...STATUSES];
  return [...new Set(text.split(',').map((word) => choice('status', word.trim(), STATUSES)))];
}

/** Items are spliced in as the bytes they are stored as. `has_more` is `total` > page (W18). */
export function fromSwept(swept: Swept, sinceGiven: string | null): string {
  const nextSince = swept.lastChange === null ? sinceGiven : toIso(swept.lastChange);
  const hasMore = swept.total > swept.items.length;
  return `{"deliveries":[${swept.items.join(',')}],"total":${swept.total},"has_more":${hasMore},"next_since":${JSON.stringify(nextSince)}}`;
}

/** `?wait=N` or `Prefer: wait=N`, in milliseconds; more than the most is capped (W15). */
export function toWait(query: Query, prefer: string | string[] | undefined): number {
  const asked =
    single(query, 'wait') ?? /(?:^|[,;\s])wait\s*=\s*"?([^",;\s]*)/i.exec(String(prefer ?? ''))?.[1] ?? null;
  if (asked === null) return 0;
  if (!/^\d+$/.test(asked))
    throw invalid('wait', `wait must be a whole number of seconds, at most ${LIMITS.waitMost}.`);
  return Math.min(Number(asked), LIMITS.waitMost) * 1000;
}

const EXTENSIONS = [
  'wait',
  'idempotency-key',
  'withdraw',
  'allow_secrets',
  'task_id',
  'thread_id',
  'interrupt_id',
  'revises',
  'dedupe_key',
];

/** The well-known document (W25); a caller with a key is also told who it is. */
export function fromCard({ room, baseUrl }: Pick<Shell, 'room' | 'baseUrl'>, identity: Identity | null) {
  const { test, live } = room.settings.rates;
  return {
    name: 'lanternroom',
    versions: VERSIONS,
    endpoint: `${baseUrl()}/wake/v1`,
    limits: {
      body_bytes: BODY_LIMIT,
      agent_id: LIMITS.agentId,
      provider: LIMITS.provider,
      headline: LIMITS.headline,
      summary: LIMITS.summary,
      reference: LIMITS.reference,
      reason: LIMITS.reason,
      timeout_seconds: [LIMITS.timeoutLeast, LIMITS.timeoutMost],
      sweep: LIMITS.sweepMost,
      wait_seconds: LIMITS.waitMost,
      idempotency_key: LIMITS.idempotencyKey,
      deliveries: { test: fromRate(test), live: fromRate(live) },
    },
    extensions: EXTENSIONS,
    ...(identity === null ? {} : { agent_id: identity.key.agent, tier: identity.key.tier }),
  };
}

function fromRate({ perHour, burst }: Rate) {
  return { per_hour: perHour, burst };
}
