import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../core/faults.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The door whose address this is, when only the method is wrong. */
    refusedAt: FastifyInstance | null;
  }
}

export type Route = { method: string; url: string };

type Address = { url: string; methods: Set<string>; door: FastifyInstance };

/** What our addresses have, in the order in which `Allow` tells it; HEAD comes with GET. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Every address that is served, so that a wrong method is told which ones work, instead of a puzzling 404 (D86). Looked up
 * when a request has found nothing: a route of its own for each wrong method was a sixth of a start.
 */
export class Addresses {
  readonly #served = new Map<string, Address>();
  #patterns: [RegExp, Address][] | null = null;

  /** From here on, at the app and at every door of it. */
  watch(app: FastifyInstance): void {
    const served = this.#served;
    app.decorateRequest('refusedAt', null);
    app.addHook('onRoute', function ({ method, url, config }) {
      if (config?.refuses) return;
      const address = served.get(url) ?? { url, methods: new Set(), door: this };
      for (const name of [method].flat()) address.methods.add(name);
      served.set(url, address);
    });
  }

  /** As they were registered. */
  get routes(): readonly Route[] {
    return [...this.#served.values()].flatMap(({ url, methods }) =>
      [...methods].map((method) => ({ method, url })),
    );
  }

  /** For a request that no route has taken. Undefined when another method would find nothing either. */
  wrongMethod(request: FastifyRequest, reply: FastifyReply): Fault | undefined {
    const address = this.#find(pathOf(request.url));
    if (address === undefined || address.methods.has(request.method)) return undefined;
    request.refusedAt = address.door;
    return wrongMethod(
      reply,
      METHODS.filter((method) => address.methods.has(method)),
    );
  }

  #find(path: string): Address | undefined {
    this.#patterns ??= [...this.#served.values()]
      .sort(byRank)
      .map((address) => [toPattern(address), address]);
    return this.#patterns.find(([pattern]) => pattern.test(path))?.[1];
  }
}

export function wrongMethod(reply: FastifyReply, allowed: readonly string[], hint?: string): Fault {
  reply.header('allow', allowed.join(', '));
  return new Fault('method_not_allowed', hint ?? `Only ${allowed.join(', ')} works here.`);
}

/** As the router reads it. What does not decode never comes here. */
function pathOf(url: string): string {
  return decodeURI(url.replace(/[?#].*$/s, ''));
}

// A parameter begins with a colon and ends with its part of the path; two colons are one, a star is all the rest.
const PARTS = /::|:\w+|\*/g;

/** What is written out goes before a parameter, and a parameter before a star, as with the router. */
function byRank(a: Address, b: Address): number {
  const rank = ({ url }: Address) =>
    url.replace(PARTS, (part) => (part === '::' ? ':' : part === '*' ? '\uffff' : '\ufffe'));
  return rank(a) < rank(b) ? -1 : 1;
}

function toPattern({ url }: Address): RegExp {
  const escaped = url.replace(/[.+?^$()[\]{}|\\]/g, '\\$&');
  return new RegExp(
    `^${escaped.replace(PARTS, (part) => (part === '::' ? ':' : part === '*' ? '.*' : '[^/]*'))}$`,
    's',
  );
}
