import { Fault } from '../faults.ts';
import type { DeliveryId } from '../ids.ts';
import type { Person } from '../people/person.ts';
import { type Room, record } from '../room.ts';
import type { Tx } from '../store.ts';
import { type Micros, toIso } from '../time.ts';
import { answerIdentity } from './content/sealed.ts';
import { type Answer, type Decision, judge, mayUndo } from './decision/decision.ts';
import type { Decided } from './decision/effect.ts';
import { takeEffect } from './decision/effect.ts';
import { type Delivery, earlierSection } from './delivery.ts';
import { onDelivery } from './on-delivery.ts';
import { acceptAgent, openPlace } from './triage.ts';

/** A person answers. Inside the undo window the answer is held; otherwise it takes effect at once. */
export function decide(room: Room, person: Person, id: DeliveryId, answer: Answer): Promise<Decided | Fault> {
  return onDelivery(room, { space: person.space, id }, async (tx, delivery) => {
    const now = room.clock.now();
    const judged = judge(delivery, answer, now, room.settings.undoWindow);
    if (judged.kind !== 'held' && judged.kind !== 'effective') return refuse(tx, delivery, judged.kind);
    const effectAt = judged.kind === 'held' ? judged.effectAt : now;
    const { decision, plain } = await writeDecision(room, tx, { delivery, answer, person, now, effectAt });
    await acceptAgent(tx, delivery, now);
    if (judged.kind === 'held') return { delivery: await hold(tx, delivery, decision), decision };
    return takeEffect(room, tx, delivery, { decision, answer: plain });
  });
}

async function writeDecision(
  room: Room,
  tx: Tx,
  d: { delivery: Delivery; answer: Answer; person: Person; now: Micros; effectAt: Micros },
): Promise<{ decision: Decision; plain: string }> {
  const plain = `{"feedback":${JSON.stringify(d.answer.feedback)},"edited_content":${d.answer.editedContent ?? 'null'}}`;
  const seq = await record(room, tx, d.now, {
    actor: `person:${d.person.id}`,
    action: d.effectAt > d.now ? 'decision.held' : 'decision.made',
    subject: d.delivery.id,
    data: {
      status: d.answer.verdict,
      content_sha256: d.answer.contentHash,
      answer_sha256: room.vault.sha256(plain),
      effect_at: toIso(d.effectAt),
    },
  });
  const decision: Decision = {
    space: tx.space,
    seq,
    delivery: d.delivery.id,
    agent: d.delivery.agent,
    verdict: d.answer.verdict,
    person: d.person.id,
    deliveredAt: d.delivery.createdAt,
    decidedAt: d.now,
    effectAt: d.effectAt,
    state: 'held',
    contentHash: d.answer.contentHash,
  };
  await tx.decisions.insert(decision, room.vault.seal(plain, answerIdentity(decision)));
  return { decision, plain };
}

async function hold(tx: Tx, delivery: Delivery, decision: Decision): Promise<Delivery> {
  const place = delivery.snoozedUntil === null ? {} : await openPlace(tx, delivery);
  const held: Delivery = {
    ...delivery,
    state: 'held',
    effectAt: decision.effectAt,
    snoozedUntil: null,
    ...place,
  };
  await tx.deliveries.update(held);
  tx.announce('held');
  tx.announce(`desk:${tx.space}`, delivery.id);
  return held;
}

/** Of two people who decide at once, the later one is told who was first, and when. */
async function refuse(
  tx: Tx,
  delivery: Delivery,
  kind: 'already_decided' | 'already_held' | 'changed' | 'withdrawn' | 'superseded',
): Promise<Fault> {
  if (kind === 'changed') {
    return new Fault('content_changed', 'This is not what you were shown. Look at it again, then decide.', {
      field: 'content_sha256',
      extra: { content_sha256: delivery.contentHash },
    });
  }
  if (kind === 'withdrawn')
    return new Fault('withdrawn', 'This was withdrawn or answered elsewhere; nothing is left to decide.');
  if (kind === 'superseded') {
    const extra = { superseded_by: delivery.supersededBy };
    return new Fault('superseded', 'The agent has sent a newer revision. Decide on that one.', { extra });
  }
  const extra = await whoAndWhen(tx, delivery);
  return kind === 'already_held'
    ? new Fault('already_held', 'Somebody has just decided this. The decision can still be undone.', {
        extra,
      })
    : new Fault('already_decided', 'This delivery has been decided already.', { extra });
}

async function whoAndWhen(tx: Tx, delivery: Delivery): Promise<Record<string, unknown>> {
  const decision = await tx.decisions.current(delivery.id);
  if (decision === null) return {};
  const person = await tx.people.get(decision.person);
  return {
    status: decision.verdict,
    decided_by: person === null ? null : { person_id: person.id, name: person.name },
    decided_at: toIso(decision.decidedAt),
  };
}

/** Takes a held decision back. To every agent it is as if it had never been made. */
export function undo(room: Room, person: Person, id: DeliveryId): Promise<Delivery | Fault> {
  return onDelivery(room, { space: person.space, id }, async (tx, delivery) => {
    const now = room.clock.now();
    const decision = await tx.decisions.current(id);
    if (delivery.state !== 'held' || decision === null || !mayUndo(decision, now)) {
      const extra = await whoAndWhen(tx, delivery);
      return new Fault('nothing_held', 'There is no decision inside its undo window here.', { extra });
    }
    await record(room, tx, now, {
      actor: `person:${person.id}`,
      action: 'decision.undone',
      subject: id,
      data: { decision: decision.seq },
    });
    await tx.decisions.setState(decision.seq, 'undone');
    const before: Delivery = { ...delivery, effectAt: null, ...(await beforeDeciding(tx, delivery, now)) };
    await tx.deliveries.update(before);
    tx.announce(`desk:${tx.space}`, delivery.id);
    return before;
  });
}

/** As if nobody had decided: open again, unless a revision came meanwhile and has its place (W26). */
async function beforeDeciding(
  tx: Tx,
  delivery: Delivery,
  now: Micros,
): Promise<Pick<Delivery, 'state' | 'section' | 'sectionAt'>> {
  if (delivery.supersededBy !== null) return { state: 'superseded', ...earlierSection(now) };
  return { state: 'pending', ...(await openPlace(tx, delivery)) };
}
