import type { FastifyInstance, onErrorHookHandler } from 'fastify';
import { isJsonObject, type JsonObject } from '../../core/canonical.ts';
import { Fault } from '../../core/faults.ts';
import { parseStrict } from './strict-json.ts';

/** A body is parsed once, strictly; the bytes stay beside the value for what must be stored as sent. */
export type JsonBody = { raw: Buffer; value: unknown };

export const BODY_LIMIT = 1024 * 1024;

export function addJsonParser(app: FastifyInstance, types: string[] = ['application/json']): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(types, { parseAs: 'buffer' }, (request, raw: Buffer, done) => {
    if (request.headers['content-encoding'] !== undefined) {
      return done(new Fault('unsupported_media_type', 'Send the body without Content-Encoding.'));
    }
    if (raw.length === 0) return done(null, null);
    try {
      return done(null, toJson(raw));
    } catch (reason) {
      return done(reason as Error);
    }
  });
}

/**
 * A client that is cut off in the middle of a body sees a broken connection and never reads why. So the rest of a
 * body that is too long is read and discarded, for as long as any request may take.
 */
export const hearOut: onErrorHookHandler = (request, reply, error, done) => {
  if ('code' in error && error.code === 'FST_ERR_CTP_BODY_TOO_LARGE') {
    reply.removeHeader('connection');
    request.raw.resume();
  }
  done();
};

export function toJson(raw: Buffer): JsonBody {
  const parsed = parseStrict(raw);
  if (parsed.ok) return { raw, value: parsed.value };
  throw new Fault('malformed_body', parsed.message, { extra: where(parsed.where) });
}

function where(place: string | undefined): Record<string, unknown> {
  return place === undefined ? {} : { where: place };
}

export function objectBody(body: unknown): { raw: Buffer; value: JsonObject } {
  const { raw, value } = (body ?? {}) as Partial<JsonBody>;
  if (raw === undefined) throw new Fault('malformed_body', 'The body is empty; send a JSON object.');
  if (!isJsonObject(value)) throw new Fault('malformed_body', 'The body must be a JSON object.');
  return { raw, value };
}

/** The same where the body is optional. */
export function optionalBody(body: unknown): JsonObject {
  return body === null || body === undefined ? {} : objectBody(body).value;
}
