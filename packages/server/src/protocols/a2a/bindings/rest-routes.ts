import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { isJsonObject, type Json, type JsonObject } from '../../../core/canonical.ts';
import { Fault } from '../../../core/faults.ts';
import type { Described } from '../../../http/app.ts';
import { logFault, toFault } from '../../../http/errors.ts';
import { describeDoor } from '../../../http/pages/openapi.ts';
import { asksFor } from '../../../http/reading/accept.ts';
import type { JsonBody } from '../../../http/reading/body.ts';
import { versionOf } from '../dialects/versions.ts';
import { enteredOf } from '../door.ts';
import { noSuchAddress, restStatus, toRestError } from '../errors.ts';
import {
  CardBody,
  HISTORY,
  LIST_QUERY,
  PAGE,
  PushBody,
  PushListBody,
  PushReply,
  RestErrorForm,
  SendBody,
  SendReply,
  TaskBody,
  TaskListBody,
} from '../schema.ts';
import { answerText, type SingleOperation, type StreamedCall } from '../tasks/operations.ts';
import { begin, pour } from '../tasks/streaming.ts';
import type { A2aParts } from './rpc-route.ts';

const BASE = '/@:handle/:agent';
export const A2A_JSON = 'application/a2a+json';

/** A2A's own media type for clients that ask for it; SDKs and many others want plain JSON. */
function typeFor({ headers }: FastifyRequest): string {
  const isSent = headers['content-type']?.toLowerCase().startsWith(A2A_JSON) === true;
  const type = isSent || asksFor(A2A_JSON, headers.accept) ? A2A_JSON : 'application/json';
  return `${type}; charset=utf-8`;
}

type Params = { id: string; config: string };

/** What /openapi.json says of each operation. */
const DESCRIBED = {
  send: { summary: 'Send a message to an agent (A2A 1.0)', body: SendBody, response: { 200: SendReply } },
  stream: {
    summary: 'Send a message and follow what comes of it',
    body: SendBody,
    response: { 200: 'stream' },
  },
  list: { summary: 'Your tasks at an agent', response: { 200: TaskListBody }, parameters: LIST_QUERY },
  get: { summary: 'One task', response: { 200: TaskBody }, parameters: HISTORY },
  cancel: { summary: 'Cancel a task', response: { 200: TaskBody } },
  subscribe: { summary: 'Follow a task', response: { 200: 'stream' } },
  pushSet: { summary: 'Have news of a task pushed', body: PushBody, response: { 200: PushReply } },
  pushList: {
    summary: 'Where news of a task is pushed',
    response: { 200: PushListBody },
    parameters: PAGE,
  },
  pushGet: { summary: 'One push configuration', response: { 200: PushReply } },
  pushDelete: { summary: 'End a push configuration', response: { 200: Type.Object({}) } },
  extendedCard: { summary: 'The card for those who may call', response: { 200: CardBody } },
} satisfies Record<string, Described>;

/** HTTP+JSON 1.0 under an agent's address (A1). */
export function restRoutes(app: FastifyInstance, parts: A2aParts): void {
  app.setErrorHandler((error: FastifyError | Error, request, reply) => refuseRest(request, reply, error));
  describeDoor(app, { refusal: RestErrorForm, alias: A2A_JSON });
  const single =
    (operation: SingleOperation, params: (request: FastifyRequest) => JsonObject) =>
    (request: FastifyRequest, reply: FastifyReply) =>
      once(callOf(parts, { request, reply }, params(request)), operation);
  // A colon in a route is written twice: one alone begins a parameter.
  app.post(`${BASE}/message::send`, { config: DESCRIBED.send }, single('send', bodyOf));
  app.post(`${BASE}/message::stream`, { config: DESCRIBED.stream }, (request, reply) =>
    streamed(callOf(parts, { request, reply }, bodyOf(request)), 'stream'),
  );
  app.get(
    `${BASE}/tasks`,
    { config: DESCRIBED.list },
    single('list', (request) => typed(request.query)),
  );
  taskRoutes(app, parts);
  const configs = `${BASE}/tasks/:id/pushNotificationConfigs`;
  // After the caller is identified: a stranger is not told which addresses an agent has (A21).
  const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
    const fault = parts.shell.addresses.wrongMethod(request, reply);
    if (fault !== undefined) throw fault;
    return refuseAddress(request, reply);
  };
  app.all(`${BASE}/*`, { onRequest: refuse }, refuse);
  app.post(
    configs,
    { config: DESCRIBED.pushSet },
    single('pushSet', (r) => ({ ...bodyOf(r), taskId: paramsOf(r).id })),
  );
  app.get(
    configs,
    { config: DESCRIBED.pushList },
    single('pushList', (r) => ({ ...typed(r.query), taskId: paramsOf(r).id })),
  );
  app.get(`${configs}/:config`, { config: DESCRIBED.pushGet }, single('pushGet', ofConfig));
  app.delete(`${configs}/:config`, { config: DESCRIBED.pushDelete }, single('pushDelete', ofConfig));
  app.get(
    `${BASE}/extendedAgentCard`,
    { config: DESCRIBED.extendedCard },
    single('extendedCard', () => ({})),
  );
}

