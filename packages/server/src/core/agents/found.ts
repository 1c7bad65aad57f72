import { Fault, isFault } from '../faults.ts';
import type { SpaceId } from '../ids.ts';
import { type Room, record } from '../room.ts';
import type { Space, Tx } from '../store.ts';
import { DAY, type Micros, toIso } from '../time.ts';
import {
  type Agent,
  type CallbackSecret,
  isAgentId,
  isHandle,
  makeCallbackSecret,
  rotateSecrets,
} from './agent.ts';
import { judgeEntry } from './allowlist.ts';
import { type KeyRecord, makeKey, type Tier, tierOf } from './key.ts';

/** How long an old key or secret stays valid beside its successor. */
export const OVERLAP: Micros = DAY;
/** Longer than the whole retry schedule of a callback (W22), so that no retry is signed with a dead secret alone. */
const SECRET_OVERLAP: Micros = 4 * DAY;

/** Makes a space. Handles are unique on the server. */
export async function foundSpace(room: Room, handle: string, actor: string): Promise<Space | Fault> {
  const refused = refuseHandle(handle);
  if (refused !== null) return refused;
  if ((await room.store.directory.spaceByHandle(handle)) !== null) {
    return new Fault('name_taken', `There is already a space with the handle ${handle}.`, {
      field: 'handle',
    });
  }
  return room.store.write(makeSpaceId(room), ['ledger'], (tx) => insertSpace(room, tx, handle, actor));
}

export function makeSpaceId(room: Room): SpaceId {
  return `sp_${room.ids.letters(16)}`;
}

export function refuseHandle(handle: string): Fault | null {
  if (isHandle(handle)) return null;
  const message = 'A handle has 1 to 39 lower-case letters, digits or hyphens.';
  return new Fault('invalid_field', message, { field: 'handle' });
}

export async function insertSpace(room: Room, tx: Tx, handle: string, actor: string): Promise<Space> {
  const space = { id: tx.space, handle, createdAt: room.clock.now(), pushTargets: null };
  await tx.spaces.insert(space);
  const data = { handle };
  await record(room, tx, space.createdAt, { actor, action: 'space.added', subject: space.id, data });
  return space;
}

export type NewAgent = {
  space: SpaceId;
  id: string;
  tier: Tier;
  callbacks?: readonly string[];
  /** Given by an operator through INIT; made here otherwise. */
  key?: string;
  callbackSecret?: string;
};

/** The only time the secrets are seen. */
export type MadeAgent = { agent: Agent; key: string; keyId: string; callbackSecret: string };

export async function addAgent(
  room: Room,
  { space, ...wanted }: NewAgent,
  actor: string,
): Promise<MadeAgent | Fault> {
  const refused = refuseAgent(wanted);
  if (refused !== null) return refused;
  return room.store.write(space, ['ledger'], async (tx) => {
    if ((await tx.agents.get(wanted.id)) !== null) {
      return new Fault('name_taken', `There is already an agent named ${wanted.id} in this space.`, {
        field: 'agent_id',
      });
    }
    return insertAgent(room, tx, wanted, actor);
  });
}

/** Writes one that was not refused. */
export async function insertAgent(
  room: Room,
  tx: Tx,
  wanted: Omit<NewAgent, 'space'>,
  actor: string,
): Promise<MadeAgent> {
  const key = wanted.key ?? makeKey(wanted.tier, room.ids);
  const callbackSecret = wanted.callbackSecret ?? makeCallbackSecret(room.ids);
  const now = room.clock.now();
  const agent: Agent = {
    space: tx.space,
    id: wanted.id,
    createdAt: now,
    acceptedAt: null,
    callbacks: wanted.callbacks ?? [],
    lastSeenAt: null,
    connectedAt: null,
    sample: false,
  };
  await tx.agents.insert(agent, [{ secret: callbackSecret, createdAt: now, expiresAt: null }]);
  const stored = await insertKey(room, tx, { agent: agent.id, key, now });
  await record(room, tx, now, {
    actor,
    action: 'agent.added',
    subject: agent.id,
    data: { key: stored.id, tier: stored.tier, callbacks: agent.callbacks },
  });
  tx.announce(`desk:${tx.space}`, 'agents');
  return { agent, key, keyId: stored.id, callbackSecret };
}

/** Ours are the base64 of 32 bytes; an operator's own is taken as it is, unless it is too short to sign with (W20). */
const CALLBACK_SECRET = /^whsec_[!-~]{16,}$/;

