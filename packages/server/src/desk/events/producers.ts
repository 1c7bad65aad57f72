import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Tier } from '../../core/agents/key.ts';
import { isPublicKey, type Producer, type ProducerKey } from '../../core/events/producer.ts';
import { addProducer, revokeProducerKeys, rotateProducerKey } from '../../core/events/producers.ts';
import { Fault, orThrow } from '../../core/faults.ts';
import type { Person } from '../../core/people/person.ts';
import { toIso, toIsoOrNull } from '../../core/time.ts';
import { objectBody, optionalBody } from '../../http/reading/body.ts';
import { choice, optionalText, type Query, requiredLine, wholeQuery } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { requireRole } from '../auth.ts';
import { caller } from '../person.ts';

type ById = { Params: { id: string } };
type ByKey = { Params: { id: string; key: string } };

const TIERS: readonly Tier[] = ['test', 'live'];

/** Outside systems that sign events. Secrets are shown in the reply that made them, and never again. */
export function producerRoutes(app: FastifyInstance, shell: Shell): void {
  readingRoutes(app, shell);
  const { room } = shell;

  app.post('/desk/producers', async (request, reply) => {
    const person = owner(request);
    const body = objectBody(request.body).value;
    const wanted = {
      space: person.space,
      name: requiredLine(body, 'name', 80),
      tier: body.tier === undefined ? ('test' as const) : choice('tier', body.tier, TIERS),
      publicKey: optionalText(body, 'public_key', 100) ?? undefined,
    };
    const { producer, keyId, secret } = orThrow(await addProducer(room, wanted, `person:${person.id}`));
    return reply.code(201).send({ ...(await show(shell, producer)), ...shownOnce(keyId, secret) });
  });

  app.post<ById>('/desk/producers/:id/keys', async (request, reply) => {
    const person = owner(request);
    const publicKey = optionalText(optionalBody(request.body), 'public_key', 100) ?? undefined;
    const at = { space: person.space, producer: request.params.id, publicKey };
    const made = orThrow(await rotateProducerKey(room, at, `person:${person.id}`));
    const others_expire_at = toIso(made.othersExpireAt);
    return reply.code(201).send({ ...shownOnce(made.keyId, made.secret), others_expire_at });
  });

  app.delete<ByKey>('/desk/producers/:id/keys/:key', async (request) => {
    const person = owner(request);
    const { id: producer, key: keyId } = request.params;
    return orThrow(
      await revokeProducerKeys(room, { space: person.space, producer, keyId }, `person:${person.id}`),
    );
  });
}

function owner(request: FastifyRequest): Person {
  const person = caller(request);
  requireRole(person, 'owner');
  return person;
}

function shownOnce(keyId: string, secret: string) {
  return { key_id: keyId, ...(isPublicKey(secret) ? {} : { secret }) };
}

function readingRoutes(app: FastifyInstance, shell: Shell): void {
  const { room } = shell;
  app.get('/desk/producers', async (request) => {
    const all = await room.store.read(caller(request).space, (tx) => tx.producers.list());
    return { producers: await Promise.all(all.map((producer) => show(shell, producer))) };
  });

  app.get<ById>('/desk/producers/:id/refused', async (request) => {
    const limit = wholeQuery(request.query as Query, 'limit', { least: 1, most: 500 }) ?? 100;
    const { id } = request.params;
    const refused = await room.store.read(caller(request).space, async (tx) => {
      if ((await tx.producers.get(id)) === null)
        throw new Fault('not_found', 'There is no producer with this id in your space.');
      return tx.producers.refusals(id, limit);
    });
    return {
      refused: refused.map((r) => ({
        at: toIso(r.at),
        event_id: r.eventId,
        status: r.status,
        reason: r.reason,
      })),
    };
  });
}

async function show({ room, producersSeen }: Shell, producer: Producer) {
  const keys = await room.store.read(producer.space, (tx) => tx.producers.keys(producer.id));
  const seen = producersSeen.lastSeen(producer.space, producer.id, producer.lastSeenAt);
  return {
    producer_id: producer.id,
    name: producer.name,
    tier: producer.tier,
    created_at: toIso(producer.createdAt),
    last_seen_at: toIsoOrNull(seen),
    keys: keys.map(fromKey),
  };
}

function fromKey(key: ProducerKey) {
  return {
    key_id: key.id,
    algorithm: key.algorithm,
    created_at: toIso(key.createdAt),
    expires_at: toIsoOrNull(key.expiresAt),
    revoked_at: toIsoOrNull(key.revokedAt),
  };
}
