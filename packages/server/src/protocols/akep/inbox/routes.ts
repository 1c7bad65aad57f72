import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { accessTopic } from '../../../core/access.ts';
import type { Identity } from '../../../core/agents/key.ts';
import { acknowledge } from '../../../core/events/inbox/ack.ts';
import { fromCursor, type Reader, toCursor } from '../../../core/events/inbox/cursor.ts';
import {
  type Item,
  type Read,
  readEvent,
  readInbox,
  readLast,
  readPieces,
} from '../../../core/events/inbox/inbox.ts';
import { readTask } from '../../../core/events/reading/task.ts';
import { type Fault, orThrow } from '../../../core/faults.ts';
import { JSON_HEADERS, sendAtOnce, sendParts } from '../../../http/fast-lane.ts';
import { onlyLastingGet } from '../../../http/methods.ts';
import { asksFor } from '../../../http/reading/accept.ts';
import { cursorOf, type Query, single } from '../../../http/reading/fields.ts';
import type { Shell } from '../../../http/shell.ts';
import { LARGE_BYTES } from '../../../http/waiting/large-answers.ts';
import { SharedLooks } from '../../../http/waiting/shared-looks.ts';
import { CLOUDEVENTS, cloudTextOf } from '../ingest/cloudevents.ts';
import { fromEntryAck, fromPage, textOf, toAck, toLast, toLimit, toWaitMs } from '../mapping.ts';
import { type ById, caller, json, optionalJson, readerOf, stillValid } from '../request.ts';
import { AckBody, AckedBody, EventView, PageBody, QUERY, TaskBody } from '../schema.ts';
import { stream } from './stream.ts';

/** Reading an inbox by page, by waiting, live or one by one, and acknowledging. */
export function inboxRoutes(door: FastifyInstance, shell: Shell): void {
  pageRoutes(door, shell);
  eventRoutes(door, shell);
  const { room } = shell;
  door.route<ById>({
    method: 'GET',
    url: '/akep/tasks/:id',
    config: { summary: 'The state of a task, from its events', response: { 200: TaskBody } },
    handler: async (request) => orThrow(await readTask(room, readerOf(request), request.params.id)),
  });
}

function pageRoutes(door: FastifyInstance, shell: Shell): void {
  const { room } = shell;
  const looks: Looks = {
    pages: new SharedLooks(shell.wakeups),
    keys: new SharedLooks(shell.wakeups),
    texts: new WeakMap(),
  };
  const config = {
    summary: "The agent's inbox, page by page",
    parameters: [QUERY.cursor, QUERY.limit, QUERY.last],
    response: { 200: PageBody },
  };
  door.get('/akep/events', { config }, async (request, reply) => {
    const reader = readerOf(request);
    const query = request.query as Query;
    const limit = toLimit(query);
    const last = toLast(query);
    await turnOf(shell, request, reply);
    if (last !== null) return sendPage(room, request, reply, await readLast(room, reader, last));
    const after = toAfter(room, reader, query);
    if (wantsCloud(request))
      return sendPage(room, request, reply, orThrow(await readInbox(room, reader, after, { limit })));
    const read = orThrow(await readPieces(room, reader, after, limit));
    return sendParts(reply, JSON_HEADERS, fromPage(room, reader, read));
  });
  door.route({
    ...onlyLastingGet(door, '/akep/events/wait'),
    config: {
      summary: 'The next page, as soon as there is one',
      parameters: [QUERY.cursor, QUERY.limit, QUERY.timeout],
      response: { 200: PageBody, 204: null },
    },
    handler: (request, reply) => wait(shell, looks, request, reply),
  });
  door.route({
    ...onlyLastingGet(door, '/akep/events/stream'),
    handler: (request, reply) => stream(shell, request, reply),
  });
}

/** A page may hold megabytes; how many is known only when they are in memory. */
async function turnOf(
  { room, largeAnswers }: Shell,
  request: FastifyRequest,
  reply: FastifyReply,
  bytes = LARGE_BYTES,
): Promise<void> {
  const { space, agent, digest } = caller(request).key;
  const hasWaited = await largeAnswers.turn(`${space}/${agent}`, bytes, reply.raw);
  if (hasWaited) await stillValid(room, digest);
}

