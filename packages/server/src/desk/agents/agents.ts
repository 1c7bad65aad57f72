import type { FastifyInstance } from 'fastify';
import { rotateCallbackSecret, setCallbacks } from '../../core/agents/callbacks.ts';
import { addAgent } from '../../core/agents/found.ts';
import type { Tier } from '../../core/agents/key.ts';
import { addKey, revokeKeys } from '../../core/agents/keys.ts';
import type { JsonObject } from '../../core/canonical.ts';
import { orThrow } from '../../core/faults.ts';
import { sendAgain } from '../../core/sending/send-again.ts';
import { toIsoOrNull } from '../../core/time.ts';
import { objectBody, optionalBody } from '../../http/reading/body.ts';
import { addresses, choice, requiredText } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { requireRole } from '../auth.ts';
import { fromJob } from '../mapping.ts';
import { caller } from '../person.ts';
import { agentReadingRoutes, showAgent } from './reading.ts';

type ById = { Params: { id: string } };
type ByKey = { Params: { id: string; key: string } };

const TIERS: readonly Tier[] = ['test', 'live'];

/** Agents, their keys, callbacks and secrets. Secrets are shown in the reply that made them, and never again. */
export function agentRoutes(app: FastifyInstance, shell: Shell): void {
  const { room } = shell;
  agentReadingRoutes(app, shell);

  app.post('/desk/agents', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const body = objectBody(request.body).value;
    const wanted = {
      space: person.space,
      id: requiredText(body, 'agent_id', 128),
      tier: toTier(body),
      callbacks: body.callbacks === undefined ? [] : addresses('callbacks', body.callbacks),
    };
    const made = orThrow(await addAgent(room, wanted, `person:${person.id}`));
    const shown = await room.store.read(person.space, (tx) => showAgent(shell, tx, made.agent));
    return reply.code(201).send({ ...shown, key: made.key, callback_secret: made.callbackSecret });
  });

  app.post<ById>('/desk/agents/:id/keys', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const body = optionalBody(request.body);
    const wanted = {
      space: person.space,
      agent: request.params.id,
      tier: body.tier === undefined ? null : toTier(body),
      rotate: body.rotate === true,
    };
    const made = orThrow(await addKey(room, wanted, `person:${person.id}`));
    return reply.code(201).send({
      key_id: made.keyId,
      key: made.key,
      tier: made.tier,
      others_expire_at: toIsoOrNull(made.othersExpireAt),
    });
  });

  app.delete<ByKey>('/desk/agents/:id/keys/:key', async (request) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const { id: agent, key: keyId } = request.params;
    return orThrow(await revokeKeys(room, { space: person.space, agent, keyId }, `person:${person.id}`));
  });

  app.put<ById>('/desk/agents/:id/callbacks', async (request) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const callbacks = addresses('callbacks', objectBody(request.body).value.callbacks);
    const at = { space: person.space, agent: request.params.id, callbacks };
    const agent = orThrow(await setCallbacks(room, at, `person:${person.id}`));
    return { agent_id: agent.id, callbacks: agent.callbacks };
  });

  app.post<ById>('/desk/agents/:id/callback-secret', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const at = { space: person.space, agent: request.params.id };
    const made = orThrow(await rotateCallbackSecret(room, at, `person:${person.id}`));
    return reply
      .code(201)
      .send({ callback_secret: made.callbackSecret, old_expires_at: toIsoOrNull(made.oldExpiresAt) });
  });

  app.post<ById>('/desk/callbacks/:id/send-again', async (request) => {
    const person = caller(request);
    requireRole(person, 'decider');
    return fromJob(orThrow(await sendAgain(room, person, request.params.id)));
  });
}

function toTier(body: JsonObject): Tier {
  return body.tier === undefined ? 'test' : choice('tier', body.tier, TIERS);
}
