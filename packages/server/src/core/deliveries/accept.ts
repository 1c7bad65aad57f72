import { budgetHead } from '../agents/budget.ts';
import type { Identity, KeyRecord } from '../agents/key.ts';
import { counted } from '../counted.ts';
import { withExactNumbers } from '../exact-numbers.ts';
import { Fault, isFault } from '../faults.ts';
import type { DeliveryId } from '../ids.ts';
import { fromBucket, type RateView, take, toBucket } from '../rate.ts';
import { nextPlace, type Room, record, stamp } from '../room.ts';
import type { HeadName, Tx } from '../store.ts';
import { HOUR, type Micros, SECOND } from '../time.ts';
import { bodyIdentity } from './content/sealed.ts';
import { type Shape, shapeOf } from './content/shape.ts';
import {
  type Content,
  type Delivery,
  type Draft,
  earlierSection,
  openSection,
  UNTOUCHED,
} from './delivery.ts';
import { isMet, UNMET } from './triage.ts';

const IDEMPOTENCY_KEPT: Micros = 24 * HOUR;

export type Submission = {
  identity: Identity;
  draft: Draft;
  content: Content;
  /** The body as it arrived; this is what is stored. */
  raw: Uint8Array;
  idempotencyKey: string | null;
};

export type Accepted = {
  kind: 'accepted' | 'repeated' | 'deduplicated';
  id: string;
  createdAt: Micros;
  /** Null when nothing was taken from the bucket. */
  rate: RateView | null;
};

/** A delivery whose content was read and hashed. Plain values only, so that it can travel to another thread. */
export type PreparedDelivery = Omit<Submission, 'content'> & {
  contentHash: string;
  /** Tells another body under the same Idempotency-Key from this one. */
  bodyHash: string;
  shape: Shape;
};

/** Stores a delivery, its idempotency record, its rate limit and its ledger line in one transaction. */
export function accept(room: Room, submission: Submission): Promise<Accepted | Fault> {
  const { identity, draft, raw, idempotencyKey, content } = submission;
  const contentHash = room.vault.sha256(room.vault.canonical(content));
  const bodyHash = idempotencyKey === null ? contentHash : hashOfBody(room, raw, contentHash);
  const prepared = { identity, draft, raw, idempotencyKey, contentHash, bodyHash, shape: shapeOf(content) };
  return room.intake?.take('delivery', prepared) ?? takeIn(room, prepared);
}

const decoder = new TextDecoder();

/** Two bodies may differ only in digits that a double cannot hold: they are still different bodies (W12). */
function hashOfBody({ vault }: Room, raw: Uint8Array, contentHash: string): string {
  const exact = withExactNumbers(decoder.decode(raw));
  return exact === null ? contentHash : vault.sha256(vault.canonical(JSON.parse(exact)));
}

export function takeIn(room: Room, prepared: PreparedDelivery): Promise<Accepted | Fault> {
  const { key } = prepared.identity;
  const heads: HeadName[] = ['ledger', `agent:${key.agent}`, budgetHead(key)];
  return room.store.write(key.space, heads, (tx) => insert(room, tx, prepared, key));
}

async function insert(room: Room, tx: Tx, s: PreparedDelivery, key: KeyRecord): Promise<Accepted | Fault> {
  const now = room.clock.now();
  const earlier = await repeated(tx, s, now);
  if (earlier !== null) return earlier;
  const revised = await findRevised(tx, s);
  if (isFault(revised)) return revised;
  const twin = await deduplicated(tx, s, revised, now);
  if (twin !== null) return twin;
  const rate = await takeToken(room, tx, key, now);
  if (isFault(rate)) return rate;
  // A person may have met the agent since its key was looked up.
  const accepted = s.identity.accepted || (await isMet(tx, key.agent));
  const createdAt = await stamp(room, tx, key.agent, accepted ? '' : UNMET);
  const id = await tx.deliveries.idAt(await nextPlace(tx));
  const seq = await record(room, tx, createdAt, {
    actor: `agent:${key.agent}`,
    action: 'delivery.accepted',
    subject: id,
    data: {
      key: key.id,
      type: s.draft.type,
      content_sha256: s.contentHash,
      ...(revised && { revises: revised.id }),
    },
  });
  const delivery = toDelivery(s, { id, seq, createdAt, revised, accepted });
  await tx.deliveries.insert(delivery, room.vault.seal(s.raw, bodyIdentity(delivery)));
  if (revised !== null) await supersede(tx, revised, delivery);
  await leadToNewest(tx, s.draft.revises, delivery);
  await remember(tx, s, { id, createdAt, isDeduplicated: false }, now);
  tx.announce(`desk:${tx.space}`, id);
  return { kind: 'accepted', id, createdAt, rate };
}

async function repeated(tx: Tx, s: PreparedDelivery, now: Micros): Promise<Accepted | Fault | null> {
  if (s.idempotencyKey === null) return null;
  const before = await tx.idempotency.get(s.identity.key.agent, s.idempotencyKey, now);
  if (before === null) return null;
  if (before.bodyHash === s.bodyHash) {
    const kind = before.isDeduplicated ? 'deduplicated' : 'repeated';
    return { kind, id: before.delivery, createdAt: before.createdAt, rate: null };
  }
  return new Fault(
    'idempotency_conflict',
    'This Idempotency-Key was used with another body in the last 24 hours. Use a new key for a new delivery.',
    { field: 'Idempotency-Key' },
  );
}