/** One task and its operations: the verb follows the id. */
function taskRoutes(app: FastifyInstance, parts: A2aParts): void {
  const { cancel, subscribe, get } = DESCRIBED;
  const reading = { ...get, verbs: { subscribe } };
  app.get<{ Params: Params }>(`${BASE}/tasks/:id`, { config: reading }, (request, reply) => {
    const callWith = (params: JsonObject) => callOf(parts, { request, reply }, params);
    const subscribed = verbOf(request, 'subscribe');
    if (subscribed !== null) return streamed(callWith({ id: subscribed }), 'subscribe');
    if (verbOf(request, 'cancel') !== null) throw otherMethod(reply, 'POST');
    return once(callWith({ ...typed(request.query), id: request.params.id }), 'get');
  });
  const doing = { verbs: { cancel, subscribe } };
  app.post<{ Params: Params }>(`${BASE}/tasks/:id`, { config: doing }, (request, reply) => {
    const callWith = (params: JsonObject) => callOf(parts, { request, reply }, params);
    const canceled = verbOf(request, 'cancel');
    if (canceled !== null) return once(callWith({ id: canceled }), 'cancel');
    const subscribed = verbOf(request, 'subscribe');
    if (subscribed !== null) return streamed(callWith({ id: subscribed }), 'subscribe');
    if (request.params.id.includes(':')) return refuseAddress(request, reply);
    throw otherMethod(reply, 'GET');
  });
}

/** Not "not found": a client would think that the task is missing. */
function otherMethod(reply: FastifyReply, allowed: 'GET' | 'POST'): Fault {
  reply.header('allow', allowed);
  return new Fault(
    'method_not_allowed',
    `Only ${allowed} works here. A task is read at {id}, canceled by POST at {id}:cancel and followed at {id}:subscribe.`,
  );
}

function paramsOf(request: FastifyRequest): Params {
  return request.params as Params;
}

function ofConfig(request: FastifyRequest): JsonObject {
  const { id, config } = paramsOf(request);
  return { taskId: id, id: config };
}

/** For `{id}:cancel` with this verb, the id. */
function verbOf(request: FastifyRequest, verb: string): string | null {
  const { id } = paramsOf(request);
  return id.endsWith(`:${verb}`) ? id.slice(0, -verb.length - 1) : null;
}

/** A query holds only text; what looks like a number or a boolean becomes one. */
function typed(query: unknown): JsonObject {
  const params: JsonObject = {};
  if (!isJsonObject(query)) return params;
  for (const [name, value] of Object.entries(query)) params[name] = typedValue(name, value);
  return params;
}

const NUMBERS = new Set(['historyLength', 'history_length', 'pageSize', 'page_size']);
const FLAGS = new Set(['includeArtifacts', 'include_artifacts']);

function typedValue(name: string, value: Json): Json {
  if (NUMBERS.has(name) && typeof value === 'string' && /^-?\d{1,15}$/.test(value)) return Number(value);
  if (FLAGS.has(name) && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

function bodyOf(request: FastifyRequest): JsonObject {
  const body = request.body as JsonBody | null | undefined;
  if (body === null || body === undefined || !isJsonObject(body.value))
    throw new Fault('malformed_body', 'The body must be a JSON object.');
  return body.value;
}

type Exchange = { request: FastifyRequest; reply: FastifyReply };

function callOf(parts: A2aParts, { request, reply }: Exchange, params: JsonObject): StreamedCall {
  const entered = enteredOf(request);
  if (versionOf(request) === '0.3')
    throw new Fault('unsupported_version', 'HTTP+JSON is served in 1.0 here; 0.3 speaks JSON-RPC.', {
      field: 'A2A-Version',
    });
  return { ...parts, request, reply, response: reply.raw, entered, version: '1.0', params };
}

async function once(call: StreamedCall, operation: SingleOperation): Promise<FastifyReply> {
  const text = await answerText(call, operation);
  return call.reply.header('content-type', typeFor(call.request)).send(text);
}

async function streamed(call: StreamedCall, operation: 'stream' | 'subscribe'): Promise<FastifyReply> {
  await pour(call, await begin(call, operation), (result) => result);
  return call.reply;
}

async function refuseAddress(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return sendError(request, reply.code(404), noSuchAddress());
}

function refuseRest(request: FastifyRequest, reply: FastifyReply, error: FastifyError | Error): FastifyReply {
  const fault = toFault(error);
  logFault(request, error, fault);
  if (fault.fault === 'unauthorized') reply.header('www-authenticate', 'Bearer realm="a2a"');
  if (fault.detail.retryAfter !== undefined) reply.header('retry-after', String(fault.detail.retryAfter));
  return sendError(request, reply.code(restStatus(fault)), toRestError(fault));
}

function sendError(request: FastifyRequest, reply: FastifyReply, body: object): FastifyReply {
  return reply
    .headers({ 'content-type': typeFor(request), 'cache-control': 'no-store' })
    .send(JSON.stringify(body));
}
