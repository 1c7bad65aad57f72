import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import type { Fault } from '../core/faults.ts';
import { wrongMethod } from './addresses.ts';
import type { Shell } from './shell.ts';

// A wrong method is normally answered by http/addresses.ts, because no route matches it. The functions here are for
// addresses where that does not work: another route would match (a parameter in the same place, or another door's
// star), or the door's own hooks must run before the 405 (in WAKE, the key check and the limits: W1, W5).

/**
 * Answers everything below a door's prefix that the door does not serve. In `onRequest`, before the body is read: it
 * may be in a format that we would refuse first.
 */
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

/** For a GET that stays open: HEAD would wait for nothing. */
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
    // Before the body is read: otherwise a body in the wrong format would be refused for its format.
    onRequest: answer,
    handler: answer,
  });
}
