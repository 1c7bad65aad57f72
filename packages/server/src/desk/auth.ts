import type { FastifyReply, FastifyRequest } from 'fastify';
import { Fault, orThrow } from '../core/faults.ts';
import { closeSession, personBehind, SESSION_KEPT, sessionEnded } from '../core/people/login/login.ts';
import { refuseUnproved } from '../core/people/login/proof.ts';
import { mayAct, type Person, type Role } from '../core/people/person.ts';
import { SECOND } from '../core/time.ts';
import { bearerOf } from '../http/entry/agent-key.ts';
import { isOwnOrigin } from '../http/entry/origin.ts';
import { isHttps } from '../http/entry/transport.ts';
import type { Shell } from '../http/shell.ts';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** On https the browser itself guards the name: no other host or path can set it. */
function cookieName(https: boolean): string {
  return https ? '__Host-lanternroom' : 'lanternroom';
}

export function setSessionCookie(
  shell: Shell,
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
): void {
  const https = isHttps(request.raw, shell.binding);
  reply.setCookie(cookieName(https), token, {
    path: '/',
    httpOnly: true,
    sameSite: 'strict',
    secure: https,
    maxAge: SESSION_KEPT / SECOND,
  });
}

export function clearSessionCookie(shell: Shell, request: FastifyRequest, reply: FastifyReply): void {
  const https = isHttps(request.raw, shell.binding);
  reply.clearCookie(cookieName(https), { path: '/', httpOnly: true, sameSite: 'strict', secure: https });
}

/** The session that the caller came by. Beside a token it is none, because whose cookie it is was never asked. */
export function sessionCookie(shell: Shell, request: FastifyRequest): string | null {
  return bearerOf(request) === null ? cookieOf(shell, request) : null;
}

function cookieOf(shell: Shell, request: FastifyRequest): string | null {
  return request.cookies[cookieName(isHttps(request.raw, shell.binding))] ?? null;
}

/** A login replaces the session before it: tokens are rotated, never carried over. */
export async function endOldSession(shell: Shell, request: FastifyRequest): Promise<void> {
  const before = cookieOf(shell, request);
  if (before === null) return;
  const person = await personBehind(shell.room, before);
  if (person !== null) await closeSession(shell.room, person, before);
}

/** No agent key may reach this door, not even beside a good cookie (core rule 4). */
export function refuseAgentKeys(request: FastifyRequest): void {
  if (/\bwk_(?:test|live)_/.test(request.headers.authorization ?? '')) {
    throw new Fault('agent_key_on_desk', 'An agent key cannot be used on the desk: people decide here.');
  }
}

/** A page elsewhere cannot make a browser act here. Scripts send neither header and bring their own token. */
export function refuseCrossSite(shell: Shell, request: FastifyRequest): void {
  if (SAFE_METHODS.has(request.method)) return;
  const site = request.headers['sec-fetch-site'];
  const origin = request.headers.origin;
  const foreignSite = site !== undefined && site !== 'same-origin' && site !== 'none';
  if (foreignSite || (origin !== undefined && !isOwnOrigin(shell, request, origin))) {
    throw new Fault('cross_site', 'This request came from another site. Use the desk itself.');
  }
}

/** The person behind the request. Who decides comes from here and never from a body. */
export async function requirePerson(shell: Shell, request: FastifyRequest): Promise<Person> {
  const bearer = bearerOf(request);
  const cookie = sessionCookie(shell, request);
  const secret = bearer ?? cookie;
  const person = secret === null ? null : await personBehind(shell.room, secret);
  if (person !== null) return person;
  if (bearer === null && cookie !== null) throw sessionEnded();
  throw new Fault(
    'unauthorized',
    'Log in, or send a personal token in the header Authorization: Bearer lr_….',
  );
}

/** Whoever finds a desk unlocked has its session, but not what the person has logged in with. */
export async function requireProof(shell: Shell, request: FastifyRequest): Promise<void> {
  orThrow(await refuseUnproved(shell.room, sessionCookie(shell, request)));
}

export function requireRole(person: Person, role: Role): void {
  if (mayAct(person.role, role)) return;
  throw new Fault('role_too_low', `This needs the role ${role}; yours is ${person.role}. Ask an owner.`);
}
