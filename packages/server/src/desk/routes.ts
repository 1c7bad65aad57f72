import cookie from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import { letIn } from '../http/entry/let-in.ts';
import { errorHandler } from '../http/errors.ts';
import type { Shell } from '../http/shell.ts';
import { agentRoutes } from './agents/agents.ts';
import { callbackTestRoutes } from './agents/callback-test.ts';
import { callerRoutes } from './agents/callers.ts';
import { type Cards, cardRoutes } from './agents/cards.ts';
import { sampleRoutes } from './agents/sample.ts';
import { refuseAgentKeys, refuseCrossSite, requirePerson } from './auth.ts';
import { deliveryRoutes, readId } from './deliveries/deliveries.ts';
import { draftRoutes } from './deliveries/drafts.ts';
import { imageRoutes } from './deliveries/image.ts';
import { overviewRoutes } from './deliveries/overview.ts';
import { DESK_DOOR } from './errors.ts';
import { eventRoutes } from './events/events.ts';
import { producerRoutes } from './events/producers.ts';
import { packReadings } from './packed.ts';
import { accountRoutes } from './people/account.ts';
import { joinRoutes, membershipRoutes } from './people/membership.ts';
import { passkeyEntryRoutes, passkeyRoutes } from './people/passkeys.ts';
import { entryRoutes, peopleRoutes } from './people/people.ts';
import { preferenceRoutes } from './people/preferences.ts';
import { insightRoutes } from './records/insights.ts';
import { recordRoutes } from './records/records.ts';
import { settingsRoutes } from './settings.ts';
import { streamRoutes } from './stream.ts';
import { taskRoutes } from './tasks/tasks.ts';

/** The door for people. Agent keys are turned away before anything else is looked at. */
export async function deskRoutes(app: FastifyInstance, shell: Shell, cards: Cards): Promise<void> {
  await app.register(cookie);
  app.decorateRequest('person', null);
  app.setErrorHandler(errorHandler(DESK_DOOR, shell.baseUrl));
  app.addHook('onRequest', async (request, reply) => {
    refuseAgentKeys(request);
    refuseCrossSite(shell, request);
    reply.header('cache-control', 'no-store');
  });
  packReadings(app);

  entryRoutes(app, shell);
  joinRoutes(app, shell);
  passkeyEntryRoutes(app, shell);
  await app.register(async (inside) => {
    letIn(inside, async (request) => {
      request.person = await requirePerson(shell, request);
    });
    overviewRoutes(inside, shell);
    await inside.register(async (deliveries) => {
      deliveries.addHook('preHandler', readId);
      deliveryRoutes(deliveries, shell);
      draftRoutes(deliveries, shell);
      imageRoutes(deliveries, shell);
    });
    preferenceRoutes(inside, shell);
    agentRoutes(inside, shell);
    callbackTestRoutes(inside, shell);
    sampleRoutes(inside, shell);
    peopleRoutes(inside, shell);
    membershipRoutes(inside, shell);
    accountRoutes(inside, shell);
    passkeyRoutes(inside, shell);
    recordRoutes(inside, shell);
    taskRoutes(inside, shell);
    callerRoutes(inside, shell);
    cardRoutes(inside, shell, cards);
    producerRoutes(inside, shell);
    eventRoutes(inside, shell);
    insightRoutes(inside, shell);
    streamRoutes(inside, shell);
    settingsRoutes(inside, shell);
  });
}
