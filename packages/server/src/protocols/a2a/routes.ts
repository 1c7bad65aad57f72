import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../../core/faults.ts';
import { PLAIN_DOOR } from '../../http/app.ts';
import { letIn } from '../../http/entry/let-in.ts';
import { errorHandler } from '../../http/errors.ts';
import { readAnew } from '../../http/fast-lane.ts';
import { refuseOthers, refuseTheRest } from '../../http/methods.ts';
import { describeDoor } from '../../http/pages/openapi.ts';
import { addJsonParser } from '../../http/reading/body.ts';
import type { Shell } from '../../http/shell.ts';
import type { Signer } from '../../http/signing/signer.ts';
import { A2A_JSON, restRoutes } from './bindings/rest-routes.ts';
import { rpcLane } from './bindings/rpc-lane.ts';
import { type A2aParts, refuse, rpc } from './bindings/rpc-route.ts';
import { CardMaker } from './cards/card.ts';
import { cardRoutes } from './cards/routes.ts';
import { contentRoute, uploadRoute } from './content/routes.ts';
import { type AgentParams, admit, enter } from './door.ts';
import { OutsideLimits } from './limits.ts';
import { RpcBody, RpcReply, VERSION_PARAMETER } from './schema.ts';
import { TaskTexts } from './tasks/task-texts.ts';

/** The A2A door: cards, JSON-RPC and HTTP+JSON at every agent's address, and the laptop's uploads. */
export async function a2aRoutes(app: FastifyInstance, shell: Shell, signer: Signer): Promise<void> {
  const cards = new CardMaker(shell, signer);
  const parts: A2aParts = { shell, cards, limits: new OutsideLimits(), texts: new TaskTexts() };
  app.setErrorHandler(errorHandler(PLAIN_DOOR, shell.baseUrl));
  app.decorateRequest('entered', null);
  cardRoutes(app, { shell, cards, signer });
  app.register(async (door) => uploadRoute(door, shell));
  app.register(async (door) => {
    addJsonParser(door, ['application/json', A2A_JSON]);
    const ask = async (request: FastifyRequest, reply: FastifyReply) => {
      // A public agent's task is read without a credential, so a cache in between would keep its state.
      reply.header('cache-control', 'no-store');
      request.entered = await enter(shell, request, reply.raw, parts.limits);
    };
    letIn(door, ask, async (request) => {
      const entered = await admit(shell, request, request.params as AgentParams);
      request.entered = { ...request.entered, ...entered };
    });
    door.register(async (calls) => rpcRoutes(calls, parts));
    door.register(async (rest) => {
      restRoutes(rest, parts);
      contentRoute(rest, parts);
    });
  });
  app.route({
    method: 'GET',
    url: '/a2a/connect',
    handler: async () => {
      throw new Fault('invalid_field', 'This address speaks WebSocket: ask for the upgrade.', {
        field: 'upgrade',
      });
    },
  });
  const lost = () =>
    new Fault(
      'not_found',
      'A2A has no such address. Agents connect at /a2a/connect and are called at /@handle/name.',
    );
  refuseTheRest(app, shell, { url: '/a2a/*', lost });
}

function rpcRoutes(app: FastifyInstance, parts: A2aParts): void {
  app.setErrorHandler((error, request: FastifyRequest, reply: FastifyReply) =>
    refuse(request, reply, null, error),
  );
  describeDoor(app, { refusal: RpcReply });
  parts.shell.lanes.addFamily(rpcLane(parts));
  for (const url of ['/@:handle/:agent', '/@:handle/:agent/']) {
    app.post(
      url,
      {
        config: {
          summary: 'Call an agent: JSON-RPC, A2A 1.0, 0.3 and the dialect of wakeup.sh',
          body: RpcBody,
          bodies: { [A2A_JSON]: RpcBody },
          response: { 200: [RpcReply, 'stream'] },
          parameters: [VERSION_PARAMETER],
        },
        preParsing: readAnew,
      },
      (request, reply) => rpc(parts, request, reply),
    );
    refuseOthers(
      app,
      ['POST'],
      url,
      'Call this agent with POST. Its card is at .well-known/agent-card.json.',
    );
  }
}
