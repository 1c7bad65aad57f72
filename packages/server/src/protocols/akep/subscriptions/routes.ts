import type { FastifyInstance } from 'fastify';
import { resubscribe, subscribe, unsubscribe } from '../../../core/events/subscriptions/subscribe.ts';
import { Fault, orThrow } from '../../../core/faults.ts';
import type { Shell } from '../../../http/shell.ts';
import { fromSubscribed, fromSubscription, toSubscriptionBody } from '../mapping.ts';
import { type ById, caller, jsonBody, readerOf } from '../request.ts';
import { SubscriptionBody, SubscriptionsView, SubscriptionView } from '../schema.ts';

/** What an agent wants to be sent (K18). */
export function subscriptionRoutes(door: FastifyInstance, shell: Shell): void {
  listRoutes(door, shell);
  oneRoutes(door, shell);
}

const ALL = '/akep/subscriptions';

function listRoutes(door: FastifyInstance, { room }: Shell): void {
  const list = { summary: "The agent's subscriptions", response: { 200: SubscriptionsView } };
  door.get(ALL, { config: list }, async (request) => {
    const { space, agent } = readerOf(request);
    const own = await room.store.read(space, (tx) => tx.subscriptions.of(agent));
    return { subscriptions: own.map(fromSubscription) };
  });
  const add = { summary: 'Subscribe', body: SubscriptionBody, response: { 201: SubscriptionView } };
  door.post(ALL, { config: add }, async (request, reply) => {
    const made = orThrow(await subscribe(room, caller(request), toSubscriptionBody(jsonBody(request))));
    const location = `${ALL}/${made.subscription.id}`;
    return reply.code(201).header('location', location).send(fromSubscribed(made));
  });
}

const ONE = '/akep/subscriptions/:id';

function oneRoutes(door: FastifyInstance, { room }: Shell): void {
  const show = { summary: 'One subscription', response: { 200: SubscriptionView } };
  door.get<ById>(ONE, { config: show }, async (request) => {
    const { space, agent } = readerOf(request);
    const found = await room.store.read(space, (tx) => tx.subscriptions.get(request.params.id));
    if (found === null || found.agent !== agent)
      throw new Fault('not_found', 'You have no subscription with this id.');
    return fromSubscription(found);
  });
  const change = { ...show, summary: 'Change a subscription', body: SubscriptionBody };
  door.put<ById>(ONE, { config: change }, async (request) => {
    const body = toSubscriptionBody(jsonBody(request));
    return fromSubscribed(orThrow(await resubscribe(room, caller(request), request.params.id, body)));
  });
  const end = { summary: 'Unsubscribe', response: { 204: null } };
  door.delete<ById>(ONE, { config: end }, async (request, reply) => {
    orThrow(await unsubscribe(room, readerOf(request), request.params.id));
    return reply.code(204).send();
  });
}
