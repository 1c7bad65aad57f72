import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject, type Json, type JsonObject } from '../../core/canonical.ts';
import { Fault } from '../../core/faults.ts';
import type { JsonBody } from '../../http/body.ts';
import { toFault } from '../../http/errors.ts';
import { enteredOf } from './door.ts';
import { restStatus, toRestError } from './errors.ts';
import { answerText, type SingleOperation, type StreamedCall } from './operations.ts';
import type { A2aParts } from './rpc-route.ts';
import { begin, pour } from './streaming.ts';
import { versionOf } from './versions.ts';

const BASE = '/@:handle/:agent';
/** Its own type for who knows it; the kits and many clients want plain JSON. */
function typeFor({ headers }: FastifyRequest): string {
  const isKnown = `${headers.accept} ${headers['content-type']}`.includes('a2a+json');
  return `application/${isKnown ? 'a2a+json' : 'json'}; charset=utf-8`;
}

type Params = { id: string; config: string };

/** HTTP+JSON 1.0 under an agent's address (A1). */
export function restRoutes(app: FastifyInstance, parts: A2aParts): void {
  app.setErrorHandler((error: FastifyError | Error, request, reply) => refuseRest(request, reply, error));
  const single =
    (operation: SingleOperation, params: (request: FastifyRequest) => JsonObject) =>
    (request: FastifyRequest, reply: FastifyReply) =>
      once(parts, request, reply, operation, params(request));
  // A colon in a route is written twice: one alone begins a parameter.
  app.post(`${BASE}/message::send`, single('send', bodyOf));
  app.post(`${BASE}/message::stream`, (request, reply) =>
    streamed(parts, request, reply, 'stream', bodyOf(request)),
  );
  app.get(
    `${BASE}/tasks`,
    single('list', (request) => typed(request.query)),
  );
  app.get<{ Params: Params }>(`${BASE}/tasks/:id`, (request, reply) => {
    const subscribed = verbOf(request, 'subscribe');
    if (subscribed !== null) return streamed(parts, request, reply, 'subscribe', { id: subscribed });
    return once(parts, request, reply, 'get', { ...typed(request.query), id: request.params.id });
  });
  app.post<{ Params: Params }>(`${BASE}/tasks/:id`, (request, reply) => {
    const canceled = verbOf(request, 'cancel');
    if (canceled !== null) return once(parts, request, reply, 'cancel', { id: canceled });
    const subscribed = verbOf(request, 'subscribe');
    if (subscribed !== null) return streamed(parts, request, reply, 'subscribe', { id: subscribed });
    throw new Fault('not_found', 'A task is canceled at {id}:cancel and followed at {id}:subscribe.');
  });
  const configs = `${BASE}/tasks/:id/pushNotificationConfigs`;
  app.post<{ Params: Params }>(
    configs,
    single('pushSet', (r) => ({ ...bodyOf(r), taskId: paramsOf(r).id })),
  );
  app.get<{ Params: Params }>(
    configs,
    single('pushList', (r) => ({ taskId: paramsOf(r).id })),
  );
  app.get(`${configs}/:config`, single('pushGet', ofConfig));
  app.delete(`${configs}/:config`, single('pushDelete', ofConfig));
  app.get(
    `${BASE}/extendedAgentCard`,
    single('extendedCard', () => ({})),
  );
}

function paramsOf(request: FastifyRequest): Params {
  return request.params as Params;
}

function ofConfig(request: FastifyRequest): JsonObject {
  const { id, config } = paramsOf(request);
  return { taskId: id, id: config };
}

/** `{id}:cancel`: the id, when this is the verb. */
function verbOf(request: FastifyRequest, verb: string): string | null {
  const { id } = paramsOf(request);
  return id.endsWith(`:${verb}`) ? id.slice(0, -verb.length - 1) : null;
}

/** A query has only texts; what looks like a number or a truth value is one. */
function typed(query: unknown): JsonObject {
  const params: JsonObject = {};
  if (!isJsonObject(query)) return params;
  for (const [name, value] of Object.entries(query)) params[name] = typedValue(name, value);
  return params;
}

const NUMBERS = new Set(['historyLength', 'history_length', 'pageSize', 'page_size']);

function typedValue(name: string, value: Json): Json {
  if (NUMBERS.has(name) && typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (value === 'true' || value === 'false') return value === 'true';
  return value;
}

function bodyOf(request: FastifyRequest): JsonObject {
  const body = request.body as JsonBody | null | undefined;
  if (body === null || body === undefined || !isJsonObject(body.value))
    throw new Fault('malformed_body', 'The body must be a JSON object.');
  return body.value;
}

async function callOf(
  parts: A2aParts,
  request: FastifyRequest,
  reply: FastifyReply,
  params: JsonObject,
): Promise<StreamedCall> {
  const entered = enteredOf(request);
  if (versionOf(request) === '0.3')
    throw new Fault('unsupported_version', 'HTTP+JSON is served in 1.0 here; 0.3 speaks JSON-RPC.', {
      field: 'A2A-Version',
    });
  return { ...parts, request, reply, entered, version: '1.0', params };
}

async function once(
  parts: A2aParts,
  request: FastifyRequest,
  reply: FastifyReply,
  operation: SingleOperation,
  params: JsonObject,
): Promise<FastifyReply> {
  const text = await answerText(await callOf(parts, request, reply, params), operation);
  return reply.header('content-type', typeFor(request)).send(text);
}

async function streamed(
  parts: A2aParts,
  request: FastifyRequest,
  reply: FastifyReply,
  operation: 'stream' | 'subscribe',
  params: JsonObject,
): Promise<FastifyReply> {
  const call = await callOf(parts, request, reply, params);
  await pour(call, await begin(call, operation), (result) => result);
  return reply;
}

function refuseRest(request: FastifyRequest, reply: FastifyReply, error: FastifyError | Error): FastifyReply {
  const fault = toFault(error);
  if (fault.fault === 'internal')
    request.log.error({ err: error, url: request.routeOptions.url }, 'unexpected error');
  if (fault.fault === 'unauthorized') reply.header('www-authenticate', 'Bearer realm="a2a"');
  if (fault.detail.retryAfter !== undefined) reply.header('retry-after', String(fault.detail.retryAfter));
  return reply
    .code(restStatus(fault))
    .headers({ 'content-type': typeFor(request), 'cache-control': 'no-store' })
    .send(JSON.stringify(toRestError(fault)));
}
