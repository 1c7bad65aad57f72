import type { Agent } from '../../core/agents/agent.ts';
import type { KeyRecord } from '../../core/agents/key.ts';
import type { Decision } from '../../core/deliveries/decision/decision.ts';
import { type Delivery, type Draft, UNTOUCHED } from '../../core/deliveries/delivery.ts';
import type { IdempotencyRecord } from '../../core/deliveries/store.ts';
import type { Checkpoint, LedgerLine } from '../../core/ledger/ledger.ts';
import type { PasskeyRecord } from '../../core/people/passkeys/passkey.ts';
import type { Person, SessionRecord, TokenRecord } from '../../core/people/person.ts';
import type { Attempt, Job } from '../../core/sending/job.ts';

/** Records with sound defaults; a test names only what it is about. */

const HASH = 'a'.repeat(64);

export function aPerson(over: Partial<Person> = {}): Person {
  const id = over.id ?? 'pe_1';
  return {
    space: 'sp_1',
    id,
    email: `${id}@example.com`,
    name: id,
    role: 'owner',
    passwordHash: null,
    createdAt: 1,
    ...over,
  };
}

export function aSession(over: Partial<SessionRecord> = {}): SessionRecord {
  return {
    space: 'sp_1',
    digest: 'digest',
    person: 'pe_1',
    createdAt: 1,
    expiresAt: 100,
    provedAt: 1,
    device: null,
    ...over,
  };
}

export function aPasskey(over: Partial<PasskeyRecord> = {}): PasskeyRecord {
  return {
    space: 'sp_1',
    id: 'pk_1',
    person: 'pe_1',
    name: 'laptop',
    digest: 'digest',
    credential: new Uint8Array([1, 2, 3]),
    counter: 0,
    isBackedUp: true,
    createdAt: 1,
    lastUsedAt: null,
    ...over,
  };
}

export function aToken(over: Partial<TokenRecord> = {}): TokenRecord {
  return {
    space: 'sp_1',
    id: 'tok_1',
    person: 'pe_1',
    name: 'script',
    digest: 'digest',
    lastFour: 'abcd',
    createdAt: 1,
    revokedAt: null,
    ...over,
  };
}

export function anAgent(over: Partial<Agent> = {}): Agent {
  return {
    space: 'sp_1',
    id: 'agent-01',
    createdAt: 1,
    acceptedAt: null,
    callbacks: [],
    lastSeenAt: null,
    connectedAt: null,
    sample: false,
    ...over,
  };
}

export function aKey(over: Partial<KeyRecord> = {}): KeyRecord {
  return {
    space: 'sp_1',
    id: 'key_1',
    agent: 'agent-01',
    tier: 'test',
    lastFour: 'abcd',
    digest: 'digest',
    createdAt: 1,
    expiresAt: null,
    revokedAt: null,
    ...over,
  };
}

export function aDelivery(over: Partial<Delivery> = {}): Delivery {
  const seq = over.seq ?? 1;
  return {
    space: 'sp_1',
    seq,
    id: `delivery-${seq}`,
    agent: 'agent-01',
    tier: 'test',
    provider: 'claude',
    type: 'question',
    headline: 'May I?',
    summary: 'It is ready.',
    contentHash: HASH,
    createdAt: seq,
    changedAt: seq,
    ...UNTOUCHED,
    section: 'needs_you',
    sectionAt: seq,
    timeoutAt: null,
    taskId: null,
    threadId: null,
    interruptId: null,
    revises: null,
    revision: 1,
    dedupeKey: null,
    causeEvent: null,
    parts: 0,
    irreversible: false,
    ...over,
  };
}

export function aDraft(over: Partial<Draft> = {}): Draft {
  return {
    provider: 'claude',
    type: 'question',
    headline: 'May I?',
    summary: 'It is ready.',
    timeoutSeconds: null,
    callback: null,
    taskId: null,
    threadId: null,
    interruptId: null,
    revises: null,
    dedupeKey: null,
    ...over,
  };
}

export function aDecision(over: Partial<Decision> = {}): Decision {
  return {
    space: 'sp_1',
    seq: 1,
    delivery: 'delivery-1',
    agent: 'agent-01',
    verdict: 'approved',
    person: 'pe_1',
    deliveredAt: 1,
    decidedAt: 1,
    effectAt: 2,
    state: 'held',
    contentHash: HASH,
    ...over,
  };
}

export function aJob(over: Partial<Job> = {}): Job {
  return {
    space: 'sp_1',
    id: 'job-1',
    kind: 'callback',
    agent: 'agent-01',
    delivery: 'delivery-1',
    origin: 'https://example.com',
    state: 'due',
    dueAt: 10,
    attempts: 0,
    fence: 0,
    leasedUntil: null,
    createdAt: 1,
    ...over,
  };
}

export function anAttempt(over: Partial<Attempt> = {}): Attempt {
  return {
    space: 'sp_1',
    job: 'job-1',
    delivery: 'delivery-1',
    number: 1,
    at: 1,
    durationMs: 5,
    outcome: 'answered',
    status: 200,
    ...over,
  };
}

export function anIdempotencyRecord(over: Partial<IdempotencyRecord> = {}): IdempotencyRecord {
  return {
    agent: 'agent-01',
    key: 'once',
    bodyHash: HASH,
    delivery: 'delivery-1',
    isDeduplicated: false,
    createdAt: 1,
    expiresAt: 100,
    ...over,
  };
}

export function aLine(over: Partial<LedgerLine> = {}): LedgerLine {
  return {
    space: 'sp_1',
    seq: 1,
    at: 1,
    actor: 'test',
    action: 'thing.done',
    subject: 'thing',
    data: '{}',
    hash: HASH,
    ...over,
  };
}

export function aCheckpoint(over: Partial<Checkpoint> = {}): Checkpoint {
  return { space: 'sp_1', seq: 1, hash: HASH, at: 1, signature: 'signature', ...over };
}
