import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { Fault } from '../core/faults.ts';
import { wrongMethod } from './addresses.ts';
import type { Shell } from './shell.ts';

// A wrong method is told so by itself (http/addresses.ts). Named here are the addresses where that is not enough: another
// route would take it, one with a parameter in its place or the star of another door; or the door has more to say (W5).

/** The star behind the addresses of a door. Before a body is looked at: what is not here may well speak another format. */
export function refuseTheRest(
  app: FastifyInstance,
  { addresses }: Shell,
  { url, lost }: { url: string; lost(request: FastifyRequest): Fault },
): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    throw addresses.wrongMethod(request, reply) ?? lost(request);
  };
  app.all(url, { onRequest: answer }, answer);
}

/** Names a route and answers every other method there with 405 and `Allow`. */
export function onlyMethods<M extends HTTPMethods>(
  app: FastifyInstance,
  method: M,
  url: string,
): { method: M; url: string } {
  refuseOthers(app, [method], url);
  return { method, url };
}

/** For a GET that lasts: who asks for its headers alone would wait for nothing. */
export function onlyLastingGet(
  app: FastifyInstance,
  url: string,
): { method: 'GET'; url: string; exposeHeadRoute: false } {
  refuse(app, url, { methods: ['HEAD'], allowed: ['GET'] });
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

type Refusal = {
  methods: readonly string[];
  allowed: readonly HTTPMethods[];
  hint?: string | undefined;
};

function refuse(app: FastifyInstance, url: string, { methods, allowed, hint }: Refusal): void {
  const answer = async (_: FastifyRequest, reply: FastifyReply) => {
    throw wrongMethod(reply, allowed, hint);
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
