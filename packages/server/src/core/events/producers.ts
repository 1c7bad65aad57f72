import type { KeyRecord, Tier } from '../agents/key.ts';
import { noActiveKey } from '../agents/keys.ts';
import { Fault, orThrow } from '../faults.ts';
import type { SpaceId } from '../ids.ts';
import { type Room, record } from '../room.ts';
import type { Tx } from '../store.ts';
import { DAY, type Micros, toIso } from '../time.ts';
import {
  agentProducerId,
  isProducerId,
  isPublicKey,
  isReserved,
  type Producer,
  type ProducerKey,
  producerIdFor,
} from './producer.ts';

/** Longer than any retry schedule, so that no retry is signed with a dead key (K24). */
const KEY_OVERLAP: Micros = 4 * DAY;

/** What verifies its signatures: the secret, shown this once, or the public key that the producer brought. */
export type MadeProducer = { producer: Producer; keyId: string; secret: string };

export type NewProducer = {
  space: SpaceId;
  name: string;
  tier: Tier;
  /** `whpk_…`, for Ed25519 instead of a shared secret (K24). */
  publicKey?: string | undefined;
};

export async function addProducer(
  room: Room,
  wanted: NewProducer,
  actor: string,
): Promise<MadeProducer | Fault> {
  const id = producerIdFor(wanted.name);
  const refused = refuseName(wanted.name, id) ?? refusePublicKey(wanted.publicKey);
  if (refused !== null) return refused;
  const made = { id, secret: wanted.publicKey ?? newSecret(room), anyId: false };
  return insertProducer(room, { ...wanted, ...made }, actor);
}

function refuseName(name: string, id: string): Fault | null {
  const field = 'name';
  if (name.trim() === '' || name.length > 80 || !isProducerId(id))
    return new Fault('invalid_field', 'A producer has a name of 1 to 80 characters.', { field });
  if (isReserved(id))
    return new Fault('name_taken', `${id} is a name that this server uses for itself.`, { field });
  return null;
}

function refusePublicKey(key: string | undefined): Fault | null {
  if (key === undefined || isPublicKey(key)) return null;
  const message = 'A public key is whpk_ and the base64 of the 32 bytes of an Ed25519 key.';
  return new Fault('invalid_field', message, { field: 'public_key' });
}

function newSecret(room: Room): string {
  return `whsec_${room.ids.base64(32)}`;
}

type Inserting = NewProducer & { id: string; secret: string; anyId: boolean; keyId?: string };

function insertProducer(room: Room, wanted: Inserting, actor: string): Promise<MadeProducer | Fault> {
  return room.store.write(wanted.space, ['ledger'], async (tx) => {
    const { id, name, tier, anyId, secret, keyId } = wanted;
    if ((await tx.producers.get(id)) !== null)
      return new Fault('name_taken', `There is already a producer ${id} in this space.`, { field: 'name' });
    const now = room.clock.now();
    const producer: Producer = { space: tx.space, id, name, tier, anyId, createdAt: now, lastSeenAt: null };
    await tx.producers.insert(producer);
    const key = await insertKey(room, tx, { producer: id, keyId, secret, now });
    const data = { key: key.id, tier };
    await record(room, tx, now, { actor, action: 'producer.added', subject: id, data });
    tx.announce(`desk:${tx.space}`, 'producers');
    return { producer, keyId: key.id, secret };
  });
}

async function insertKey(
  room: Room,
  tx: Tx,
  k: { producer: string; keyId: string | undefined; secret: string; now: Micros },
): Promise<ProducerKey> {
  const key: ProducerKey = {
    space: tx.space,
    id: k.keyId ?? `pk_${room.ids.letters(16)}`,
    producer: k.producer,
    algorithm: isPublicKey(k.secret) ? 'v1a' : 'v1',
    createdAt: k.now,
    expiresAt: null,
    revokedAt: null,
  };
  await tx.producers.insertKey(key, k.secret);
  return key;
}

function onProducer<T>(
  room: Room,
  at: { space: SpaceId; producer: string },
  work: (tx: Tx, producer: Producer, now: Micros) => Promise<T | Fault>,
): Promise<T | Fault> {
  return room.store.write(at.space, ['ledger'], async (tx) => {
    const producer = await tx.producers.get(at.producer);
    if (producer === null) return new Fault('not_found', 'There is no producer with this id in your space.');
    return work(tx, producer, room.clock.now());
  });
}

