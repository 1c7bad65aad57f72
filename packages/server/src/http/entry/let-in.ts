import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

type Ask = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Requests that were let in while part of their body was still to come. */
const early = new WeakSet<IncomingMessage>();

/**
 * The caller is identified before the body is read. If the rest of the body comes later, the caller is identified
 * again, because their key, session or role may have ended meanwhile (W28). `again` replaces `ask` then, where
 * something must not be done twice.
 */
export function letIn(app: FastifyInstance, ask: Ask, again: Ask = ask): void {
  app.addHook('onRequest', async (request, reply) => {
    await ask(request, reply);
    if (!request.raw.complete) early.add(request.raw);
  });
  app.addHook('preHandler', (request, reply, done) => {
    if (!early.has(request.raw)) return done();
    again(request, reply).then(() => done(), done);
  });
}
