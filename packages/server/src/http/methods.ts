import type { FastifyInstance, HTTPMethods } from 'fastify';
import { Fault } from '../core/faults.ts';

const METHODS: readonly HTTPMethods[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Names a route and answers every other method there with 405 and `Allow`, instead of a puzzling 404. */
export function onlyMethods<M extends HTTPMethods>(
  app: FastifyInstance,
  method: M,
  url: string,
): { method: M; url: string } {
  refuseOthers(app, [method], url);
  return { method, url };
}

export function refuseOthers(
  app: FastifyInstance,
  allowed: readonly HTTPMethods[],
  url: string,
  hint = `Only ${allowed.join(', ')} works here.`,
): void {
  app.route({
    method: METHODS.filter((m) => !allowed.includes(m)),
    url,
    handler: async (_, reply) => {
      reply.header('allow', allowed.join(', '));
      throw new Fault('method_not_allowed', hint);
    },
  });
}
