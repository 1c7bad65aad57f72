import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

type Ask = (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

/** Let in while a part of their body was still to come. */
const early = new WeakSet<IncomingMessage>();

/**
 * Who is calling comes first: nobody's body is read before that. Whoever holds the rest of a body back is asked again when
 * it has come, because their key, session or role may have ended meanwhile (W28). `again` is for what must not be done twice.
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
