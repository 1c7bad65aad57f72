import type { FastifyInstance } from 'fastify';
import { makeSample, removeSample } from '../../core/agents/sample.ts';
import { orThrow } from '../../core/faults.ts';
import type { Shell } from '../../http/shell.ts';
import { requireRole } from '../auth.ts';
import { caller } from '../person.ts';
import { specimen } from './sample-deliveries.ts';

/** For visitors: an agent with a few deliveries, marked as a sample wherever it is shown. */
export function sampleRoutes(app: FastifyInstance, { room }: Shell): void {
  app.post('/desk/sample', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const { agent, deliveries } = orThrow(await makeSample(room, person, specimen));
    return reply.code(201).send({ agent_id: agent.id, sample: true, deliveries });
  });

  app.delete('/desk/sample', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'owner');
    orThrow(await removeSample(room, person));
    return reply.code(204).send();
  });
}
