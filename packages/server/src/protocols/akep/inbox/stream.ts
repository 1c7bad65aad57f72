import type { FastifyReply, FastifyRequest } from 'fastify';
import { logFault, toFault } from '../../../http/errors.ts';
import { cursorOf, type Query } from '../../../http/reading/fields.ts';
import type { Shell } from '../../../http/shell.ts';
import { caller, readerOf } from '../request.ts';
import { Follower, type Sink, startOf } from './follower.ts';

/** `GET /akep/events/stream`: bare envelopes, `id:` is the cursor. */
export async function stream(
  shell: Shell,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const reader = readerOf(request);
  const { digest } = caller(request).key;
  const last = request.headers['last-event-id'];
  const cursor = typeof last === 'string' && last !== '' ? last : cursorOf(request.query as Query);
  const start = await startOf(shell, reader, cursor);
  const sse = shell.streams.open(reply, () => follower.nudge());
  const sink: Sink = {
    event: (id, data) => sse.sendWhenReady({ event: 'event', id, data }),
    resume: (data) => sse.sendWhenReady({ event: 'resume', data }),
    get closed() {
      return sse.closed;
    },
  };
  const follower = new Follower(shell, { reader, digest }, sink, start);
  // Whatever went wrong is reported when the reader comes back with its cursor.
  follower.run().catch((reason: unknown) => {
    if (!sse.closed) logFault(request, reason, toFault(reason as Error));
    sse.close();
  });
  return reply;
}
