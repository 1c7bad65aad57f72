import type { FastifyInstance } from 'fastify';
import { orThrow } from '../../core/faults.ts';
import { openSession } from '../../core/people/login/login.ts';
import { type Invitation, isOpen } from '../../core/people/membership/invitation.ts';
import {
  acceptInvitation,
  changeRole,
  invite,
  removePerson,
  takeBackInvitation,
} from '../../core/people/membership/membership.ts';
import { completeReset, resetPerson } from '../../core/people/membership/reset.ts';
import { ROLES } from '../../core/people/person.ts';
import { toIso } from '../../core/time.ts';
import { refuseOthers } from '../../http/methods.ts';
import { objectBody } from '../../http/reading/body.ts';
import { optionalLine, requiredChoice, requiredText } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { requireRole, setSessionCookie } from '../auth.ts';
import { fromPerson } from '../mapping.ts';
import { caller } from '../person.ts';
import { deviceOf } from './device.ts';

type ById = { Params: { id: string } };

/** Reachable without a session: the link is the proof. */
export function joinRoutes(app: FastifyInstance, shell: Shell): void {
  refuseOthers(app, ['POST'], '/desk/invitations/accept');
  app.post('/desk/invitations/accept', async (request, reply) => {
    const body = objectBody(request.body).value;
    const given = {
      token: requiredText(body, 'token', 128),
      name: optionalLine(body, 'name', 120),
      password: requiredText(body, 'password', 1024),
    };
    const person = orThrow(await acceptInvitation(shell.room, given));
    const opened = orThrow(await openSession(shell.room, person, deviceOf(request.headers['user-agent'])));
    setSessionCookie(shell, request, reply, opened.token);
    return reply.code(201).send({ person: fromPerson(person) });
  });
  resetRoutes(app, shell);
}

function resetRoutes(app: FastifyInstance, shell: Shell): void {
  app.post('/desk/reset', async (request, reply) => {
    const body = objectBody(request.body).value;
    const given = {
      token: requiredText(body, 'token', 128),
      password: requiredText(body, 'password', 1024),
    };
    const person = orThrow(await completeReset(shell.room, given));
    const opened = orThrow(await openSession(shell.room, person, deviceOf(request.headers['user-agent'])));
    setSessionCookie(shell, request, reply, opened.token);
    return reply.code(201).send({ person: fromPerson(person) });
  });
}

/** Who belongs to the space, and as what. For owners. */
export function membershipRoutes(app: FastifyInstance, { room, baseUrl }: Shell): void {
  app.get('/desk/invitations', async (request) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const all = await room.store.read(person.space, (tx) => tx.invitations.open());
    const open = all.filter((i) => isOpen(i, room.clock.now()));
    return { invitations: open.map(fromInvitation) };
  });

  app.post('/desk/invitations', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const body = objectBody(request.body).value;
    const wanted = {
      email: requiredText(body, 'email', 254),
      role: requiredChoice(body, 'role', ROLES),
    };
    const { invitation, token } = orThrow(await invite(room, person, wanted));
    // In the fragment, so that no log on the way sees it.
    return reply.code(201).send({ ...fromInvitation(invitation), link: `${baseUrl()}/join#${token}` });
  });

  app.delete<ById>('/desk/invitations/:id', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'owner');
    orThrow(await takeBackInvitation(room, person, request.params.id));
    return reply.code(204).send();
  });

  app.put<ById>('/desk/people/:id', async (request) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const role = requiredChoice(objectBody(request.body).value, 'role', ROLES);
    return fromPerson(orThrow(await changeRole(room, person, request.params.id, role)));
  });

  app.post<ById>('/desk/people/:id/reset', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const { token, expiresAt } = orThrow(await resetPerson(room, person, request.params.id));
    return reply.code(201).send({ link: `${baseUrl()}/reset#${token}`, expires_at: toIso(expiresAt) });
  });

  app.delete<ById>('/desk/people/:id', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'owner');
    orThrow(await removePerson(room, person, request.params.id));
    return reply.code(204).send();
  });
}

function fromInvitation(i: Invitation) {
  return {
    invitation_id: i.id,
    email: i.email,
    role: i.role,
    invited_by: i.by,
    created_at: toIso(i.createdAt),
    expires_at: toIso(i.expiresAt),
  };
}
