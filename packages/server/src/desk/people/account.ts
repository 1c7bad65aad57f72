import type { FastifyInstance } from 'fastify';
import { orThrow } from '../../core/faults.ts';
import {
  changePassword,
  endOtherSessions,
  endSession,
  sessionId,
  sessionsOf,
} from '../../core/people/login/account.ts';
import { toIso } from '../../core/time.ts';
import { networkOf } from '../../http/entry/transport.ts';
import { objectBody } from '../../http/reading/body.ts';
import { requiredText } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { clearSessionCookie, sessionCookie } from '../auth.ts';
import { caller } from '../person.ts';

type ById = { Params: { id: string } };

/** A person's own way in: the password, and where they are logged in. */
export function accountRoutes(app: FastifyInstance, shell: Shell): void {
  const { room } = shell;

  app.put('/desk/password', async (request, reply) => {
    const body = objectBody(request.body).value;
    const change = {
      current: requiredText(body, 'current', 1024),
      password: requiredText(body, 'password', 1024),
      address: networkOf(request.ip),
      session: sessionCookie(shell, request),
    };
    orThrow(await changePassword(room, caller(request), change));
    return reply.code(204).send();
  });

  app.get('/desk/sessions', async (request) => {
    const cookie = sessionCookie(shell, request);
    const current = cookie === null ? null : room.vault.sha256(cookie);
    const sessions = await sessionsOf(room, caller(request));
    return {
      sessions: sessions.map((s) => ({
        session_id: sessionId(s),
        created_at: toIso(s.createdAt),
        expires_at: toIso(s.expiresAt),
        device: s.device,
        current: s.digest === current,
      })),
    };
  });

  app.delete('/desk/sessions', async (request) => {
    const cookie = sessionCookie(shell, request);
    return { ended: await endOtherSessions(room, caller(request), cookie) };
  });

  app.delete<ById>('/desk/sessions/:id', async (request, reply) => {
    const ended = orThrow(await endSession(room, caller(request), request.params.id));
    const cookie = sessionCookie(shell, request);
    if (cookie !== null && room.vault.sha256(cookie) === ended.digest)
      clearSessionCookie(shell, request, reply);
    return reply.code(204).send();
  });
}
