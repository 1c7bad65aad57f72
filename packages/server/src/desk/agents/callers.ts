import type { FastifyInstance } from 'fastify';
import { orThrow } from '../../core/faults.ts';
import {
  addCallerToken,
  type CallerToken,
  listCallerTokens,
  revokeCallerToken,
} from '../../core/tasks/callers/callers.ts';
import { DAY, type Micros, toIso, toIsoOrNull } from '../../core/time.ts';
import { objectBody } from '../../http/reading/body.ts';
import { optionalWhole, requiredLine } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { requireRole } from '../auth.ts';
import { caller } from '../person.ts';

type ById = { Params: { id: string } };
type ByCaller = { Params: { id: string; caller: string } };

/** Tokens for those outside who may call an agent. Shown once, like every secret. */
export function callerRoutes(app: FastifyInstance, { room, callersSeen }: Shell): void {
  app.get<ById>('/desk/agents/:id/callers', async (request) => {
    const { space } = caller(request);
    const tokens = orThrow(await listCallerTokens(room, { space, agent: request.params.id }));
    return {
      callers: tokens.map((token) =>
        fromCallerToken(token, callersSeen.lastSeen(space, token.id, token.lastUsedAt)),
      ),
    };
  });

  app.post<ById>('/desk/agents/:id/callers', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const body = objectBody(request.body).value;
    const days = optionalWhole(body, 'expires_in_days', 1, 3650);
    const wanted = {
      space: person.space,
      agent: request.params.id,
      name: requiredLine(body, 'name', 120),
      expiresAt: days === null ? null : room.clock.now() + days * DAY,
    };
    const { token, record } = orThrow(await addCallerToken(room, wanted, `person:${person.id}`));
    return reply.code(201).send({ ...fromCallerToken(record, null), token });
  });

  app.delete<ByCaller>('/desk/agents/:id/callers/:caller', async (request) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const at = { space: person.space, agent: request.params.id, id: request.params.caller };
    return orThrow(await revokeCallerToken(room, at, `person:${person.id}`));
  });
}

function fromCallerToken(token: CallerToken, lastUsedAt: Micros | null) {
  return {
    caller_id: token.id,
    name: token.name,
    last_four: token.lastFour,
    created_at: toIso(token.createdAt),
    expires_at: toIsoOrNull(token.expiresAt),
    revoked_at: toIsoOrNull(token.revokedAt),
    last_used_at: toIsoOrNull(lastUsedAt),
  };
}
