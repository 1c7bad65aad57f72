import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../core/faults.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The door that owns this address, when only the method is wrong. */
    refusedAt: FastifyInstance | null;
  }
}

export type Route = { method: string; url: string };

type Address = { url: string; methods: Set<string>; door: FastifyInstance };

/** The methods that we serve, in the order in which `Allow` lists them; HEAD comes with GET. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/**
 * Every address that is served, so that a wrong method is answered with 405 and the methods that work, instead of a
 * puzzling 404 (D86). It is looked up only when no route has matched: registering a refusal for each wrong method was
 * a sixth of the start-up time.
 */
export class Addresses {
  readonly #served = new Map<string, Address>();
  #patterns: [RegExp, Address][] | null = null;

  /** Records every route that is registered from now on, on the app and in every door. */
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

  /** For a request that no route has matched. Undefined if no other method would match either. */
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
  return new Fault('method_not_allowed', hint ?? onlyThese(allowed));
}

const inWords = new Intl.ListFormat('en', { style: 'long', type: 'conjunction' });

function onlyThese(methods: readonly string[]): string {
  return `Only ${inWords.format(methods)} ${methods.length === 1 ? 'works' : 'work'} here.`;
}

/** Decoded as the router does it. A path that does not decode never gets here. */
function pathOf(url: string): string {
  return decodeURI(url.replace(/[?#].*$/s, ''));
}

// A parameter begins with a colon and ends at the next slash; two colons stand for one, and a star for all the rest.
const PARTS = /::|:\w+|\*/g;

/** As in the router, a literal part wins over a parameter, and a parameter over a star. */
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
