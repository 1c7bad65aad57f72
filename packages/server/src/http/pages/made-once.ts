import type { RouteHandlerMethod } from 'fastify';
import { entry } from '../../core/maps.ts';
import type { Shell } from '../shell.ts';

/**
 * A long document that anybody may read and that depends on nothing but our address. It is made once: making it for every
 * request took milliseconds, and thousands of requests without a key kept everybody else waiting.
 */
export function madeOnce({ baseUrl }: Pick<Shell, 'baseUrl'>, make: () => unknown): RouteHandlerMethod {
  const texts = new Map<string, string>();
  return async (_, reply) => {
    const text = entry(texts, baseUrl(), () => JSON.stringify(make()));
    return reply.type('application/json; charset=utf-8').send(text);
  };
}