async function deduplicated(
  tx: Tx,
  s: PreparedDelivery,
  revised: Delivery | null,
  now: Micros,
): Promise<Accepted | null> {
  if (s.draft.dedupeKey === null) return null;
  const first = await tx.deliveries.pendingByDedupeKey(s.identity.key.agent, s.draft.dedupeKey);
  // A revision of that same delivery replaces it instead.
  if (first === null || first.id === revised?.id) return null;
  // Remembered, so that a retry after the first delivery was decided does not make a second one.
  const { id, createdAt } = first;
  await remember(tx, s, { id, createdAt, isDeduplicated: true }, now);
  return { kind: 'deduplicated', id, createdAt, rate: null };
}

async function findRevised(tx: Tx, s: PreparedDelivery): Promise<Delivery | null | Fault> {
  if (s.draft.revises === null) return null;
  const earlier = await tx.deliveries.get(s.draft.revises);
  if (earlier !== null && earlier.agent === s.identity.key.agent) return latestRevision(tx, earlier);
  return new Fault('invalid_field', 'revises must be the delivery_id of an earlier delivery of this agent.', {
    field: 'revises',
  });
}

/** An agent may name an old version; the newest one is the one that is replaced. */
async function latestRevision(tx: Tx, earlier: Delivery): Promise<Delivery> {
  let latest = earlier;
  while (latest.supersededBy !== null) {
    const next = await tx.deliveries.get(latest.supersededBy);
    if (next === null) break;
    latest = next;
  }
  return latest;
}

async function takeToken(room: Room, tx: Tx, key: KeyRecord, now: Micros): Promise<RateView | Fault> {
  const rate = room.settings.rates[key.tier];
  const head = await tx.heads.get(budgetHead(key));
  const taken = take(toBucket(head, rate, now), rate, now);
  if (taken.kind === 'taken') {
    tx.heads.set(budgetHead(key), fromBucket(taken.bucket));
    return taken.view;
  }
  return new Fault(
    'rate_limited',
    `This key may deliver ${counted(rate.perHour, 'time')} an hour (burst ${rate.burst}). Wait ${taken.retryAfterSeconds} s, then retry once.`,
    { retryAfter: taken.retryAfterSeconds },
  );
}

function toDelivery(
  s: PreparedDelivery,
  at: { id: string; seq: number; createdAt: Micros; revised: Delivery | null; accepted: boolean },
): Delivery {
  const { draft } = s;
  const { key } = s.identity;
  const timeoutAt = draft.timeoutSeconds === null ? null : at.createdAt + draft.timeoutSeconds * SECOND;
  return {
    space: key.space,
    seq: at.seq,
    id: at.id,
    agent: key.agent,
    tier: key.tier,
    provider: draft.provider,
    type: draft.type,
    headline: draft.headline,
    summary: draft.summary,
    contentHash: s.contentHash,
    createdAt: at.createdAt,
    changedAt: at.createdAt,
    ...UNTOUCHED,
    ...openSection({ type: draft.type, accepted: at.accepted, timeoutAt, createdAt: at.createdAt }),
    timeoutAt,
    taskId: draft.taskId,
    threadId: draft.threadId,
    interruptId: draft.interruptId,
    revises: at.revised?.id ?? null,
    revision: (at.revised?.revision ?? 0) + 1,
    dedupeKey: draft.dedupeKey,
    causeEvent: null,
    ...s.shape,
  };
}

/** The desk shows one row: the earlier revision gives way, unless a person has already answered it. */
async function supersede(tx: Tx, earlier: Delivery, by: Delivery): Promise<void> {
  const open = earlier.state === 'pending';
  await tx.deliveries.update({
    ...earlier,
    supersededBy: by.id,
    ...(open ? { state: 'superseded' as const, snoozedUntil: null, ...earlierSection(by.createdAt) } : {}),
  });
  tx.announce(`desk:${tx.space}`, earlier.id);
}

/** What the agent named, when that was an older version: whoever names it again, or opens it, is one step from the newest. */
async function leadToNewest(tx: Tx, named: DeliveryId | null, newest: Delivery): Promise<void> {
  if (named === null || named === newest.revises) return;
  const old = await tx.deliveries.get(named);
  if (old === null) return;
  await tx.deliveries.update({ ...old, supersededBy: newest.id });
  tx.announce(`desk:${tx.space}`, old.id);
}

/** Stores which delivery an Idempotency-Key stands for, if one was sent. */
async function remember(
  tx: Tx,
  s: PreparedDelivery,
  { id, createdAt, isDeduplicated }: { id: string; createdAt: Micros; isDeduplicated: boolean },
  now: Micros,
): Promise<void> {
  if (s.idempotencyKey === null) return;
  await tx.idempotency.put({
    agent: s.identity.key.agent,
    key: s.idempotencyKey,
    bodyHash: s.bodyHash,
    delivery: id,
    isDeduplicated,
    createdAt,
    expiresAt: now + IDEMPOTENCY_KEPT,
  });
}
