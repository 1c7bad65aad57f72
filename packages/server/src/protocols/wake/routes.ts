import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { accessTopic } from '../../core/access.ts';
import type { Identity } from '../../core/agents/key.ts';
import { accept } from '../../core/deliveries/accept.ts';
import { check, type Seen, sweep } from '../../core/deliveries/sweep.ts';
import { withdraw } from '../../core/deliveries/withdraw.ts';
import { Fault, isFault, orThrow } from '../../core/faults.ts';
import { toUuid } from '../../core/ids.ts';
import { look, type RateView, toBucket } from '../../core/rate.ts';
import type { Topic } from '../../core/store.ts';
import { fromRateView, identify, ReadLimits, rateHeaders, tooManyReads } from '../../http/entry/agent-key.ts';
import { letIn } from '../../http/entry/let-in.ts';
import { errorHandler } from '../../http/errors.ts';
import {
  type FullReply,
  type Headed,
  JSON_HEADERS,
  type Lane,
  refuseFromLane,
  sendFull,
} from '../../http/fast-lane.ts';
import { onlyMethods, refuseTheRest } from '../../http/methods.ts';
import { FRAMEWORKS, Prompts } from '../../http/pages/prompts.ts';
import { objectBody, toJson } from '../../http/reading/body.ts';
import { choice, type Query, requiredText, single } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { WAKE_DOOR } from './errors.ts';
import {
  assertNoOtherAgent,
  fromAccepted,
  fromCard,
  fromSwept,
  toDraft,
  toSweep,
  toWait,
} from './mapping.ts';
import {
  CardBody,
  DeliverBody,
  DeliverReply,
  LIMITS,
  PARAMETERS,
  ResponseBody,
  SWEEP_PARAMETERS,
  SweepBody,
  VERSIONS,
  WithdrawBody,
} from './schema.ts';

declare module 'fastify' {
  interface FastifyRequest {
    identity: Identity | null;
  }
}

type ById = { Params: { id: string } };

/** The WAKE door: four addresses, the well-known document and the prompts. */
export async function wakeRoutes(app: FastifyInstance, shell: Shell): Promise<void> {
  const { room } = shell;
  const reads = new ReadLimits();
  app.setErrorHandler(errorHandler(WAKE_DOOR, shell.baseUrl));

  app.register(async (door) => {
    door.setErrorHandler(errorHandler(WAKE_DOOR, shell.baseUrl));
    letIn(door, async (request) => {
      request.identity = await identify(room, request);
    });
    door.register(async (delivering) => deliveringRoutes(delivering, shell));
    door.register(async (reading) => {
      reading.addHook('onRequest', async (request, reply) => takeRead(shell, reads, request, reply));
      readingRoutes(reading, shell);
    });
  });

  app.route({
    method: 'GET',
    url: '/.well-known/wake.json',
    config: { summary: 'Versions, limits and extensions', open: true, response: { 200: CardBody } },
    handler: async (request, reply) => {
      if (request.headers.authorization !== undefined) {
        request.identity = await identify(room, request);
        takeRead(shell, reads, request, reply);
      }
      return json(reply, 200, JSON.stringify(fromCard(shell, request.identity)));
    },
  });

  refuseTheRest(app, shell, { url: '/wake/*', lost: noSuchAddress });
}

function deliveringRoutes(app: FastifyInstance, shell: Shell): void {
  shell.lanes.add('/wake/v1/deliver', deliverLane(shell));
  app.addHook('onError', (request, reply) => showBucket(shell, request, reply));
  app.route({
    ...onlyMethods(app, 'POST', '/wake/v1/deliver'),
    config: {
      summary: 'Deliver work, a question, an update or an alert',
      parameters: [PARAMETERS.idempotencyKey],
      body: DeliverBody,
      response: { 201: DeliverReply, 200: DeliverReply },
    },
    preParsing: refuseFromLane,
    handler: async (request, reply) =>
      sendFull(reply, await deliver(shell, caller(request), request, request.body)),
  });
}

function readingRoutes(app: FastifyInstance, shell: Shell): void {
  const { room } = shell;
  promptRoutes(app, shell);
  app.route<ById>({
    ...onlyMethods(app, 'GET', '/wake/v1/response/:id'),
    config: {
      summary: 'The answer to one delivery',
      parameters: [PARAMETERS.wait, PARAMETERS.prefer],
      response: { 200: ResponseBody },
    },
    handler: (request, reply) => response(shell, request, reply),
  });
  app.route({
    ...onlyMethods(app, 'GET', '/wake/v1/responses'),
    config: {
      summary: 'Everything that changed since',
      parameters: SWEEP_PARAMETERS,
      response: { 200: SweepBody },
    },
    handler: async (request, reply) => {
      const { sinceGiven, ...query } = toSweep(request.query as Query, caller(request));
      const swept = await sweep(room, caller(request).key.space, query);
      return json(reply, 200, fromSwept(swept, sinceGiven));
    },
  });
  app.route<ById>({
    ...onlyMethods(app, 'POST', '/wake/v1/withdraw/:id'),
    config: {
      summary: 'Take back what nobody has decided yet',
      body: WithdrawBody,
      response: { 200: ResponseBody },
    },
    handler: async (request, reply) => {
      const { key } = caller(request);
      const { value } = objectBody(request.body);
      assertNoOtherAgent(value, caller(request));
      const id = knownId(request.params.id);
      const reason = requiredText(value, 'reason', LIMITS.reason);
      const outcome = await withdraw(room, key, id, reason);
      if (isFault(outcome) && outcome.fault === 'not_found') throw noDelivery();
      orThrow(outcome);
      return json(reply, 200, orMissing(await check(room, key.space, key.agent, id)).body);
    },
  });
}

