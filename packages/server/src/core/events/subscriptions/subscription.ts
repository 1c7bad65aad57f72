import type { Tier } from '../../agents/key.ts';
import type { Json } from '../../canonical.ts';
import type { AgentId, SpaceId } from '../../ids.ts';
import { DAY, type Micros, SECOND } from '../../time.ts';
import { type Envelope, RESUME_POLICIES, type ResumePolicy } from '../event.ts';
import type { Algorithm } from '../producer.ts';

/** A subscription as its schema has it; `*` in `event_types` is our addition (K10). */
export type SubscriptionBody = {
  spec: string;
  sink: string;
  event_types: string[];
  filters?: Record<string, Json>;
  delivery: { type: string; url?: string; ack_required?: boolean; replay_retention_seconds?: number };
  security?: {
    accepted_source_names?: string[];
    accepted_producer_ids?: string[];
    signature_key_ids?: string[];
  };
  capabilities?: { resume_policies?: ResumePolicy[]; max_payload_bytes?: number };
};

export type Subscription = {
  space: SpaceId;
  id: string;
  agent: AgentId;
  body: SubscriptionBody;
  isDefault: boolean;
  createdAt: Micros;
  /** The tier of the key that made it: only a test key may forward to loopback (W21). */
  tier: Tier;
};

/** What an event is matched by. */
export type Arrival = {
  envelope: Envelope;
  producer: string;
  /** As the header named it. */
  keyId: string | null;
  algorithm: Algorithm;
  size: number;
};

export type Match = 'takes' | 'too_large' | 'does_not';

/** A condition: the value at this path of an event must be one of these. */
export type Want = { path: string; values: readonly Json[] };

/** All conditions of a subscription; what it does not name does not matter (K7, K18). No patterns. */
export function wantsOf({ event_types: types, filters = {}, security = {} }: SubscriptionBody): Want[] {
  const { accepted_source_names: names, accepted_producer_ids: producers } = security;
  const wants = Object.entries(filters).map(([path, wanted]) => ({
    path,
    values: Array.isArray(wanted) ? wanted : [wanted],
  }));
  if (!types.includes('*')) wants.push({ path: 'event_type', values: types });
  if (names !== undefined) wants.push({ path: 'source.name', values: names });
  if (producers !== undefined) wants.push({ path: 'source.producer_id', values: producers });
  return wants;
}

/** Everything a subscription names must hold. */
export function match(body: SubscriptionBody, arrival: Arrival): Match {
  const wanted =
    wantsOf(body).every(({ path, values }) => values.includes(valueAt(arrival, path))) &&
    isKeyWanted(body.security?.signature_key_ids, arrival);
  if (!wanted) return 'does_not';
  const most = body.capabilities?.max_payload_bytes ?? Number.POSITIVE_INFINITY;
  return arrival.size <= most ? 'takes' : 'too_large';
}

/**
 * If key ids are declared, the header must name one of them. An Ed25519 key is accepted only where it is declared
 * (K24).
 */
function isKeyWanted(declared: string[] | undefined, { keyId, algorithm }: Arrival): boolean {
  if (declared === undefined) return algorithm === 'v1';
  return keyId !== null && declared.includes(keyId);
}

/**
 * The value as readers see it: a producer id that a test producer left out is filled in (K5). Undefined where there
 * is none, which no condition names.
 */
export function valueAt({ envelope, producer }: Arrival, path: string): Json {
  return (path === 'source.producer_id' ? producer : follow(envelope, path)) as Json;
}

const isWritten = Object.prototype.propertyIsEnumerable;

/** What JSON wrote there: a filter over `constructor`, `__proto__` or the `length` of a list finds nothing. */
function follow(from: unknown, path: string): unknown {
  let value = from;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null || !isWritten.call(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

export function everything(space: SpaceId, id: string, agent: AgentId, createdAt: Micros): Subscription {
  const body: SubscriptionBody = {
    spec: 'akep.v1',
    sink: agent,
    event_types: ['*'],
    delivery: { type: 'poll' },
  };
  return { space, id, agent, body, isDefault: true, createdAt, tier: 'live' };
}

export const UNACKED_KEPT: Micros = 7 * DAY;

/** How long an entry can be read again; unacknowledged ones stay at least a week whatever this says (K17). */
export function keptFor({ delivery }: SubscriptionBody): Micros {
  const seconds = delivery.replay_retention_seconds;
  return seconds === undefined ? UNACKED_KEPT : seconds * SECOND;
}

/** The most that an event may do for a subscriber that declares what it supports (K33). */
export function ceilingOf({ capabilities }: SubscriptionBody): ResumePolicy {
  const able = capabilities?.resume_policies;
  if (able === undefined) return 'resume_immediately';
  return RESUME_POLICIES.findLast((policy) => able.includes(policy)) ?? 'never';
}