export function refuseAgent(wanted: Omit<NewAgent, 'space'>): Fault | null {
  if (!isAgentId(wanted.id)) {
    return new Fault(
      'invalid_field',
      'An agent id has 1 to 128 letters, digits, dots, hyphens or underscores, and starts with a letter or digit.',
      { field: 'agent_id' },
    );
  }
  if (wanted.key !== undefined && tierOf(wanted.key) === null) {
    return new Fault(
      'invalid_field',
      'The key must be wk_test_ or wk_live_ and at least 32 letters or digits.',
      { field: 'key' },
    );
  }
  if (wanted.callbackSecret !== undefined && !CALLBACK_SECRET.test(wanted.callbackSecret)) {
    return new Fault(
      'invalid_field',
      'The callback secret must be whsec_ and at least 16 characters; the base64 of 32 random bytes is a good one.',
      { field: 'callback_secret' },
    );
  }
  return refuseEntries('callbacks', wanted.callbacks ?? []);
}

/** Every allowlist is checked entry by entry when it is set (D20). */
export function refuseEntries(field: string, entries: readonly string[]): Fault | null {
  for (const entry of entries) {
    const judged = judgeEntry(entry);
    if (!judged.allowed) return new Fault('invalid_field', judged.message, { field });
  }
  return null;
}

async function insertKey(
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

const NO_AGENT = 'There is no agent with this name in your space.';

/** Runs `work` on an agent that exists. */
function onAgent<T>(
  room: Room,
  at: { space: SpaceId; agent: string },
  work: (tx: Tx, agent: Agent, now: Micros) => Promise<T | Fault>,
): Promise<T | Fault> {
  return room.store.write(at.space, ['ledger'], async (tx) => {
    const agent = await tx.agents.get(at.agent);
    return agent === null ? new Fault('not_found', NO_AGENT) : work(tx, agent, room.clock.now());
  });
}

export type MadeKey = { key: string; keyId: string; tier: Tier; othersExpireAt: Micros | null };

/** A further key; with `rotate`, the others end after the overlap, and it keeps their tier unless told otherwise (W4). */
export function addKey(
  room: Room,
  wanted: { space: SpaceId; agent: string; tier: Tier | null; rotate: boolean; overlap?: Micros },
  actor: string,
): Promise<MadeKey | Fault> {
  return onAgent(room, wanted, async (tx, agent, now) => {
    const newest = (await tx.keys.list(agent.id)).findLast((k) => k.revokedAt === null);
    const tier = wanted.tier ?? (wanted.rotate ? newest?.tier : undefined) ?? 'test';
    const key = makeKey(tier, room.ids);
    const stored = await insertKey(room, tx, { agent: agent.id, key, now });
    const othersExpireAt = wanted.rotate ? now + (wanted.overlap ?? OVERLAP) : null;
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
    if (active.length === 0) return new Fault('not_found', 'This agent has no active key with this id.');
    for (const key of active) {
      await tx.keys.revoke(key.id, now);
      await record(room, tx, now, { actor, action: 'key.revoked', subject: agent.id, data: { key: key.id } });
    }
    tx.announce(`desk:${tx.space}`, 'agents');
    return { revoked: active.map((k) => k.id) };
  });
}

export async function setCallbacks(
  room: Room,
  at: { space: SpaceId; agent: string; callbacks: readonly string[] },
  actor: string,
): Promise<Agent | Fault> {
  const refused = refuseEntries('callbacks', at.callbacks);
  if (isFault(refused)) return refused;
  return onAgent(room, at, async (tx, agent, now) => {
    await tx.agents.setCallbacks(agent.id, at.callbacks);
    const data = { callbacks: at.callbacks };
    await record(room, tx, now, { actor, action: 'callbacks.changed', subject: agent.id, data });
    tx.announce(`desk:${tx.space}`, 'agents');
    return { ...agent, callbacks: at.callbacks };
  });
}

/** A new callback secret; the old one signs beside it until the overlap ends (W20). */
export function rotateCallbackSecret(
  room: Room,
  at: { space: SpaceId; agent: string },
  actor: string,
): Promise<{ callbackSecret: string; oldExpiresAt: Micros } | Fault> {
  const callbackSecret = makeCallbackSecret(room.ids);
  return onAgent(room, at, async (tx, agent, now) => {
    const oldExpiresAt = now + SECRET_OVERLAP;
    const fresh: CallbackSecret = { secret: callbackSecret, createdAt: now, expiresAt: null };
    await tx.agents.setSecrets(
      agent.id,
      rotateSecrets(await tx.agents.secrets(agent.id), fresh, oldExpiresAt),
    );
    const data = { old_expires_at: toIso(oldExpiresAt) };
    await record(room, tx, now, { actor, action: 'callback_secret.rotated', subject: agent.id, data });
    return { callbackSecret, oldExpiresAt };
  });
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
