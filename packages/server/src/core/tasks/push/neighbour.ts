import type { JsonObject } from '../../canonical.ts';
import { type Envelope, outlineOf } from '../../events/event.ts';
import { headsToPlace, place } from '../../events/place.ts';
import { ownProducer } from '../../events/producer.ts';
import { plainTaker } from '../../events/subscriptions/takers.ts';
import { exactText } from '../../exact-json.ts';
import type { AgentId, SpaceId } from '../../ids.ts';
import type { Room } from '../../room.ts';
import { toIso } from '../../time.ts';
import { callerOfToken, isFromOutside, nameOfCaller } from '../callers/callers.ts';
import { readCard } from '../callers/card.ts';
import { textOf } from '../reading/read.ts';
import type { LogEntry, TaskRecord, TaskState } from '../task.ts';
import type { PushConfig } from './push.ts';

/** An agent on this server that is told about another agent's task (A19). */
export type Neighbour = { space: SpaceId; agent: AgentId };

const TYPES: Partial<Record<TaskState, string>> = {
  completed: 'tool.completed',
  failed: 'tool.failed',
  rejected: 'tool.failed',
  canceled: 'tool.failed',
  input_required: 'human.review_required',
  auth_required: 'human.review_required',
};

/**
 * Whoever may call the receiver may have it told: those of its own space about tasks of their own space, and everybody
 * if it is open to everybody. Others need one of its tokens. Who may only call one agent of a space does not reach its
 * neighbours through it.
 */
export async function mayTell(
  room: Room,
  from: TaskRecord,
  to: Neighbour,
  push: PushConfig,
): Promise<boolean> {
  const card = await readCard(room, to.space, to.agent);
  if (card === null) return false;
  const { visibility } = card;
  if (visibility === 'public') return true;
  if (from.space === to.space && !isFromOutside(from.caller)) return true;
  const token = push.authentication?.credentials ?? push.token;
  const caller = token === undefined ? null : await callerOfToken(room, token);
  return caller !== null && nameOfCaller(caller, { ...to, visibility }) !== null;
}

/** Instead of a push, an event is put into the other agent's inbox, where it waits even if that agent is asleep. */
export async function tellNeighbour(
  room: Room,
  to: Neighbour,
  told: { handle: string; task: TaskRecord; entry: LogEntry; pushId: string; body: JsonObject },
): Promise<void> {
  const envelope = toEnvelope(room, to, told);
  const raw = exactText(envelope);
  const producer = ownProducer(told.handle);
  const outline = outlineOf(envelope);
  await room.store.write(to.space, headsToPlace(room, outline, [to.agent]), async (tx) => {
    // It was sent before and the acknowledgement was lost: there must be only one.
    if ((await tx.events.get(producer, envelope.event_id)) !== null) return;
    await place(room, tx, {
      outline,
      envelope: () => envelope,
      bodyHash: room.vault.sha256(raw),
      kept: raw,
      producer,
      takers: [plainTaker(to.agent, [])],
      actor: 'system',
    });
  });
}

function toEnvelope(
  room: Room,
  to: Neighbour,
  {
    handle,
    task,
    entry,
    pushId,
    body,
  }: { handle: string; task: TaskRecord; entry: LogEntry; pushId: string; body: JsonObject },
): Envelope {
  const state = entry.kind === 'status' ? (entry.note as TaskState) : 'working';
  const words = textOf(entry.body);
  const said = words === '' ? `The task of @${handle}/${task.agent} is ${state}.` : words;
  return {
    spec: 'akep.v1',
    event_id: `evt_push_${room.vault.sha256(`${task.id}\n${pushId}\n${entry.pos}`).slice(0, 40)}`,
    event_type: TYPES[state] ?? 'message.received',
    occurred_at: toIso(entry.at),
    source: {
      producer_id: ownProducer(handle),
      name: `@${handle}/${task.agent}`.slice(0, 80),
      type: 'agent',
    },
    subject: { agent_id: to.agent, task_id: task.id, thread_id: task.context },
    knowledge: {
      kind: 'tool_result',
      content_type: 'application/json',
      summary: [...said].slice(0, 500).join(''),
      content: body,
    },
    routing: { resume_policy: 'resume_if_waiting' },
  };
}
