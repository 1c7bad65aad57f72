import { answerIdentity, bodyIdentity, openText } from '../../core/deliveries/content/sealed.ts';
import { draftOf } from '../../core/deliveries/decision/composing.ts';
import type { Decision } from '../../core/deliveries/decision/decision.ts';
import type { Content, Delivery } from '../../core/deliveries/delivery.ts';
import { placeInThread } from '../../core/deliveries/reading/thread.ts';
import { ExactJson } from '../../core/exact-json.ts';
import { Fault } from '../../core/faults.ts';
import type { PersonId } from '../../core/ids.ts';
import type { Person } from '../../core/people/person.ts';
import type { Room } from '../../core/room.ts';
import type { Tx } from '../../core/store.ts';
import { fromAttempt, fromDecision, fromJob } from '../mapping.ts';
import { fromComposing } from './drafts.ts';
import { showRows } from './seen.ts';

/** Everything a person needs in order to decide, and what has happened so far. */
export function detail(room: Room, person: Person, id: string) {
  return room.store.read(person.space, async (tx) => {
    const delivery = await tx.deliveries.get(id);
    const sealed = await tx.deliveries.body(id);
    if (delivery === null || sealed === null) throw noDelivery();
    const raw = openText(room, sealed, bodyIdentity(delivery));
    const content = JSON.parse(raw) as Content;
    const decisions = await Promise.all((await tx.decisions.of(id)).map((d) => showDecision(room, tx, d)));
    const [row] = await showRows(room, tx, [delivery]);
    return {
      ...row,
      read_by: await nameOf(tx, delivery.readBy),
      content_sha256: delivery.contentHash,
      details: ExactJson.member(raw, 'details'),
      callback_webhook: content.callback_webhook ?? null,
      timeout_seconds: content.timeout_seconds ?? null,
      allow_secrets: content.allow_secrets ?? [],
      content: new ExactJson(raw),
      decision: decisions.findLast((d) => d.state !== 'undone') ?? null,
      decisions,
      callbacks: (await tx.jobs.byDelivery(id)).map(fromJob),
      attempts: (await tx.jobs.attempts(id)).map(fromAttempt),
      a2a_task: await taskOf(tx, delivery),
      draft: fromComposing(await draftOf(room, tx, person, id)),
      thread: await threadOf(room, tx, delivery),
      previous: delivery.revises === null ? null : await previous(room, tx, delivery.revises),
    };
  });
}

async function nameOf(tx: Tx, id: PersonId | null) {
  return id === null ? null : { person_id: id, name: (await tx.people.get(id))?.name ?? null };
}

async function threadOf(room: Room, tx: Tx, delivery: Delivery) {
  const place = await placeInThread(tx, delivery);
  if (place === null) return null;
  const [earlier, later] = await Promise.all(
    [place.earlier, place.later].map((side) => showRows(room, tx, side)),
  );
  return { ...place, earlier, later };
}

/** The A2A task that asks this question (A17); an id that the agent made up leads nowhere. */
async function taskOf(tx: Tx, { taskId, agent }: Delivery) {
  const task = taskId === null ? null : await tx.tasks.get(taskId);
  return task === null || task.agent !== agent ? null : { task_id: task.id, state: task.state };
}

/** The earlier revision and the person's answer to it: a revision opens on the difference. */
async function previous(room: Room, tx: Tx, id: string) {
  const earlier = await tx.deliveries.get(id);
  const sealed = await tx.deliveries.body(id);
  if (earlier === null || sealed === null) return null;
  const decision = await tx.decisions.current(id);
  return {
    delivery_id: id,
    details: ExactJson.member(openText(room, sealed, bodyIdentity(earlier)), 'details'),
    decision: decision === null ? null : await showDecision(room, tx, decision),
  };
}

export async function showDecision(room: Room, tx: Tx, decision: Decision) {
  const sealed = await tx.decisions.answer(decision.seq);
  const text = sealed === null ? null : openText(room, sealed, answerIdentity(decision));
  const answer = text === null ? null : fromAnswerText(text);
  return fromDecision(decision, await tx.people.get(decision.person), answer);
}

function fromAnswerText(text: string) {
  const { feedback } = JSON.parse(text) as { feedback: string | null };
  return { feedback, edited_content: ExactJson.member(text, 'edited_content') };
}

export function noDelivery(): Fault {
  return new Fault('not_found', 'There is no delivery with this id in your space.');
}
