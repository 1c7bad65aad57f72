import type { FastifyReply } from 'fastify';
import { exactText } from '../core/exact-json.ts';

/** A reply whose exact pieces are passed on as they were written (D59). */
export function sendExact(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(exactText(value));
}
