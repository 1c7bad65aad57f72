import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject } from '../../core/canonical.ts';
import { Fault, orThrow } from '../../core/faults.ts';
import { proveByPassword } from '../../core/people/login/proof.ts';
import { type Party, type PasskeyRecord, partyOf } from '../../core/people/passkeys/passkey.ts';
import {
  addPasskey,
  askForLogin,
  askForPasskey,
  askForProof,
  loginByPasskey,
  proveByPasskey,
  removePasskey,
  renamePasskey,
} from '../../core/people/passkeys/passkeys.ts';
import { toIso, toIsoOrNull } from '../../core/time.ts';
import { networkOf } from '../../http/entry/transport.ts';
import { refuseOthers } from '../../http/methods.ts';
import { objectBody } from '../../http/reading/body.ts';
import { invalid, missing, requiredLine, requiredText } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { endOldSession, requireProof, sessionCookie, setSessionCookie } from '../auth.ts';
import { fromPerson } from '../mapping.ts';
import { caller } from '../person.ts';
import { deviceOf } from './device.ts';

type ById = { Params: { id: string } };

const NAME_MOST = 60;

/** Reachable without a session: a passkey is the proof. */
export function passkeyEntryRoutes(app: FastifyInstance, shell: Shell): void {
  app.post('/desk/session/challenge', async () => askForLogin(shell.room, requireParty(shell)));

  app.post('/desk/session/passkey', async (request, reply) => {
    const device = deviceOf(request.headers['user-agent']);
    const opened = orThrow(await loginByPasskey(shell.room, { ...toAssertion(shell, request), device }));
    await endOldSession(shell, request);
    setSessionCookie(shell, request, reply, opened.token);
    return { person: fromPerson(opened.person) };
  });
}

export function passkeyRoutes(app: FastifyInstance, shell: Shell): void {
  const { room } = shell;

  app.get('/desk/passkeys', async (request) => {
    const person = caller(request);
    const mine = await room.store.read(person.space, (tx) => tx.passkeys.of(person.id));
    return { passkeys: mine.map(fromPasskey), origin: partyOf(shell.baseUrl())?.origin ?? null };
  });

  refuseOthers(app, ['POST'], '/desk/passkeys/challenge');
  app.post('/desk/passkeys/challenge', async (request) => {
    await requireProof(shell, request);
    return orThrow(await askForPasskey(room, caller(request), requireParty(shell)));
  });

  app.post('/desk/passkeys', async (request, reply) => {
    await requireProof(shell, request);
    const body = objectBody(request.body).value;
    const made = {
      name: requiredLine(body, 'name', NAME_MOST),
      response: toResponse(body),
      party: requireParty(shell),
    };
    return reply.code(201).send(fromPasskey(orThrow(await addPasskey(room, caller(request), made))));
  });

  app.put<ById>('/desk/passkeys/:id', async (request, reply) => {
    const name = requiredLine(objectBody(request.body).value, 'name', NAME_MOST);
    orThrow(await renamePasskey(room, caller(request), request.params.id, name));
    return reply.code(204).send();
  });

  app.delete<ById>('/desk/passkeys/:id', async (request, reply) => {
    orThrow(await removePasskey(room, caller(request), request.params.id));
    return reply.code(204).send();
  });

  app.post('/desk/proof/challenge', async (request) =>
    askForProof(room, caller(request), requireParty(shell)),
  );

  app.post('/desk/proof', async (request, reply) => {
    const session = sessionCookie(shell, request);
    if (session === null) throw new Fault('proof_needed', 'Only a session can be confirmed. Log in first.');
    const body = objectBody(request.body).value;
    const person = caller(request);
    if (body.response !== undefined)
      orThrow(await proveByPasskey(room, person, { ...toAssertion(shell, request), session }));
    else {
      const password = requiredText(body, 'password', 1024);
      orThrow(await proveByPassword(room, person, { password, address: networkOf(request.ip), session }));
    }
    return reply.code(204).send();
  });
}

function requireParty(shell: Shell): Party {
  const party = partyOf(shell.baseUrl());
  if (party !== null) return party;
  throw invalid(
    'origin',
    'Passkeys need a desk with a host name and https. Set LANTERNROOM_URL to the address that people open.',
  );
}

function toAssertion(shell: Shell, request: FastifyRequest) {
  const response = toResponse(objectBody(request.body).value);
  return { response, party: requireParty(shell), address: networkOf(request.ip) };
}

function toResponse(body: JsonObject): JsonObject {
  if (body.response === undefined || body.response === null) throw missing('response');
  if (isJsonObject(body.response)) return body.response;
  throw invalid('response', 'response must be what the browser answered, as an object.');
}

function fromPasskey(k: PasskeyRecord) {
  return {
    passkey_id: k.id,
    name: k.name,
    backed_up: k.isBackedUp,
    created_at: toIso(k.createdAt),
    last_used_at: toIsoOrNull(k.lastUsedAt),
  };
}
