import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { asksFor } from '../http/reading/accept.ts';

/** Less than this goes into one or two packets anyhow. */
const WORTH_IT = 2048;

const pack = promisify(gzip);

/**
 * Lists and texts shrink to a fifth, which a person behind a slow line sees (D87). Only what is read: a secret that is shown
 * once answers a POST, and its length would tell of it beside words that somebody else chose.
 */
export function packReadings(app: FastifyInstance): void {
  app.addHook<string>('onSend', async (request, reply, payload) => {
    if (!isWorthIt(request, reply, payload)) return payload;
    reply.header('content-encoding', 'gzip').removeHeader('content-length');
    return (await pack(payload)) as never;
  });
}

function isWorthIt(request: FastifyRequest, reply: FastifyReply, payload: unknown): payload is string {
  if (request.method !== 'GET' || typeof payload !== 'string' || payload.length < WORTH_IT) return false;
  if (!String(reply.getHeader('content-type')).startsWith('application/json')) return false;
  reply.header('vary', 'accept-encoding');
  return asksFor('gzip', request.headers['accept-encoding']);
}
