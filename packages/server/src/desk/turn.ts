import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Shell } from '../http/shell.ts';
import { requirePerson } from './auth.ts';
import { caller } from './person.ts';

/** `line` keeps apart what may take long for reasons of somebody else's. */
type Wanted = { request: FastifyRequest; reply: FastifyReply; bytes: number; line?: 'images' };

/** Waits for a turn before so much is read for an answer (W29); whoever had to wait is asked again who they are. */
export async function turnOf(shell: Shell, { request, reply, bytes, line }: Wanted): Promise<void> {
  const { space, id } = caller(request);
  const who = line === undefined ? `${space}/${id}` : `${space}/${id}/${line}`;
  const hasWaited = await shell.largeAnswers.turn(who, bytes, reply.raw);
  if (hasWaited) request.person = await requirePerson(shell, request);
}
