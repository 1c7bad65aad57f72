import { accessEnded, accessTopic } from '../../access.ts';
import { isActive, keyChecksum } from '../../agents/key.ts';
import { noAgent } from '../../agents/on-agent.ts';
import { Fault } from '../../faults.ts';
import type { AgentId, SpaceId } from '../../ids.ts';
import { type Room, record } from '../../room.ts';
import type { Topic } from '../../store.ts';
import type { Micros } from '../../time.ts';
import type { TaskRecord } from '../task.ts';
import { readCard, type Visibility } from './card.ts';
import type { Place } from './place.ts';

/** A token for somebody outside the space who may call one agent (A21). Never kept itself, only its digest. */
export type CallerToken = {
  space: SpaceId;
  id: string;
  agent: AgentId;
  name: string;
  digest: string;
  lastFour: string;
  createdAt: Micros;
  expiresAt: Micros | null;
  revokedAt: Micros | null;
  /** Written only now and then, so it is a little behind. */
  lastUsedAt: Micros | null;
};

/** Who is calling, as the credential says. */
export type Caller =
  | { kind: 'agent'; space: SpaceId; id: AgentId }
  | { kind: 'person'; space: SpaceId; id: string }
  | { kind: 'token'; space: SpaceId; agent: AgentId; id: string }
  | { kind: 'nobody' };

/** The name under which a caller's tasks are kept; null when this agent is not for this caller. */
export function nameOfCaller(
  caller: Caller,
  at: { space: SpaceId; agent: AgentId; visibility: Visibility },
): string | null {
  const isPublic = at.visibility === 'public';
  switch (caller.kind) {
    case 'agent':
    case 'person':
      if (caller.space === at.space) return `${caller.kind}:${caller.id}`;
      return isPublic ? `${caller.kind}:${caller.space}:${caller.id}` : null;
    case 'token': {
      const isOwn = caller.space === at.space && caller.agent === at.agent;
      return isOwn && at.visibility !== 'space' ? `token:${caller.id}` : null;
    }
    case 'nobody':
      return isPublic ? NOBODY : null;
  }
}

/** Whether this is the name of somebody who is not of the agent's own space. */
export function isFromOutside(name: string): boolean {
  const who = callerNamed(name, { space: '', agent: '' });
  return who.kind === 'nobody' || who.kind === 'token' || who.space !== '';
}

/** All callers without a credential share this name, so nothing is ever listed for it. */
export const NOBODY = 'public';

/** Two of them may both say "1" or "main"; what is longer is taken to be unique. */
const MADE_UP_LEAST = 20;

export function isMadeUp(name: string): boolean {
  return name.length >= MADE_UP_LEAST;
}

export type MadeCallerToken = { token: string; record: CallerToken };

const NAME_MOST = 120;

/** `ct_…`, shown once. */
export function addCallerToken(
  room: Room,
  wanted: { space: SpaceId; agent: AgentId; name: string; expiresAt?: Micros | null },
  actor: string,
): Promise<MadeCallerToken | Fault> {
  const name = wanted.name.trim();
  if (name === '' || name.length > NAME_MOST)
    return Promise.resolve(
      new Fault('invalid_field', `name must have 1 to ${NAME_MOST} characters.`, { field: 'name' }),
    );
  const body = `ct_${room.ids.letters(32)}`;
  const token = body + keyChecksum(body);
  const now = room.clock.now();
  const made: CallerToken = {
    space: wanted.space,
    id: `caller_${room.ids.letters(12)}`,
    agent: wanted.agent,
    name,
    digest: room.vault.sha256(token),
    lastFour: token.slice(-4),
    createdAt: now,
    expiresAt: wanted.expiresAt ?? null,
    revokedAt: null,
    lastUsedAt: null,
  };
  return room.store.write(wanted.space, ['ledger'], async (tx) => {
    if ((await tx.agents.get(wanted.agent)) === null) return noAgent();
    await tx.callers.insert(made);
    const data = { caller: made.id, name };
    await record(room, tx, now, { actor, action: 'caller.added', subject: wanted.agent, data });
    tx.announce(`desk:${tx.space}`, 'agents');
    return { token, record: made };
  });
}

/** Ends it at once and for good. The caller's tasks stay, for the desk. */
export function revokeCallerToken(
  room: Room,
  at: { space: SpaceId; agent: AgentId; id: string },
  actor: string,
): Promise<{ revoked: string } | Fault> {
  return room.store.write(at.space, ['ledger'], async (tx) => {
    const now = room.clock.now();
    const token = await tx.callers.get(at.agent, at.id);
    if (token === null || token.revokedAt !== null)
      return new Fault('not_found', 'This agent has no active caller token with this id.');
    await tx.callers.revoke(at.agent, at.id, now);
    const data = { caller: at.id };
    await record(room, tx, now, { actor, action: 'caller.revoked', subject: at.agent, data });
    tx.announce(`desk:${tx.space}`, 'agents');
    accessEnded(tx, at.agent);
    return { revoked: at.id };
  });
}

export function listCallerTokens(
  room: Room,
  at: { space: SpaceId; agent: AgentId },
): Promise<CallerToken[] | Fault> {
  return room.store.read(at.space, async (tx) =>
    (await tx.agents.get(at.agent)) === null ? noAgent() : tx.callers.list(at.agent),
  );
}

/** The caller behind a token that is still good. */
export async function callerOfToken(room: Room, token: string): Promise<Caller | null> {
  const found = await room.store.directory.callerByDigest(room.vault.sha256(token));
  if (found === null || !isActive(found, room.clock.now())) return null;
  return { kind: 'token', space: found.space, agent: found.agent, id: found.id };
}

/**
 * May whoever opened a task still be told about it? Their credential may have ended since, or the agent is no longer
 * open to them (A18, W28). A task keeps nothing of a caller but the name.
 */
export async function mayStillHear(
  room: Room,
  { space, agent, caller }: Pick<TaskRecord, 'space' | 'agent' | 'caller'>,
): Promise<boolean> {
  const card = await readCard(room, space, agent);
  if (card === null) return false;
  const who = callerNamed(caller, { space, agent });
  if (nameOfCaller(who, { space, agent, visibility: card.visibility }) === null) return false;
  return who.kind === 'nobody' || isStillThere(room, who);
}

/** The inverse of `nameOfCaller`. */
function callerNamed(name: string, at: { space: SpaceId; agent: AgentId }): Caller {
  const [kind, first = '', second] = name.split(':');
  if (kind === 'token') return { kind, ...at, id: first };
  if (kind !== 'agent' && kind !== 'person') return { kind: 'nobody' };
  return second === undefined ? { kind, space: at.space, id: first } : { kind, space: first, id: second };
}

/** What says that this caller may not be let in any more: whose credential it is, and the agent's own door. */
export function accessTopics({ space, agent, caller }: Place): Topic[] {
  const who = callerNamed(caller, { space, agent });
  const door = accessTopic(space, agent);
  return who.kind === 'agent' || who.kind === 'person' ? [door, accessTopic(who.space, who.id)] : [door];
}

function isStillThere(room: Room, who: Exclude<Caller, { kind: 'nobody' }>): Promise<boolean> {
  const now = room.clock.now();
  return room.store.read(who.space, async (tx) => {
    if (who.kind === 'agent') return (await tx.keys.list(who.id)).some((key) => isActive(key, now));
    // People who were removed keep their row, for the decisions made under it.
    if (who.kind === 'person') return (await tx.people.list()).some((person) => person.id === who.id);
    const token = await tx.callers.get(who.agent, who.id);
    return token !== null && isActive(token, now);
  });
}
