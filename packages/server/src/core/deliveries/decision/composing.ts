import type { Json } from '../../canonical.ts';
import { Fault } from '../../faults.ts';
import type { DeliveryId } from '../../ids.ts';
import type { Person } from '../../people/person.ts';
import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import type { Micros } from '../../time.ts';
import { openText } from '../content/sealed.ts';
import type { Verdict } from '../delivery.ts';

/** An answer that a person is still writing: theirs alone, and no agent ever sees it. */
export type Composing = {
  mode: Verdict | null;
  feedback: string;
  /** JSON text, so that no digit is lost while it is being written. */
  editedContent: string | null;
};

type Place = { space: string; delivery: DeliveryId; person: string };

function identity({ space, delivery, person }: Place): string {
  return `draft:${space}:${delivery}:${person}`;
}

/**
 * Keeps what is being written. No line in the ledger: a draft is a note to oneself, saved every few seconds, and
 * nothing has happened yet.
 */
export function keepDraft(
  room: Room,
  person: Person,
  id: DeliveryId,
  draft: Composing,
): Promise<Fault | null> {
  const place = { space: person.space, delivery: id, person: person.id };
  const { mode, feedback, editedContent: edited } = draft;
  const sealed = room.vault.seal(JSON.stringify({ mode, feedback, edited }), identity(place));
  return room.store.write(person.space, [], async (tx) => {
    const delivery = await tx.deliveries.get(id);
    if (delivery === null) return new Fault('not_found', 'There is no delivery with this id in your space.');
    if (delivery.state !== 'pending' && delivery.state !== 'held') {
      return new Fault('not_pending', 'This delivery no longer waits for an answer; the draft was not kept.');
    }
    await tx.drafts.put(id, person.id, sealed, room.clock.now());
    return null;
  });
}

export function dropDraft(room: Room, person: Person, id: DeliveryId): Promise<Fault | null> {
  return room.store.write(person.space, [], async (tx) => {
    if ((await tx.deliveries.get(id)) === null) {
      return new Fault('not_found', 'There is no delivery with this id in your space.');
    }
    await tx.drafts.remove(id, person.id);
    return null;
  });
}

export async function draftOf(
  room: Room,
  tx: Tx,
  person: Person,
  id: DeliveryId,
): Promise<(Composing & { savedAt: Micros }) | null> {
  const kept = await tx.drafts.get(id, person.id);
  if (kept === null) return null;
  const place = { space: person.space, delivery: id, person: person.id };
  const draft = JSON.parse(openText(room, kept.sealed, identity(place))) as KeptDraft;
  const { mode, feedback, edited = textOf(draft.editedContent) } = draft;
  return { mode, feedback, editedContent: edited, savedAt: kept.savedAt };
}

/** As it is kept. Before version 0.2 the edited content was kept as a value, under another name. */
type KeptDraft = Pick<Composing, 'mode' | 'feedback'> & { edited?: string | null; editedContent?: Json };

function textOf(value: Json | undefined): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}
