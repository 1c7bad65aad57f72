import type { FastifyRequest } from 'fastify';
import { Fault } from '../../core/faults.ts';
import { isLoopbackHost } from '../../http/entry/transport.ts';
import type { Shell } from '../../http/shell.ts';

/**
 * A foreign page must not reach an MCP server through somebody's browser: neither across sites nor by DNS rebinding.
 * Programs send no Origin and use our real name.
 */
export function refuseStrangers(shell: Shell, request: FastifyRequest): void {
  const own = new URL(shell.baseUrl());
  if (!isOurName(shell, own, request.host)) {
    throw new Fault('cross_site', `This server is not ${request.host}: use ${own.origin}.`);
  }
  const { origin } = request.headers;
  if (origin === undefined || isOurOrigin(shell, own, origin)) return;
  throw new Fault('cross_site', 'This request came from a page of another site.');
}

function isOurName({ binding }: Shell, own: URL, host: string): boolean {
  if (host === own.host) return true;
  const name = hostnameOf(`http://${host}`);
  return name !== null && isLoopbackHost(binding.host) && isLoopbackHost(name);
}

function isOurOrigin(shell: Shell, own: URL, origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const given = new URL(origin);
  return given.origin === own.origin || (given.port === own.port && isOurName(shell, own, given.host));
}

function hostnameOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, '$1') : null;
}
