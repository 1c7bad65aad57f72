import type { FastifyInstance, FastifyReply } from 'fastify';
import { Fault, orThrow } from '../../core/faults.ts';
import { closeSession, login, openSession } from '../../core/people/login/login.ts';
import { addToken, revokeToken, revokeTokens } from '../../core/people/login/tokens.ts';
import { addByOwner } from '../../core/people/membership/membership.ts';
import { completeSetup } from '../../core/people/membership/setup.ts';
import { type Person, ROLES } from '../../core/people/person.ts';
import { networkOf } from '../../http/entry/transport.ts';
import { objectBody } from '../../http/reading/body.ts';
import {
  optionalLine,
  optionalText,
  requiredChoice,
  requiredLine,
  requiredText,
} from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import {
  clearSessionCookie,
  endOldSession,
  requireProof,
  requireRole,
  sessionCookie,
  setSessionCookie,
} from '../auth.ts';
import { fromPerson, fromToken } from '../mapping.ts';
import { caller } from '../person.ts';
import { deviceOf } from './device.ts';

type ById = { Params: { id: string } };

/** Reachable without a session: logging in, and the one-time setup. */
export function entryRoutes(app: FastifyInstance, shell: Shell): void {
  const { room } = shell;

  app.post('/desk/session', async (request, reply) => {
    const body = objectBody(request.body).value;
    const opened = orThrow(
      await login(room, {
        email: requiredText(body, 'email', 254),
        password: requiredText(body, 'password', 1024),
        handle: optionalText(body, 'handle', 64),
        address: networkOf(request.ip),
        device: deviceOf(request.headers['user-agent']),
      }),
    );
    await endOldSession(shell, request);
    setSessionCookie(shell, request, reply, opened.token);
    return { person: fromPerson(opened.person) };
  });

  app.post('/desk/setup', async (request, reply) => {
    const body = objectBody(request.body).value;
    const owner = orThrow(
      await completeSetup(room, {
        token: requiredText(body, 'token', 128),
        email: requiredText(body, 'email', 254),
        name: optionalLine(body, 'name', 120),
        password: requiredText(body, 'password', 1024),
      }),
    );
    const opened = orThrow(await openSession(room, owner, deviceOf(request.headers['user-agent'])));
    setSessionCookie(shell, request, reply, opened.token);
    return reply.code(201).send({ person: fromPerson(owner) });
  });
}

export function peopleRoutes(app: FastifyInstance, shell: Shell): void {
  const { room } = shell;

  app.get('/desk/session', async (request) => showSession(shell, caller(request)));

  app.delete('/desk/session', async (request, reply: FastifyReply) => {
    const token = sessionCookie(shell, request);
    if (token !== null) await closeSession(room, caller(request), token);
    clearSessionCookie(shell, request, reply);
    return reply.code(204).send();
  });

  app.get('/desk/people', async (request) => {
    const people = await room.store.read(caller(request).space, (tx) => tx.people.list());
    return { people: people.map(fromPerson) };
  });

  app.post('/desk/people', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const body = objectBody(request.body).value;
    const wanted = {
      email: requiredText(body, 'email', 254),
      name: optionalLine(body, 'name', 120),
      role: requiredChoice(body, 'role', ROLES),
      password: requiredText(body, 'password', 1024),
    };
    return reply.code(201).send(fromPerson(orThrow(await addByOwner(room, person, wanted))));
  });

  app.get('/desk/tokens', async (request) => {
    const person = caller(request);
    const tokens = await room.store.read(person.space, (tx) => tx.people.listTokens(person.id));
    return { tokens: tokens.map(fromToken) };
  });

  app.post('/desk/tokens', async (request, reply) => {
    await requireProof(shell, request);
    const name = requiredLine(objectBody(request.body).value, 'name', 120);
    const made = orThrow(await addToken(room, caller(request), name));
    return reply.code(201).send({ ...fromToken(made.record), token: made.token });
  });

  app.delete('/desk/tokens', async (request) => ({ revoked: await revokeTokens(room, caller(request)) }));

  app.delete<ById>('/desk/tokens/:id', async (request) =>
    orThrow(await revokeToken(room, caller(request), request.params.id)),
  );
}

async function showSession({ room }: Shell, person: Person) {
  const space = await room.store.read(person.space, (tx) => tx.spaces.get());
  if (space === null) throw new Fault('not_found', 'This space is gone.');
  return { person: fromPerson(person), space: { handle: space.handle } };
}
