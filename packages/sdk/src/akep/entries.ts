import { faultOf, LanternError } from '../faults.ts';
import { writeJson } from '../http/write-json.ts';
import { isRecord, textOf } from '../json.ts';
import { type EventDraft, fromEventDraft } from './envelope.ts';
import type { InboxCall, InboxParts } from './parts.ts';
import { demandAccepted, type Sent } from './producer.ts';
import { isEvent } from './verify.ts';
import { ACK_STATUSES, type AckStatus, type AkepEvent, type EventView, type TaskView } from './wire.ts';

/** For one event of the inbox. */
export interface EntryCall extends InboxCall {
  /** Says which, where two producers used the same event id (K8). */
  readonly producerId?: string | undefined;
}

/** An acknowledgement, with its reason: up to 1000 characters, which people see on the desk. */
export interface AckCall extends EntryCall {
  readonly reason?: string | undefined;
}

const LONGEST_REASON = 1_000;

/** Says what became of an event that was handed out; the event itself tells its producer, should two share its id. */
export async function acknowledge(
  parts: InboxParts,
  eventId: string,
  ack: AckCall & { status: AckStatus; event?: AkepEvent },
): Promise<void> {
  const producerId = ack.event?.source.producer_id;
  await postAck(parts, eventId, ack).catch((error: unknown) => {
    if (faultOf(error) !== 'conflict' || producerId === undefined) throw error;
    // The development producer signs for other names (K30), so its own is tried only when needed.
    return postAck(parts, eventId, { ...ack, producerId }).catch(() => {
      throw error;
    });
  });
  const reason = ack.reason === undefined ? {} : { reason: ack.reason };
  await parts.record('ack', { event_id: eventId, status: ack.status, ...reason });
}

async function postAck(
  parts: InboxParts,
  eventId: string,
  ack: AckCall & { status: AckStatus },
): Promise<void> {
  if (!ACK_STATUSES.includes(ack.status)) {
    throw new LanternError(
      'wrong_usage',
      `An event is acknowledged as ${ACK_STATUSES.join(', ')}: use one of them.`,
    );
  }
  const reason = ack.reason === undefined ? {} : { reason: cut(ack.reason) };
  const body = { status: ack.status, processed_at: new Date(parts.clock.now()).toISOString(), ...reason };
  await parts.http.send({ method: 'POST', path: entryPath(eventId, '/ack', ack), body }, ack.signal);
}

/** Never in the middle of a character: half of one is refused. */
function cut(reason: string): string {
  return reason.slice(0, LONGEST_REASON).replace(/[\ud800-\udbff]$/, '');
}

export async function getEvent(parts: InboxParts, eventId: string, call: EntryCall): Promise<EventView> {
  const body = await parts.http.send({ method: 'GET', path: entryPath(eventId, '', call) }, call.signal);
  if (isRecord(body) && isEvent(body.event) && typeof body.cursor === 'string') {
    return { event: body.event, cursor: body.cursor, ack: ackOf(body.ack) };
  }
  throw odd('an event');
}

export async function getTask(parts: InboxParts, taskId: string, call: InboxCall): Promise<TaskView> {
  const path = `/akep/tasks/${encodeURIComponent(taskId)}`;
  const body = await parts.http.send({ method: 'GET', path }, call.signal);
  if (isTask(body)) return body;
  throw odd('a task');
}

/** The agent as a producer: the server signs with the agent's own identity (K25). */
export async function emit(parts: InboxParts, draft: EventDraft, call: InboxCall): Promise<Sent> {
  const source = { name: 'agent', type: 'agent' } as const;
  const envelope = fromEventDraft(draft, { source, nowMs: parts.clock.now() });
  const text = writeJson(envelope);
  const reply = demandAccepted(
    await parts.http.send({ method: 'POST', path: '/akep/emit', text }, call.signal),
  );
  await parts.record('emitted', {
    event_id: envelope.event_id,
    event_type: envelope.event_type,
    duplicate: reply.duplicate,
  });
  return { eventId: envelope.event_id, ...reply };
}

function entryPath(eventId: string, rest: string, { producerId }: EntryCall): string {
  const query = producerId === undefined ? '' : `?producer_id=${encodeURIComponent(producerId)}`;
  return `/akep/events/${encodeURIComponent(eventId)}${rest}${query}`;
}

function ackOf(value: unknown): EventView['ack'] {
  if (!isRecord(value)) return null;
  const status = ACK_STATUSES.find((known) => known === value.status);
  if (status === undefined) throw odd('an acknowledgement');
  return { status, processed_at: textOf(value.processed_at) ?? '', reason: textOf(value.reason) };
}

function isTask(value: unknown): value is TaskView {
  return isRecord(value) && typeof value.task_id === 'string' && typeof value.status === 'string';
}

export function odd(what: string): LanternError {
  const message = `The server answered with something that is not ${what}: check the address and its AKEP version.`;
  return new LanternError('bad_reply', message);
}
