import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Shell } from '../shell.ts';
import { isHttps } from './transport.ts';

type Ours = Pick<Shell, 'baseUrl' | 'binding'>;

export function isOwnOrigin(
  { baseUrl, binding }: Ours,
  { raw, host }: Pick<FastifyRequest, 'raw' | 'host'>,
  origin: string,
): boolean {
  if (!URL.canParse(origin)) return false;
  const given = new URL(origin);
  if (given.origin === new URL(baseUrl()).origin) return true;
  const scheme = isHttps(raw, binding) ? 'https:' : 'http:';
  return given.protocol === scheme && given.host === host;
}

/** A browser says whose page opens a WebSocket; a program says nothing, or names us. */
export function isFromElsewhere(ours: Ours, request: IncomingMessage): boolean {
  const { origin, host = '' } = request.headers;
  return origin !== undefined && !isOwnOrigin(ours, { raw: request, host }, origin);
}