function promptRoutes(app: FastifyInstance, { room, baseUrl }: Shell): void {
  const prompts = new Prompts();
  app.route<{ Params: { framework: string } }>({
    ...onlyMethods(app, 'GET', '/prompts/:framework'),
    config: {
      summary: 'What to tell the agent that this key belongs to, in the words of its framework',
      response: { 200: 'markdown' },
    },
    handler: async (request, reply) => {
      const framework = choice('framework', request.params.framework, FRAMEWORKS);
      const { agent, tier } = caller(request).key;
      const reader = { id: agent, url: baseUrl(), rates: room.settings.rates, tier };
      return reply.type('text/markdown; charset=utf-8').send(prompts.text(framework, reader));
    },
  });
}

/** Another major version gets an answer of its own: it may be served some day (W25). */
function noSuchAddress(request: FastifyRequest): Fault {
  const version = /^\/wake\/(v\d+)(?:[/?]|$)/.exec(request.url)?.[1];
  if (version === undefined || version === 'v1') return new Fault('not_found', 'WAKE has no such address.');
  return new Fault(
    'unsupported_version',
    `This server does not speak WAKE ${version}. Use ${VERSIONS.join(' or ')}.`,
    {
      extra: { supported: VERSIONS },
    },
  );
}

function caller(request: FastifyRequest): Identity {
  if (request.identity === null) throw new Error('a route without a caller');
  return request.identity;
}

/** Used by the framework's route and by the lane in front of it. */
async function deliver(
  { room }: Shell,
  identity: Identity,
  request: Headed,
  parsed: unknown,
): Promise<FullReply> {
  const { raw, value } = objectBody(parsed);
  const draft = toDraft(value, identity);
  const idempotencyKey = toIdempotencyKey(request.headers['idempotency-key']);
  const accepted = orThrow(await accept(room, { identity, draft, content: value, raw, idempotencyKey }));
  const { status, body } = fromAccepted(accepted);
  const rate = fromRateView(accepted.rate ?? (await lookAtRate(room, identity)));
  return {
    status,
    body,
    headers: [...rate, 'location', `/wake/v1/response/${accepted.id}`, ...JSON_HEADERS],
  };
}

function deliverLane(shell: Shell): Lane {
  return async (request) => {
    const identity = await identify(shell.room, request);
    return async (body) => {
      shell.presence.note(identity.key.space, identity.key.agent);
      return deliver(shell, identity, request, toJson(body));
    };
  };
}

function toIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const key = String(header);
  if (key !== '' && key.length <= LIMITS.idempotencyKey) return key;
  throw new Fault('invalid_field', `Idempotency-Key must have 1 to ${LIMITS.idempotencyKey} characters.`, {
    field: 'Idempotency-Key',
  });
}

/** Every answer says how many reads are left, even the one that says there are none (W5). */
function takeRead({ room }: Shell, reads: ReadLimits, request: FastifyRequest, reply: FastifyReply): void {
  const taken = reads.take(caller(request).key.id, room.clock.now());
  rateHeaders(reply, taken.view);
  if (taken.kind === 'empty') throw tooManyReads(taken.retryAfterSeconds);
}

/** A refused delivery costs nothing, and its answer still says how much is left (W5). */
async function showBucket({ room }: Shell, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.identity !== null) rateHeaders(reply, await lookAtRate(room, request.identity));
}

async function lookAtRate(room: Shell['room'], { key }: Identity): Promise<RateView> {
  const now = room.clock.now();
  const rate = room.settings.rates[key.tier];
  const head = await room.store.read(key.space, (tx) => tx.heads.get(`rate:${key.id}`));
  return look(toBucket(head, rate, now), rate, now);
}

async function response(
  shell: Shell,
  request: FastifyRequest<ById>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { key } = caller(request);
  const query = request.query as Query;
  assertNoOtherAgent({ agent_id: single(query, 'agent_id') }, caller(request));
  const millis = toWait(query, request.headers.prefer);
  const id = knownId(request.params.id);
  const see = async () => orMissing(await check(shell.room, key.space, key.agent, id));
  const first = await see();
  if (millis === 0 || first.answered) return json(reply, 200, first.body);
  const topics: Topic[] = [`answer:${id}`, accessTopic(key.space, key.agent)];
  const wait = { topics, millis, admit: () => identify(shell.room, request) };
  const body = await shell.parking.until(request.raw, wait, async () => {
    const seen = await see();
    return { found: seen.answered, value: seen.body };
  });
  return json(reply, 200, body);
}

/** Malformed, unknown and foreign ids answer alike (W14). */
function knownId(given: string): string {
  const id = toUuid(given);
  if (id === null) throw noDelivery();
  return id;
}

function orMissing(seen: Seen | null): Seen {
  if (seen === null) throw noDelivery();
  return seen;
}

function noDelivery(): Fault {
  return new Fault('not_found', 'There is no delivery with this id for this key.');
}

function json(reply: FastifyReply, status: number, body: string): FastifyReply {
  return sendFull(reply, { status, headers: JSON_HEADERS, body });
}
