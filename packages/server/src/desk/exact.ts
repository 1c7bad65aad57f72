import type { FastifyReply } from 'fastify';
import { exactText } from '../core/exact-json.ts';

/** A reply in which exact JSON is passed on as it was written (D59). */
export function sendExact(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(exactText(value));
}