export type MadeProducerKey = { keyId: string; secret: string; othersExpireAt: Micros };

/** A new key beside the old ones, which end after the overlap. */
export async function rotateProducerKey(
  room: Room,
  at: { space: SpaceId; producer: string; publicKey?: string | undefined },
  actor: string,
): Promise<MadeProducerKey | Fault> {
  const refused = refusePublicKey(at.publicKey);
  if (refused !== null) return refused;
  const secret = at.publicKey ?? newSecret(room);
  return onProducer(room, at, async (tx, producer, now) => {
    const key = await insertKey(room, tx, { producer: producer.id, keyId: undefined, secret, now });
    const othersExpireAt = now + KEY_OVERLAP;
    await tx.producers.expireOthers(producer.id, key.id, othersExpireAt);
    const data = { key: key.id, others_expire_at: toIso(othersExpireAt) };
    await record(room, tx, now, { actor, action: 'producer.rotated', subject: producer.id, data });
    tx.announce(`desk:${tx.space}`, 'producers');
    return { keyId: key.id, secret, othersExpireAt };
  });
}

export function revokeProducerKeys(
  room: Room,
  at: { space: SpaceId; producer: string; keyId?: string | undefined },
  actor: string,
): Promise<{ revoked: string[] } | Fault> {
  return onProducer(room, at, async (tx, producer, now) => {
    const keys = await tx.producers.keys(producer.id);
    const active = keys.filter((k) => k.revokedAt === null && (at.keyId === undefined || k.id === at.keyId));
    if (active.length === 0) return noActiveKey('producer', at.keyId);
    for (const key of active) {
      await tx.producers.revokeKey(key.id, now);
      await record(room, tx, now, {
        actor,
        action: 'producer_key.revoked',
        subject: producer.id,
        data: { key: key.id },
      });
    }
    tx.announce(`desk:${tx.space}`, 'producers');
    return { revoked: active.map((k) => k.id) };
  });
}

/** What the agent signs with when it sends events itself (K25). */
export function agentProducer(
  room: Room,
  { space, agent, tier }: Pick<KeyRecord, 'space' | 'agent' | 'tier'>,
): Producer {
  return {
    space,
    id: agentProducerId(agent, room.vault.sha256),
    name: agent,
    tier,
    anyId: false,
    createdAt: 0,
    lastSeenAt: null,
  };
}

const ENV_PRODUCER = 'prod_environment';
const ENV_KEY = 'pk_from_environment';

/**
 * The test producer follows AKEP_WEBHOOK_SECRET at every start: it is made when there is a secret, gets the new one
 * when it has changed, and loses its key when there is none (K30). A key that was revoked by hand stays revoked.
 */
export async function keepEnvironmentProducer(
  room: Room,
  space: SpaceId,
  secret: string | null,
): Promise<void> {
  const known = await room.store.read(space, async (tx) => ({
    secret: await tx.producers.secret(ENV_KEY),
    key: (await tx.producers.keys(ENV_PRODUCER)).find((key) => key.id === ENV_KEY),
  }));
  if (known.key === undefined) {
    const wanted = { space, name: 'environment', id: ENV_PRODUCER, tier: 'test' as const };
    if (secret !== null)
      orThrow(await insertProducer(room, { ...wanted, keyId: ENV_KEY, secret, anyId: true }, 'operator'));
    return;
  }
  const ended = known.key.expiresAt !== null && known.key.expiresAt <= room.clock.now();
  if (secret === null ? ended : known.secret === secret && !ended) return;
  await changeEnvironmentKey(room, space, secret);
}

function changeEnvironmentKey(room: Room, space: SpaceId, secret: string | null): Promise<void> {
  return room.store.write(space, ['ledger'], async (tx) => {
    const now = room.clock.now();
    if (secret !== null) await tx.producers.setSecret(ENV_KEY, secret);
    await tx.producers.setKeyEnd(ENV_KEY, secret === null ? now : null);
    await record(room, tx, now, {
      actor: 'operator',
      action: secret === null ? 'producer_key.ended' : 'producer.rotated',
      subject: ENV_PRODUCER,
      data: { key: ENV_KEY },
    });
  });
}
