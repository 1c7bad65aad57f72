import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
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
  const refuse = async (_: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', allowed.join(', '));
    throw new Fault('method_not_allowed', hint);
  };
  app.route({
    method: METHODS.filter((m) => !allowed.includes(m)),
    url,
    config: { refuses: true },
    // Before a body is looked at: one in the wrong format would be told of the format.
    onRequest: refuse,
    handler: refuse,
  });
}

/** The same for every address that is named from here on; the function that comes back is called behind the last of them. */
export function watchMethods(app: FastifyInstance): () => void {
  const named = new Map<string, HTTPMethods[]>();
  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.refuses) return;
    const methods = METHODS.filter((m) => [method].flat().includes(m));
    named.set(url, [...(named.get(url) ?? []), ...methods]);
  });
  return () => {
    for (const [url, methods] of named) refuseOthers(app, inOrder(methods), url);
  };
}

function inOrder(methods: readonly HTTPMethods[]): readonly HTTPMethods[] {
  return METHODS.filter((m) => methods.includes(m));
}
