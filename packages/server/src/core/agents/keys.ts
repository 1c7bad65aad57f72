import { accessEnded } from '../access.ts';
import { Fault } from '../faults.ts';
import type { SpaceId } from '../ids.ts';
import { type Room, record } from '../room.ts';
import type { Tx } from '../store.ts';
import { DAY, type Micros, toIso } from '../time.ts';
import { isActive, type KeyRecord, makeKey, type Tier, tierOf } from './key.ts';
import { onAgent } from './on-agent.ts';

/** How long an old key stays valid beside its successor. */
export const OVERLAP: Micros = DAY;

export async function insertKey(
  room: Room,
  tx: Tx,
  k: { agent: string; key: string; now: Micros },
): Promise<KeyRecord> {
  const tier = tierOf(k.key);
  if (tier === null) throw new Error('a malformed key reached the store');
  const stored: KeyRecord = {
    space: tx.space,
    id: `key_${room.ids.letters(12)}`,
    agent: k.agent,
    tier,
    lastFour: k.key.slice(-4),
    digest: room.vault.sha256(k.key),
    createdAt: k.now,
    expiresAt: null,
    revokedAt: null,
  };
  await tx.keys.insert(stored);
  return stored;
}

export type MadeKey = { key: string; keyId: string; tier: Tier; othersExpireAt: Micros | null };

/**
 * One more key; with `rotate`, the others end after the overlap, and the new one keeps their tier unless another is
 * asked for (W4).
 */
export function addKey(
  room: Room,
  wanted: { space: SpaceId; agent: string; tier: Tier | null; rotate: boolean },
  actor: string,
): Promise<MadeKey | Fault> {
  return onAgent(room, wanted, async (tx, agent, now) => {
    const others = await tx.keys.list(agent.id);
    // After a leak all keys may be revoked; the new one still takes its tier from the last of them.
    const newest = others.findLast((k) => k.revokedAt === null) ?? others.at(-1);
    const tier = wanted.tier ?? (wanted.rotate ? newest?.tier : undefined) ?? 'test';
    const key = makeKey(tier, room.ids);
    const stored = await insertKey(room, tx, { agent: agent.id, key, now });
    const isOverlapping = wanted.rotate && others.some((k) => isActive(k, now));
    const othersExpireAt = isOverlapping ? now + OVERLAP : null;
    if (othersExpireAt !== null) await tx.keys.expireOthers(agent.id, stored.id, othersExpireAt);
    await record(room, tx, now, {
      actor,
      action: wanted.rotate ? 'key.rotated' : 'key.added',
      subject: agent.id,
      data: {
        key: stored.id,
        tier: stored.tier,
        ...(othersExpireAt && { others_expire_at: toIso(othersExpireAt) }),
      },
    });
    tx.announce(`desk:${tx.space}`, 'agents');
    return { key, keyId: stored.id, tier: stored.tier, othersExpireAt };
  });
}

/** Ends one key at once, or all of an agent's when none is named. */
export function revokeKeys(
  room: Room,
  at: { space: SpaceId; agent: string; keyId?: string | undefined },
  actor: string,
): Promise<{ revoked: string[] } | Fault> {
  return onAgent(room, at, async (tx, agent, now) => {
    const keys = (await tx.keys.list(agent.id)).filter((k) => at.keyId === undefined || k.id === at.keyId);
    const active = keys.filter((k) => k.revokedAt === null);
    if (active.length === 0) return noActiveKey('agent', at.keyId);
    for (const key of active) {
      await tx.keys.revoke(key.id, now);
      await record(room, tx, now, { actor, action: 'key.revoked', subject: agent.id, data: { key: key.id } });
    }
    tx.announce(`desk:${tx.space}`, 'agents');
    accessEnded(tx, agent.id);
    return { revoked: active.map((k) => k.id) };
  });
}

export function noActiveKey(of: 'agent' | 'producer', keyId: string | undefined): Fault {
  return new Fault(
    'not_found',
    `This ${of} has no active key${keyId === undefined ? ' any more' : ' with this id'}.`,
  );
}

/** A live key came over plain HTTP: it has to be treated as known to others (W2). */
export function noteExposed(room: Room, key: KeyRecord, from: string): Promise<void> {
  return room.store.write(key.space, ['ledger'], async (tx) => {
    const data = { key: key.id, from };
    await record(room, tx, room.clock.now(), {
      actor: 'system',
      action: 'key.exposed',
      subject: key.agent,
      data,
    });
  });
}
