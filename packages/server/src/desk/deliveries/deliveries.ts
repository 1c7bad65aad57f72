import type { FastifyInstance, FastifyRequest } from 'fastify';
import { bodyIdentity } from '../../core/deliveries/content/sealed.ts';
import { decide, undo } from '../../core/deliveries/decide.ts';
import type { Delivery } from '../../core/deliveries/delivery.ts';
import { markRead, snooze } from '../../core/deliveries/triage.ts';
import { orThrow } from '../../core/faults.ts';
import { toUuid } from '../../core/ids.ts';
import type { Room } from '../../core/room.ts';
import { objectBody } from '../../http/reading/body.ts';
import type { Query } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { requireRole } from '../auth.ts';
import { sendExact } from '../exact.ts';
import { toAnswer, toUntil } from '../mapping.ts';
import { caller } from '../person.ts';
import { detail, noDelivery } from './detail.ts';
import { list } from './list.ts';
import { showRows } from './seen.ts';

type ById = { Params: { id: string } };

/** In capitals it is the same UUID, as agents may write it too (W14). */
export async function readId({ params }: FastifyRequest): Promise<void> {
  const given = params as Partial<ById['Params']>;
  if (given.id !== undefined) given.id = toUuid(given.id) ?? given.id;
}

export function deliveryRoutes(app: FastifyInstance, { room }: Shell): void {
  app.get('/desk/deliveries', async (request) => list(room, caller(request), request.query as Query));

  app.get<ById>('/desk/deliveries/:id', async (request, reply) =>
    sendExact(reply, await detail(room, caller(request), request.params.id)),
  );

  // The exact bytes, as text that no browser will run.
  app.get<ById>('/desk/deliveries/:id/raw', async (request, reply) => {
    const { space } = caller(request);
    const { id } = request.params;
    const sealed = await room.store.read(space, (tx) => tx.deliveries.body(id));
    if (sealed === null) throw noDelivery();
    return reply
      .header('content-type', 'text/plain; charset=utf-8')
      .header('content-disposition', `attachment; filename="${id}.json"`)
      .send(Buffer.from(room.vault.open(sealed, bodyIdentity({ space, id }))));
  });

  app.post<ById>('/desk/deliveries/:id/decision', async (request) => {
    const person = caller(request);
    requireRole(person, 'decider');
    const answer = toAnswer(objectBody(request.body));
    const { delivery, decision } = orThrow(await decide(room, person, request.params.id, answer));
    return {
      ...(await showRow(room, delivery)),
      state: decision.state === 'held' ? 'held' : 'decided',
      decided_by: { person_id: person.id, name: person.name },
    };
  });

  app.delete<ById>('/desk/deliveries/:id/decision', async (request) => {
    const person = caller(request);
    requireRole(person, 'decider');
    return showRow(room, orThrow(await undo(room, person, request.params.id)));
  });

  app.post<ById>('/desk/deliveries/:id/read', async (request) => {
    const person = caller(request);
    requireRole(person, 'decider');
    return showRow(room, orThrow(await markRead(room, person, request.params.id)));
  });

  app.post<ById>('/desk/deliveries/:id/snooze', async (request) => {
    const person = caller(request);
    requireRole(person, 'decider');
    const until = toUntil(objectBody(request.body).value, room.clock.now());
    return showRow(room, orThrow(await snooze(room, person, request.params.id, until)));
  });
}

async function showRow(room: Room, delivery: Delivery) {
  const [row] = await room.store.read(delivery.space, (tx) => showRows(room, tx, [delivery]));
  return row;
}
