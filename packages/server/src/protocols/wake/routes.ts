import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Identity } from '../../core/agents/key.ts';
import { accept, toBucket } from '../../core/deliveries/accept.ts';
import { check, type Seen, sweep } from '../../core/deliveries/sweep.ts';
import { withdraw } from '../../core/deliveries/withdraw.ts';
import { Fault, isFault, orThrow } from '../../core/faults.ts';
import { isUuid } from '../../core/ids.ts';
import { look } from '../../core/rate.ts';
import { identify, ReadLimits, rateHeaders, tooManyReads } from '../../http/agent-key.ts';
import { objectBody } from '../../http/body.ts';
import { errorHandler } from '../../http/errors.ts';
import { type Query, requiredText } from '../../http/fields.ts';
import { onlyMethods } from '../../http/methods.ts';
import type { Shell } from '../../http/shell.ts';
import { WAKE_DOOR } from './errors.ts';
import { fromAccepted, fromCard, fromSwept, toDraft, toSweep, toWait } from './mapping.ts';
import {
  DeliverBody,
  DeliverReply,
  LIMITS,
  ResponseBody,
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

/** The WAKE door: four addresses and the well-known document. */
export async function wakeRoutes(app: FastifyInstance, shell: Shell): Promise<void> {
  const { room } = shell;
  const reads = new ReadLimits();
  app.setErrorHandler(errorHandler(WAKE_DOOR, shell.baseUrl));

  app.register(async (door) => {
    door.setErrorHandler(errorHandler(WAKE_DOOR, shell.baseUrl));
    // Who is calling comes first: nobody's body is read before that.
    door.addHook('onRequest', async (request) => {
      request.identity = await identify(room, request);
    });
    door.register(async (delivering) => deliveringRoutes(delivering, shell));
    door.register(async (reading) => {
      reading.addHook('onRequest', async (request, reply) => takeRead(shell, reads, request, reply));
      readingRoutes(reading, shell);
    });
  });

  app.get('/.well-known/wake.json', async (request, reply) => {
    if (request.headers.authorization !== undefined) {
      request.identity = await identify(room, request);
      takeRead(shell, reads, request, reply);
    }
    return json(reply, 200, JSON.stringify(fromCard(shell, request.identity)));
  });

  // Before the body is looked at: another version may well speak another format (W25).
  app.all('/wake/*', { onRequest: noSuchAddress }, noSuchAddress);
}

function deliveringRoutes(app: FastifyInstance, shell: Shell): void {
  app.addHook('onError', (request, reply) => showBucket(shell, request, reply));
  app.route({
    ...onlyMethods(app, 'POST', '/wake/v1/deliver'),
    config: {
      summary: 'Deliver work, a question, an update or an alert',
      body: DeliverBody,
      response: { 201: DeliverReply },
    },
    handler: (request, reply) => deliver(shell, request, reply),
  });
}

function readingRoutes(app: FastifyInstance, shell: Shell): void {
  const { room } = shell;
  app.route<ById>({
    ...onlyMethods(app, 'GET', '/wake/v1/response/:id'),
    config: { summary: 'The answer to one delivery', response: { 200: ResponseBody } },
    handler: (request, reply) => response(shell, request, reply),
  });
  app.route({
    ...onlyMethods(app, 'GET', '/wake/v1/responses'),
    config: { summary: 'Everything that changed since', response: { 200: SweepBody } },
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
      const id = knownId(request.params.id);
      const reason = requiredText(objectBody(request.body).value, 'reason', LIMITS.reason);
      const outcome = await withdraw(room, key, id, reason);
      if (isFault(outcome) && outcome.fault === 'not_found') throw noDelivery();
      orThrow(outcome);
      return json(reply, 200, orMissing(await check(room, key.space, key.agent, id)).body);
    },
  });
}

async function noSuchAddress(request: FastifyRequest): Promise<never> {
  const version = /^\/wake\/(v\d+)(?:[/?]|$)/.exec(request.url)?.[1];
  if (version === undefined || version === 'v1') throw new Fault('not_found', 'WAKE has no such address.');
  throw new Fault('unsupported_version', `This server does not speak WAKE ${version}.`, {
    extra: { supported: VERSIONS },
  });
}

function caller(request: FastifyRequest): Identity {
  if (request.identity === null) throw new Error('a route without a caller');
  return request.identity;
}

async function deliver({ room }: Shell, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const identity = caller(request);
  const { raw, value } = objectBody(request.body);
  const draft = toDraft(value, identity);
  const idempotencyKey = toIdempotencyKey(request.headers['idempotency-key']);
  const accepted = orThrow(await accept(room, { identity, draft, content: value, raw, idempotencyKey }));
  const { status, body } = fromAccepted(accepted);
  if (accepted.rate === null) await showRate(room, identity, reply);
  else rateHeaders(reply, accepted.rate);
  return json(reply.header('location', `/wake/v1/response/${accepted.id}`), status, body);
}

function toIdempotencyKey(header: string | string[] | undefined): string | null {
  if (header === undefined) return null;
  const key = String(header);
  if (key !== '' && key.length <= LIMITS.idempotencyKey) return key;
  throw new Fault('invalid_field', `Idempotency-Key must have 1 to ${LIMITS.idempotencyKey} characters.`, {
    field: 'Idempotency-Key',
  });
}

/** Every answer tells how many reads are left, also the one that says there are none (W5). */
function takeRead({ room }: Shell, reads: ReadLimits, request: FastifyRequest, reply: FastifyReply): void {
  const taken = reads.take(caller(request).key.id, room.clock.now());
  rateHeaders(reply, taken.view);
  if (taken.kind === 'empty') throw tooManyReads(taken.retryAfterSeconds);
}

/** A refused delivery cost nothing, and its answer still tells how much is left (W5). */
async function showBucket({ room }: Shell, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  if (request.identity !== null) await showRate(room, request.identity, reply);
}

async function showRate(room: Shell['room'], { key }: Identity, reply: FastifyReply): Promise<void> {
  const now = room.clock.now();
  const rate = room.settings.rates[key.tier];
  const head = await room.store.read(key.space, (tx) => tx.heads.get(`rate:${key.id}`));
  rateHeaders(reply, look(toBucket(head, rate, now), rate, now));
}

async function response(
  shell: Shell,
  request: FastifyRequest<ById>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { key } = caller(request);
  const millis = toWait(request.query as Query, request.headers.prefer);
  const id = knownId(request.params.id);
  const see = async () => orMissing(await check(shell.room, key.space, key.agent, id));
  const first = await see();
  if (millis === 0 || first.answered) return json(reply, 200, first.body);
  const body = await shell.parking.until(request.raw, { topic: `answer:${id}`, millis }, async () => {
    const seen = await see();
    return { found: seen.answered, value: seen.body };
  });
  return json(reply, 200, body);
}

/** Malformed, unknown and foreign ids answer alike (W14). */
function knownId(id: string): string {
  if (!isUuid(id)) throw noDelivery();
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
  return reply
    .code(status)
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(body);
}
