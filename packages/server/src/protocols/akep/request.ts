import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Identity, isActive } from '../../core/agents/key.ts';
import { isJsonObject, type JsonObject } from '../../core/canonical.ts';
import type { Reader } from '../../core/events/inbox/cursor.ts';
import { Fault } from '../../core/faults.ts';
import { bearerOf } from '../../http/entry/agent-key.ts';
import type { Headed } from '../../http/fast-lane.ts';
import { parseStrict } from '../../http/reading/strict-json.ts';
import type { Shell } from '../../http/shell.ts';

export type ById = { Params: { id: string } };

/** No token is 401; one that is not valid here is 403 (K11). */
export async function identifyReader({ room }: Shell, request: FastifyRequest): Promise<Identity> {
  const key = bearerOf(request);
  if (key === null)
    throw new Fault('unauthorized', "Send the agent's key in the header Authorization: Bearer wk_….");
  return stillValid(room, room.vault.sha256(key));
}

/** Asked again before a reader that has waited is answered: its key may have been revoked meanwhile. */
export async function stillValid(room: Shell['room'], digest: string): Promise<Identity> {
  const identity = await room.store.directory.identityByDigest(digest);
  if (identity !== null && isActive(identity.key, room.clock.now())) return identity;
  throw new Fault('key_refused', 'This token is not valid here.');
}

export function caller(request: FastifyRequest): Identity {
  if (request.identity === null) throw new Error('a route without a caller');
  return request.identity;
}

export function readerOf(request: FastifyRequest): Reader {
  const { space, agent } = caller(request).key;
  return { space, agent };
}

/** What a producer sent, by either route. */
export type Sent = Headed & { body: Buffer };

export function toSent(request: FastifyRequest): Sent {
  return { headers: request.headers, body: bytes(request) };
}

/** Bodies stay bytes until their sender is verified. */
export function bytes(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

export function jsonBody(request: FastifyRequest): JsonObject {
  const parsed = parseStrict(bytes(request));
  if (!parsed.ok) throw new Fault('malformed_body', parsed.message);
  if (!isJsonObject(parsed.value)) throw new Fault('malformed_body', 'The body must be a JSON object.');
  return parsed.value;
}

export function optionalJson(request: FastifyRequest): JsonObject {
  return bytes(request).length === 0 ? {} : jsonBody(request);
}

export function json(reply: FastifyReply, status: number, body: string | Buffer): FastifyReply {
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(body);
}
