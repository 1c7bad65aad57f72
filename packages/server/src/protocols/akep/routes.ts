import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ingest, Subscriptions } from '../../core/events/ingest.ts';
import { agentProducer } from '../../core/events/producers.ts';
import { Fault, orThrow } from '../../core/faults.ts';
import { letIn } from '../../http/entry/let-in.ts';
import { errorHandler } from '../../http/errors.ts';
import { type FullReply, JSON_HEADERS, refuseFromLane, sendFull } from '../../http/fast-lane.ts';
import { onlyMethods, refuseTheRest } from '../../http/methods.ts';
import { madeOnce } from '../../http/pages/made-once.ts';
import { describeDoor } from '../../http/pages/openapi.ts';
import type { Shell } from '../../http/shell.ts';
import { asyncApi } from './documents/asyncapi.ts';
import { discovery } from './documents/discovery.ts';
import { AKEP_DOOR, AkepErrorForm } from './errors.ts';
import { relayRoute } from './inbox/relay.ts';
import { inboxRoutes } from './inbox/routes.ts';
import { CLOUDEVENTS } from './ingest/cloudevents.ts';
import { toEnvelope } from './ingest/envelope.ts';
import { type Receiving, receive } from './ingest/receive.ts';
import { RefusalNotes } from './ingest/refusals.ts';
import { SigningKeys } from './ingest/signing-keys.ts';
import { caller, identifyReader, toSent } from './request.ts';
import {
  AcceptedBody,
  CloudEventBody,
  DiscoveryBody,
  LenientEventBody,
  SIGNATURE_PARAMETERS,
} from './schema.ts';
import { subscriptionRoutes } from './subscriptions/routes.ts';
import { waitRoutes } from './waits/routes.ts';

/** The AKEP door: producers come with a signature, agents with their key. */
export async function akepRoutes(app: FastifyInstance, shell: Shell): Promise<void> {
  const receiving: Receiving = {
    shell,
    keys: new SigningKeys(shell.room),
    subscriptions: new Subscriptions(),
    refusals: new RefusalNotes(shell.room),
  };
  app.setErrorHandler(errorHandler(AKEP_DOOR, shell.baseUrl));
  describeDoor(app, { refusal: AkepErrorForm });
  // Signatures cover bytes, so bodies stay bytes until their sender is verified.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_, body, done) => done(null, body));

  ingestRoutes(app, receiving);
  app.route({
    method: 'GET',
    url: '/.well-known/akep.json',
    config: { summary: 'What is served here', open: true, response: { 200: DiscoveryBody } },
    handler: async () => discovery(shell),
  });
  app.route({ method: 'GET', url: '/asyncapi.json', handler: madeOnce(shell, () => asyncApi(shell)) });
  await app.register(async (door) => {
    letIn(door, async (request, reply) => {
      reply.header('cache-control', 'no-store');
      request.identity = await identifyReader(shell, request);
    });
    inboxRoutes(door, shell);
    subscriptionRoutes(door, shell);
    waitRoutes(door, shell);
    emitRoute(door, receiving);
    await relayRoute(door, shell);
  });
  const lost = () => new Fault('not_found', 'AKEP has no such address.');
  refuseTheRest(app, shell, { url: '/akep/*', lost });
}

function ingestRoutes(app: FastifyInstance, receiving: Receiving): void {
  const config = {
    summary: 'A signed knowledge event',
    open: true as const,
    parameters: SIGNATURE_PARAMETERS,
    body: LenientEventBody,
    bodies: { [CLOUDEVENTS]: CloudEventBody },
    response: { 202: AcceptedBody },
  };
  receiving.shell.lanes.add('/akep/events', (request) => async (body) => {
    const sent = { headers: request.headers, body };
    return accepted(await receive(receiving, sent, null));
  });
  app.post('/akep/events', { config, preParsing: refuseFromLane }, async (request, reply) =>
    sendFull(reply, accepted(await receive(receiving, toSent(request), null))),
  );
  app.route<{ Params: { handle: string } }>({
    ...onlyMethods(app, 'POST', '/@:handle/akep/events'),
    config: { ...config, summary: 'A signed knowledge event for one space' },
    handler: async (request, reply) => {
      const { directory } = receiving.shell.room.store;
      const space = await directory.spaceByHandle(request.params.handle);
      // An unknown handle is answered like a wrong signature.
      return sendFull(
        reply,
        accepted(await receive(receiving, toSent(request), space?.id ?? 'no such space')),
      );
    },
  });
}

function emitRoute(door: FastifyInstance, receiving: Receiving): void {
  door.route({
    method: 'POST',
    url: '/akep/emit',
    config: {
      summary: 'An event that the agent itself sends',
      body: LenientEventBody,
      bodies: { [CLOUDEVENTS]: CloudEventBody },
      response: { 202: AcceptedBody },
    },
    handler: async (request, reply) => sendFull(reply, accepted(await emit(receiving, request))),
  });
}

/** The agent's key vouches for the event, as a signature does for a producer's (K25). */
async function emit({ shell, subscriptions }: Receiving, request: FastifyRequest) {
  const { room, about } = shell;
  const producer = agentProducer(room, caller(request).key);
  const sent = toSent(request);
  const { envelope, kept } = toEnvelope(sent, producer, room.clock.now());
  const signed = { producer, keyId: null, algorithm: 'v1' as const };
  const arriving = { ...signed, envelope, raw: sent.body, kept, rate: about.producerRate };
  return orThrow(await ingest(room, subscriptions, arriving));
}

function accepted({ duplicate }: { duplicate: boolean }): FullReply {
  return { status: 202, headers: JSON_HEADERS, body: `{"accepted":true,"duplicate":${duplicate}}` };
}
