import type { ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { isActive } from '../../core/agents/key.ts';
import { Fault } from '../../core/faults.ts';
import { ShortMemory } from '../../core/maps.ts';
import { type Bucket, fullBucket, type Rate, take } from '../../core/rate.ts';
import { type Caller, callerOfToken, NOBODY, nameOfCaller } from '../../core/tasks/callers/callers.ts';
import { defaultCard, type StoredCard } from '../../core/tasks/callers/card.ts';
import type { Place } from '../../core/tasks/callers/place.ts';
import type { Micros } from '../../core/time.ts';
import { bearerOf } from '../../http/entry/agent-key.ts';
import { networkOf } from '../../http/entry/transport.ts';
import type { Headed } from '../../http/fast-lane.ts';
import type { Shell } from '../../http/shell.ts';

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
  limits: PublicLimits,
): Promise<Entered> {
  const entered = await admit(shell, request, request.params as AgentParams);
  const { space, agent, caller } = entered.place;
  if (caller !== NOBODY) return entered;
  const network = networkOf(request.ip);
  const who = `${space}/${agent}/${network}`;
  limits.take(who, shell.room.clock.now());
  limits.begin(who, response);
  return { ...entered, network };
}

/** The same, without the limit for callers without a credential. */
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

/** For callers without a credential, by agent and network address. */
const PUBLIC: Rate = { perHour: 3600, burst: 60 };
const MOST_BUCKETS = 50_000;
/** How many of them may be under way. Waits and streams last long, so the rate alone would let them pile up. */
const MOST_UNDER_WAY = 60;

/** Kept in memory: the buckets are full again a minute after a restart. */
export class PublicLimits {
  readonly #buckets = new ShortMemory<string, Bucket>(MOST_BUCKETS);
  readonly #underWay = new Map<string, number>();

  /** Counts a call until it was answered, or its caller has gone. */
  begin(who: string, response: ServerResponse): void {
    const others = this.#underWay.get(who) ?? 0;
    if (others >= MOST_UNDER_WAY) {
      const message = `Without a credential ${MOST_UNDER_WAY} calls can be under way. End one, then try again.`;
      throw new Fault('rate_limited', message, { retryAfter: 1 });
    }
    // The caller may have left before this, and no further event would say so.
    if (response.destroyed) return;
    this.#underWay.set(who, others + 1);
    response.once('close', () => {
      const left = (this.#underWay.get(who) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(who);
      else this.#underWay.set(who, left);
    });
  }

  take(who: string, now: Micros): void {
    const taken = take(this.#buckets.get(who) ?? fullBucket(PUBLIC, now), PUBLIC, now);
    if (taken.kind === 'empty') {
      const message = `Without a credential there are ${PUBLIC.perHour} calls an hour (burst ${PUBLIC.burst}). Slow down.`;
      throw new Fault('rate_limited', message, { retryAfter: taken.retryAfterSeconds });
    }
    this.#buckets.set(who, taken.bucket);
  }
}

/** What the door's hook has found before the handler runs. */
export function enteredOf({ entered }: FastifyRequest): Entered {
  if (entered === null) throw new Error('a route without a caller');
  return entered;
}

export function agentUrl(shell: Pick<Shell, 'baseUrl'>, { handle, agent }: AgentParams): string {
  return `${shell.baseUrl()}/@${handle}/${agent}/`;
}
