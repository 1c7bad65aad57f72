import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { Fault } from '../core/faults.ts';

/** What our addresses have, in the order in which `Allow` tells it; HEAD comes with GET. */
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

/** The same for a GET that lasts: who asks for its headers alone would wait for nothing. */
export function onlyLastingGet(
  app: FastifyInstance,
  url: string,
): { method: 'GET'; url: string; exposeHeadRoute: false } {
  refuseOthers(app, ['GET'], url);
  refuseHead(app, ['GET'], url);
  return { method: 'GET', url, exposeHeadRoute: false };
}

export function refuseOthers(
  app: FastifyInstance,
  allowed: readonly HTTPMethods[],
  url: string,
  hint?: string,
): void {
  const served: readonly string[] = allowed.includes('GET') ? [...allowed, 'HEAD'] : allowed;
  const others = app.supportedMethods.filter((method) => !served.includes(method));
  refuse(app, url, { methods: others, allowed, hint });
}

/** For an address whose GET has no HEAD. */
export function refuseHead(app: FastifyInstance, allowed: readonly HTTPMethods[], url: string): void {
  refuse(app, url, { methods: ['HEAD'], allowed });
}

type Refusal = {
  methods: readonly string[];
  allowed: readonly HTTPMethods[];
  hint?: string | undefined;
};

function refuse(app: FastifyInstance, url: string, { methods, allowed, hint }: Refusal): void {
  const answer = async (_: FastifyRequest, reply: FastifyReply) => {
    reply.header('allow', allowed.join(', '));
    throw new Fault('method_not_allowed', hint ?? `Only ${allowed.join(', ')} works here.`);
  };
  app.route({
    method: methods as HTTPMethods[],
    url,
    config: { refuses: true },
    // Before a body is looked at: one in the wrong format would be told of the format.
    onRequest: answer,
    handler: answer,
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