/** When thousands of readers of one inbox wake together, it is read once for all. */
type Looks = { pages: SharedLooks<Read | Fault>; keys: SharedLooks<Identity>; texts: WeakMap<Read, string> };

/** Less than in an ordinary page, because it is held while its reader waits for a turn. */
const WOKEN_BYTES = 1024 * 1024;

const bytesOf = ({ items }: Read) => items.reduce((sum, { bytes }) => sum + bytes.length, 0);

/** K12: a page when there is one, 204 when the time is over. */
async function wait(
  shell: Shell,
  looks: Looks,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { room, parking } = shell;
  const reader = readerOf(request);
  const query = request.query as Query;
  const topic = `inbox:${reader.space}:${reader.agent}` as const;
  const limit = toLimit(query);
  const after = toAfter(room, reader, query);
  const { digest } = caller(request).key;
  const access = accessTopic(reader.space, reader.agent);
  const admit = () => looks.keys.ask(access, digest, () => stillValid(room, digest));
  const park = { topics: [topic, access], millis: toWaitMs(query), admit };
  const look = () => readInbox(room, reader, after, { limit, bytes: WOKEN_BYTES });
  const read = await parking.until(request.raw, park, async () => {
    const value = orThrow(await looks.pages.ask(topic, `${after} ${limit}`, look));
    return { found: value.items.length > 0, value };
  });
  if (read.items.length === 0) return reply.code(204).send();
  await turnOf(shell, request, reply, bytesOf(read));
  if (wantsCloud(request)) return sendPage(room, request, reply, read);
  let text = looks.texts.get(read);
  if (text === undefined) {
    text = Buffer.concat(fromPage(room, reader, read)).toString();
    looks.texts.set(read, text);
  }
  return sendAtOnce(reply, { status: 200, headers: JSON_HEADERS, body: text });
}

function eventRoutes(door: FastifyInstance, shell: Shell): void {
  const { room } = shell;
  door.route<ById>({
    method: 'GET',
    url: '/akep/events/:id',
    config: { summary: 'One event', parameters: [QUERY.producer], response: { 200: EventView } },
    handler: async (request, reply) => {
      const reader = readerOf(request);
      const producer = single(request.query as Query, 'producer_id');
      const { entry, text } = orThrow(await readEvent(room, reader, request.params.id, producer));
      await turnOf(shell, request, reply, text.length);
      const cursor = toCursor(room, 'events', reader, entry.offset);
      const event = wantsCloud(request) ? cloudTextOf(text) : text;
      const ack = JSON.stringify(fromEntryAck(entry));
      return json(reply, 200, `{"event":${event},"cursor":"${cursor}","ack":${ack}}`);
    },
  });
  door.route<ById>({
    method: 'POST',
    url: '/akep/events/:id/ack',
    config: {
      summary: 'What became of an event',
      parameters: [QUERY.producer],
      body: AckBody,
      bodyOptional: true,
      response: { 200: AckedBody },
    },
    handler: async (request) => {
      const ack = toAck(optionalJson(request));
      const producer = single(request.query as Query, 'producer_id');
      const acknowledging = { eventId: request.params.id, producer, ...ack };
      const entry = orThrow(await acknowledge(room, readerOf(request), acknowledging));
      return { event_id: entry.eventId, ...fromEntryAck(entry) };
    },
  });
}

function sendPage(
  room: Shell['room'],
  request: FastifyRequest,
  reply: FastifyReply,
  read: Read,
): FastifyReply {
  const toCloud = (item: Item) => ({ bytes: Buffer.from(cloudTextOf(textOf(item))) });
  const items = wantsCloud(request) ? read.items.map(toCloud) : read.items;
  return sendParts(reply, JSON_HEADERS, fromPage(room, readerOf(request), { ...read, items }));
}

function wantsCloud(request: FastifyRequest): boolean {
  return asksFor(CLOUDEVENTS, request.headers.accept);
}

function toAfter(room: Shell['room'], reader: Reader, query: Query): number | null {
  const cursor = cursorOf(query);
  return cursor === null ? null : orThrow(fromCursor(room, 'events', reader, cursor));
}
