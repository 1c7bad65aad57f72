import type { FastifyInstance, FastifyRequest } from 'fastify';
import { noAgent } from '../../core/agents/on-agent.ts';
import type { EventRecord } from '../../core/events/event.ts';
import { envelopeText } from '../../core/events/inbox/outgoing.ts';
import { replay } from '../../core/events/inbox/replay.ts';
import {
  type EventDetail,
  type InboxView,
  listEntries,
  listInboxes,
  showEvent,
  showInbox,
} from '../../core/events/reading/desk.ts';
import type { EntryPlace, Page } from '../../core/events/store.ts';
import { Fault, orThrow } from '../../core/faults.ts';
import type { Room } from '../../core/room.ts';
import { toIso } from '../../core/time.ts';
import { cursorOf, type Query, single, wholeQuery } from '../../http/reading/fields.ts';
import type { Shell } from '../../http/shell.ts';
import { nextAgent, toAgentQuery } from '../agents/reading.ts';
import { requireRole } from '../auth.ts';
import { fromJob } from '../mapping.ts';
import { caller } from '../person.ts';

type ByEvent = { Params: { agent: string; event: string } };

/** Inboxes, what is in them, and where it came from. */
export function eventRoutes(app: FastifyInstance, { room }: Shell): void {
  app.get('/desk/inboxes', async (request) => {
    const query = toAgentQuery(request.query as Query);
    const inboxes = await listInboxes(room, caller(request).space, query);
    const names = inboxes.map(({ agent: id }) => ({ id }));
    return { inboxes: inboxes.map(fromInbox), next_cursor: nextAgent(names, query) };
  });

  app.get<{ Params: { agent: string } }>('/desk/inboxes/:agent', async (request) => {
    const inbox = await showInbox(room, caller(request).space, request.params.agent);
    if (inbox === null) throw noAgent();
    return fromInbox(inbox);
  });

  app.get('/desk/events', async (request) => list(room, request));

  app.get<ByEvent>('/desk/events/:agent/:event', async (request) => show(room, request));

  // The exact bytes, as text that no browser will run: parsing would already change some numbers.
  app.get<ByEvent>('/desk/events/:agent/:event/raw', async (request, reply) => {
    const { text } = await found(room, request);
    return reply
      .header('content-type', 'text/plain; charset=utf-8')
      .header('content-disposition', 'attachment; filename="event.json"')
      .send(text);
  });

  app.post<ByEvent>('/desk/events/:agent/:event/replay', async (request, reply) => {
    const person = caller(request);
    requireRole(person, 'decider');
    const { agent, event: eventId } = request.params;
    const producer = single(request.query as Query, 'producer_id');
    const { offset } = orThrow(await replay(room, person, { agent, eventId, producer }));
    return reply.code(201).send({ agent_id: agent, event_id: eventId, offset });
  });
}

function fromInbox(inbox: InboxView) {
  return {
    agent_id: inbox.agent,
    last_offset: inbox.last,
    oldest_offset: inbox.oldest,
    unacknowledged: inbox.unacknowledged,
    open_waits: inbox.openWaits,
    resumes: inbox.resumes,
  };
}

async function list(room: Room, request: FastifyRequest) {
  const query = request.query as Query;
  const limit = wholeQuery(query, 'limit', { least: 1, most: 200 }) ?? 50;
  const agent = single(query, 'agent');
  const after = toPlace(cursorOf(query), agent);
  const page = await listEntries(room, caller(request).space, { agent, after, limit });
  const last = page.at(-1)?.entry;
  const more = page.length === limit && last !== undefined;
  return {
    events: page.map((one) => fromEntry(one)),
    next_cursor: more ? fromPlace({ seq: last.eventSeq, agent: last.agent, place: last.offset }) : null,
  };
}

const NO_END = Number.MAX_SAFE_INTEGER;

function fromPlace({ seq, agent, place }: EntryPlace): string {
  return Buffer.from(JSON.stringify([seq, agent, place])).toString('base64url');
}

function toPlace(cursor: string | null, agent: string | null): EntryPlace {
  if (cursor === null) return { seq: NO_END, agent: '', place: agent === null ? 0 : NO_END };
  try {
    const [seq, of, place] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Number.isSafeInteger(seq) && typeof of === 'string' && Number.isSafeInteger(place))
      return { seq, agent: of, place };
  } catch {}
  throw new Fault('invalid_field', 'This cursor is not one of ours; start again without it.', {
    field: 'cursor',
  });
}

function fromEntry({ entry, event }: Page[number]) {
  const { source, knowledge } = JSON.parse(envelopeText(event)) as {
    source: { producer_id: string; name: string; type: string };
    knowledge: { summary: string };
  };
  return {
    agent_id: entry.agent,
    offset: entry.offset,
    ...fromEvent(event),
    source: { producer_id: source.producer_id, name: source.name, type: source.type },
    summary: knowledge.summary,
    received_at: toIso(entry.receivedAt),
    ack: fromAck(entry.ack),
  };
}

function fromAck(ack: Page[number]['entry']['ack']) {
  return ack === null
    ? null
    : { status: ack.status, processed_at: toIso(ack.processedAt), reason: ack.reason };
}

function fromEvent(event: EventRecord) {
  return {
    event_id: event.eventId,
    producer_id: event.producer,
    event_type: event.eventType,
    task_id: event.taskId,
    causation_id: event.causationId,
    out_of_order: event.outOfOrder,
    received_at: toIso(event.receivedAt),
  };
}

async function found(room: Room, request: FastifyRequest<ByEvent>): Promise<EventDetail> {
  const { agent, event: eventId } = request.params;
  const producer = single(request.query as Query, 'producer_id');
  return orThrow(await showEvent(room, { space: caller(request).space, agent, eventId, producer }));
}

async function show(room: Room, request: FastifyRequest<ByEvent>) {
  const detail = await found(room, request);
  const places = detail.page.map((one) => fromEntry(one));
  return {
    ...places.at(-1),
    envelope: JSON.parse(detail.text) as unknown,
    places: places.map(({ offset, received_at, ack }) => ({ offset, received_at, ack })),
    resumes: detail.resumes.map((r) => ({
      resume_id: r.id,
      wait_id: r.waitId,
      run_state_ref: r.runStateRef,
      reason: r.reason,
      out_of_order: r.outOfOrder,
      at: toIso(r.at),
    })),
    forwards: detail.forwards.map(fromJob),
    causes: detail.chain.causes.map(fromEvent),
    effects: detail.chain.effects.map(fromEvent),
  };
}
