import cookie from '@fastify/cookie';
import type { FastifyInstance } from 'fastify';
import { errorHandler } from '../http/errors.ts';
import { letIn } from '../http/let-in.ts';
import { watchMethods } from '../http/methods.ts';
import type { Shell } from '../http/shell.ts';
import { accountRoutes } from './account.ts';
import { agentRoutes } from './agents.ts';
import { refuseAgentKeys, refuseCrossSite, requirePerson } from './auth.ts';
import { callbackTestRoutes } from './callback-test.ts';
import { callerRoutes } from './callers.ts';
import { type Cards, cardRoutes } from './cards.ts';
import { deliveryRoutes } from './deliveries.ts';
import { draftRoutes } from './drafts.ts';
import { DESK_DOOR } from './errors.ts';
import { eventRoutes } from './events.ts';
import { imageRoutes } from './image.ts';
import { insightRoutes } from './insights.ts';
import { joinRoutes, membershipRoutes } from './membership.ts';
import { overviewRoutes } from './overview.ts';
import { passkeyEntryRoutes, passkeyRoutes } from './passkeys.ts';
import { entryRoutes, peopleRoutes } from './people.ts';
import { preferenceRoutes } from './preferences.ts';
import { producerRoutes } from './producers.ts';
import { recordRoutes } from './records.ts';
import { sampleRoutes } from './sample.ts';
import { settingsRoutes } from './settings.ts';
import { streamRoutes } from './stream.ts';
import { taskRoutes } from './tasks.ts';

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

  const refuseOtherMethods = watchMethods(app);
  entryRoutes(app, shell);
  joinRoutes(app, shell);
  passkeyEntryRoutes(app, shell);
  await app.register(async (inside) => {
    letIn(inside, async (request) => {
      request.person = await requirePerson(shell, request);
    });
    overviewRoutes(inside, shell);
    deliveryRoutes(inside, shell);
    draftRoutes(inside, shell);
    imageRoutes(inside, shell);
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
  refuseOtherMethods();
}
