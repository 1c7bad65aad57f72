import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isActive } from '../../core/agents/key.ts';
import { Fault } from '../../core/faults.ts';
import { type Caller, callerOfToken, NOBODY, nameOfCaller } from '../../core/tasks/callers/callers.ts';
import { defaultCard, type StoredCard } from '../../core/tasks/callers/card.ts';
import type { Place } from '../../core/tasks/callers/place.ts';
import type { Micros } from '../../core/time.ts';
import { bearerOf } from '../../http/entry/agent-key.ts';
import { networkOf } from '../../http/entry/transport.ts';
import type { Headed } from '../../http/fast-lane.ts';
import type { Shell } from '../../http/shell.ts';
import type { OutsideLimits } from './limits.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The agent that is called, and who calls. */
    entered: Entered | null;
  }
}

export type AgentParams = { handle: string; agent: string };

/** An agent's address, whoever is calling. */
export type Address = { space: string; handle: string; agent: string; card: StoredCard; createdAt: Micros };

export async function findAddress({ room }: Shell, { handle, agent }: AgentParams): Promise<Address | null> {
  const found = await room.store.directory.agentAddress(handle, agent);
  if (found === null || found.isSample) return null;
  const { space, createdAt } = found;
  const card = found.card ?? defaultCard({ id: agent, createdAt });
  return { space, handle, agent, card, createdAt };
}

/** Who is calling: an agent's key, a person's or caller's token, or nobody known (A21). */
export async function callerOf({ room }: Shell, request: Headed): Promise<Caller> {
  if (request.headers.authorization === undefined) return { kind: 'nobody' };
  const credential = bearerOf(request);
  const caller = credential === null ? null : await lookUp(room, credential);
  if (caller === null)
    throw new Fault('unauthorized', 'This credential is not valid here. Ask for a new one.');
  return caller;
}

async function lookUp(room: Shell['room'], credential: string): Promise<Caller | null> {
  if (credential.startsWith('ct_')) return callerOfToken(room, credential);
  const digest = room.vault.sha256(credential);
  if (credential.startsWith('lr_')) {
    const token = await room.store.directory.tokenByDigest(digest);
    if (token === null || token.revokedAt !== null) return null;
    return { kind: 'person', space: token.space, id: token.person };
  }
  const identity = await room.store.directory.identityByDigest(digest);
  if (identity === null || !isActive(identity.key, room.clock.now())) return null;
  return { kind: 'agent', space: identity.key.space, id: identity.key.agent };
}

export type Entered = {
  address: Address;
  place: Place;
  /** Set for a caller without a credential. */
  network?: string;
};

/**
 * Lets a caller in or refuses it: an agent that does not exist and one that is closed to the caller look alike (A21,
 * A22).
 */
export async function enter(
  shell: Shell,
  request: FastifyRequest,
  response: ServerResponse,
  limits: OutsideLimits,
): Promise<Entered> {
  const known = await admit(shell, request, request.params as AgentParams);
  const entered = known.place.caller === NOBODY ? { ...known, network: networkOf(request.ip) } : known;
  limits.count(entered, response, shell.room.clock.now());
  return entered;
}

/** The same, without the limits for callers from outside. */
export async function admit(shell: Shell, request: Headed, params: AgentParams): Promise<Entered> {
  const [caller, address] = await Promise.all([callerOf(shell, request), findAddress(shell, params)]);
  if (address === null) throw await missing(shell, caller, params);
  const { space, agent, card } = address;
  const name = nameOfCaller(caller, { space, agent, visibility: card.visibility });
  if (name === null) throw unauthorized();
  if (caller.kind === 'token') shell.callersSeen.note(space, caller.id);
  return { address, place: { space, agent, caller: name } };
}

/** A member of the space is told that there is no such agent; a stranger learns nothing. */
async function missing({ room }: Shell, caller: Caller, { handle }: AgentParams): Promise<Fault> {
  const own = caller.kind === 'nobody' ? null : await room.store.directory.spaceByHandle(handle);
  if (own !== null && caller.kind !== 'nobody' && caller.kind !== 'token' && own.id === caller.space)
    return new Fault('agent_not_found', 'There is no agent with this name in your space.');
  return unauthorized();
}

function unauthorized(): Fault {
  return new Fault(
    'unauthorized',
    'This agent is not open to everybody. Send a key or a caller token: Authorization: Bearer ….',
  );
}

/** What the door's hook has found before the handler runs. */
export function enteredOf({ entered }: FastifyRequest): Entered {
  if (entered === null) throw new Error('a route without a caller');
  return entered;
}

export function agentUrl(shell: Pick<Shell, 'baseUrl'>, { handle, agent }: AgentParams): string {
  return `${shell.baseUrl()}/@${handle}/${agent}/`;
}
