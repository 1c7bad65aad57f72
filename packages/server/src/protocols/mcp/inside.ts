import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Tier } from '../../core/agents/key.ts';
import { isLoopbackHost } from '../../http/entry/transport.ts';
import type { Shell } from '../../http/shell.ts';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

/**
 * Our address as refusals name it, and never dialled. The client takes plain http on this machine and with a test key
 * only (W23); otherwise it is given https.
 */
export function insideUrl({ baseUrl }: Shell, tier: Tier): string {
  const { origin, host, hostname } = new URL(baseUrl());
  return tier === 'test' && isLoopbackHost(hostname) ? origin : `https://${host}`;
}

/**
 * Our own doors as a `fetch` without a socket: what a tool does passes the same checks, limits and ledger as a
 * request from outside. The request that brought the tool call already came over a private connection, and this one
 * does not leave the process.
 */
export function insideFetch(app: FastifyInstance, shell: Shell): (outer: ServerResponse) => typeof fetch {
  return (outer) => fetchWithin(app, shell, shell.largeAnswers.within(outer));
}

function fetchWithin(app: FastifyInstance, shell: Shell, within: Record<string, string>): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const reply = await app.inject({
      method: (init?.method ?? 'GET') as Method,
      url: url.pathname + url.search,
      headers: {
        ...(init?.headers as Record<string, string>),
        host: new URL(shell.baseUrl()).host,
        ...viaProxy(shell),
        ...within,
      },
      remoteAddress: trustedAddress(shell),
      ...(typeof init?.body === 'string' ? { payload: init.body } : {}),
    });
    const isEmpty = reply.statusCode === 204 || reply.statusCode === 304;
    return new Response(isEmpty ? null : reply.body, {
      status: reply.statusCode,
      headers: Object.entries(reply.headers).map(([name, value]): [string, string] => [name, String(value)]),
    });
  };
}

/** Behind a proxy, only requests from the proxy count as private. */
function trustedAddress({ binding }: Shell): string {
  return binding.proxies[0]?.[0].toString() ?? '127.0.0.1';
}

function viaProxy({ binding }: Shell): Record<string, string> {
  return binding.proxies.length > 0 ? { 'x-forwarded-proto': 'https' } : {};
}
