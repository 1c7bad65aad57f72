import { subscribeToEverything } from '../events/subscriptions/subscribe.ts';
import { Fault } from '../faults.ts';
import type { SpaceId } from '../ids.ts';
import { SPACE_ADDED } from '../ledger/ledger.ts';
import { type Room, record } from '../room.ts';
import type { Space, Tx } from '../store.ts';
import { type Agent, isAgentId, isHandle, makeCallbackSecret } from './agent.ts';
import { refuseEntries } from './allowlist.ts';
import { makeKey, type Tier, tierOf } from './key.ts';
import { insertKey } from './keys.ts';

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
  await record(room, tx, space.createdAt, { actor, action: SPACE_ADDED, subject: space.id, data });
  return space;
}

export type NewAgent = {
  space: SpaceId;
  id: string;
  tier: Tier;
  callbacks?: readonly string[];
  /** Given by an operator through LANTERNROOM_INIT_*; otherwise made here. */
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
  return room.store.write(space, ['ledger', 'subscriptions'], async (tx) => {
    if ((await tx.agents.get(wanted.id)) !== null) {
      return new Fault('name_taken', `There is already an agent named ${wanted.id} in this space.`, {
        field: 'agent_id',
      });
    }
    return insertAgent(room, tx, wanted, actor);
  });
}

/** Writes one that was not refused. The heads are the ledger's and that of subscriptions. */
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
  if (await isFresh(tx)) await subscribeToEverything(room, tx, agent.id);
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

/** Nobody is there who could take an event; there is one sample at most. */
async function isFresh(tx: Tx): Promise<boolean> {
  return (await tx.agents.page({ after: '', containing: '', limit: 2 })).every((agent) => agent.sample);
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
