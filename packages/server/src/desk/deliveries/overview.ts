import type { FastifyInstance } from 'fastify';
import { overview, sit } from '../../core/deliveries/reading/overview.ts';
import { toIso, toIsoOrNull } from '../../core/time.ts';
import type { Shell } from '../../http/shell.ts';
import { caller } from '../person.ts';

/** The list's header, and the tide line. */
export function overviewRoutes(app: FastifyInstance, { room }: Shell): void {
  app.get('/desk/overview', async (request) => {
    const seen = await overview(room, caller(request));
    return {
      sections: seen.sections,
      minutes: seen.minutes,
      last_decision_at: toIsoOrNull(seen.lastDecisionAt),
      sat_at: toIsoOrNull(seen.satAt),
      next_sitting_at: toIsoOrNull(seen.nextSittingAt),
      deliveries_ever: seen.deliveriesEver,
      held: seen.held.map(({ delivery, decision }) => ({
        delivery_id: delivery.id,
        headline: delivery.headline,
        status: decision.verdict,
        effect_at: toIso(decision.effectAt),
      })),
    };
  });

  app.post('/desk/sat', async (request, reply) => {
    await sit(room, caller(request));
    return reply.code(204).send();
  });
}
