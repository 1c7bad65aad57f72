import type { FastifyInstance } from 'fastify';
import { orThrow } from '../../core/faults.ts';
import { noteTest, prepareTest, type TestRequest } from '../../core/sending/test-callback.ts';
import { SECOND } from '../../core/time.ts';
import { objectBody } from '../../http/reading/body.ts';
import { requiredText } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { signCallback } from '../../http/signing/callback-signature.ts';
import { requireRole } from '../auth.ts';
import { caller } from '../person.ts';
import { withAgent } from './reading.ts';

type ById = { Params: { id: string } };

/** The Test button. It is a way out like any other, so it goes through the same module and the same allowlist. */
export function callbackTestRoutes(app: FastifyInstance, shell: Shell): void {
  const { room } = shell;
  app.post<ById>('/desk/agents/:id/callbacks/test', async (request) => {
    const person = caller(request);
    requireRole(person, 'owner');
    const url = requiredText(objectBody(request.body).value, 'url', 2048);
    const test = orThrow(
      await withAgent(shell, person, request.params.id, (tx, agent) => prepareTest(room, tx, agent, url)),
    );
    const outcome = await send(shell, test);
    const tested = { agent: request.params.id, origin: new URL(test.url).origin };
    await noteTest(room, person, { ...tested, status: outcome.ok ? outcome.status : null });
    // One sentence for every failure, so that nobody can map our network with this button.
    if (!outcome.ok) return { ok: false, reason: outcome.message };
    const { status } = outcome;
    return { ok: status >= 200 && status < 300, status };
  });
}

function send({ room, outbound }: Shell, { url, secrets, id, tier, ...test }: TestRequest) {
  const body = Buffer.from(test.body);
  const timestamp = Math.floor(room.clock.now() / SECOND);
  const headers = signCallback({ secrets, body, id, timestamp });
  return outbound.send({ url, method: 'POST', headers, body, allowLoopback: tier === 'test' });
}
