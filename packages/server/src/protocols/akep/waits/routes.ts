import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { accessTopic } from '../../../core/access.ts';
import { fromCursor, type Reader, toCursor } from '../../../core/events/inbox/cursor.ts';
import { MOST_WAITS } from '../../../core/events/place.ts';
import { type ReadResumes, readResumes } from '../../../core/events/waits/resumes.ts';
import { fromResume } from '../../../core/events/waits/wait.ts';
import { endWait, openWait, setPolicy } from '../../../core/events/waits/waiting.ts';
import { orThrow } from '../../../core/faults.ts';
import type { Topic } from '../../../core/store.ts';
import { onlyLastingGet } from '../../../http/methods.ts';
import { cursorOf, type Query } from '../../../http/reading/fields.ts';
import type { Shell } from '../../../http/shell.ts';
import { fromPolicy, fromWait, toLimit, toPolicy, toWait, toWaitMs } from '../mapping.ts';
import { type ById, caller, jsonBody, readerOf, stillValid } from '../request.ts';
import { PolicyBody, PolicyChange, QUERY, ResumesBody, WaitBody, WaitsView, WaitView } from '../schema.ts';

/** Paused runs: what they wait for, what has woken them, and how far an event may go (K20, K21). */
export function waitRoutes(door: FastifyInstance, shell: Shell): void {
  waits(door, shell);
  policy(door, shell);
  resumes(door, shell);
}

const ALL = '/akep/waits';

function waits(door: FastifyInstance, { room }: Shell): void {
  const list = { summary: 'The open waits', response: { 200: WaitsView } };
  door.get(ALL, { config: list }, async (request) => {
    const { space, agent } = readerOf(request);
    const now = room.clock.now();
    const open = await room.store.read(space, (tx) => tx.waits.open(agent, now, MOST_WAITS));
    return { waits: open.map(fromWait) };
  });
  const add = { summary: 'Wait for an event', body: WaitBody, response: { 201: WaitView } };
  door.post(ALL, { config: add }, async (request, reply) => {
    const made = { ...readerOf(request), id: `wait_${room.ids.letters(16)}`, now: room.clock.now() };
    const wait = orThrow(await openWait(room, toWait(jsonBody(request), made)));
    return reply.code(201).header('location', `${ALL}/${wait.id}`).send(fromWait(wait));
  });
  door.route<ById>({
    method: 'DELETE',
    url: `${ALL}/:id`,
    config: { summary: 'End a wait', response: { 204: null } },
    handler: async (request, reply) => {
      orThrow(await endWait(room, readerOf(request), request.params.id));
      return reply.code(204).send();
    },
  });
}

function resumes(door: FastifyInstance, shell: Shell): void {
  const { room } = shell;
  door.route({
    method: 'GET',
    url: '/akep/resumes',
    config: {
      summary: 'Which runs were woken',
      parameters: [QUERY.cursor, QUERY.limit],
      response: { 200: ResumesBody },
    },
    handler: async (request) => {
      const reader = readerOf(request);
      const query = request.query as Query;
      const read = orThrow(await readResumes(room, reader, toAfter(room, reader, query), toLimit(query)));
      return fromResumes(room, reader, read);
    },
  });
  door.route({
    ...onlyLastingGet(door, '/akep/resumes/wait'),
    config: {
      summary: 'Which runs were woken, as soon as there is one',
      parameters: [QUERY.cursor, QUERY.limit, QUERY.timeout],
      response: { 200: ResumesBody, 204: null },
    },
    handler: (request, reply) => waitForResumes(shell, request, reply),
  });
}

/** K41: a page when there is one, 204 when the time is over. A resume is announced with the event that caused it. */
async function waitForResumes(
  { room, parking }: Shell,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const reader = readerOf(request);
  const query = request.query as Query;
  const limit = toLimit(query);
  const after = toAfter(room, reader, query);
  const { space, agent } = reader;
  const { digest } = caller(request).key;
  const topics: Topic[] = [`inbox:${space}:${agent}`, accessTopic(space, agent)];
  const park = { topics, millis: toWaitMs(query), admit: () => stillValid(room, digest) };
  const read = await parking.until(request.raw, park, async () => {
    const value = orThrow(await readResumes(room, reader, after, limit));
    return { found: value.resumes.length > 0, value };
  });
  return read.resumes.length > 0 ? reply.send(fromResumes(room, reader, read)) : reply.code(204).send();
}

function toAfter(room: Shell['room'], reader: Reader, query: Query): number | null {
  const cursor = cursorOf(query);
  return cursor === null ? null : orThrow(fromCursor(room, 'resumes', reader, cursor));
}

function fromResumes(room: Shell['room'], reader: Reader, read: ReadResumes) {
  return {
    resumes: read.resumes.map(fromResume),
    next_cursor: toCursor(room, 'resumes', reader, read.after),
    has_more: read.hasMore,
  };
}

function policy(door: FastifyInstance, { room }: Shell): void {
  const show = { summary: "The agent's own policy", response: { 200: PolicyBody } };
  door.get('/akep/policy', { config: show }, async (request) => {
    const { space, agent } = readerOf(request);
    return fromPolicy(await room.store.read(space, (tx) => tx.waits.settings(agent)));
  });
  const change = { ...show, summary: "Change the agent's own policy", body: PolicyChange };
  door.put('/akep/policy', { config: change }, async (request) => {
    const body = jsonBody(request);
    return fromPolicy(await setPolicy(room, readerOf(request), (before) => toPolicy(body, before)));
  });
}
