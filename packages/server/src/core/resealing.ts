import type { SpaceId } from './ids.ts';
import type { Room } from './room.ts';
import { type HeadName, SERVER } from './store.ts';

/** How far a walk has got; only the store knows what it means. */
export type ResealMark = object | null;

export interface SealedRows {
  /**
   * Reseals the next records that were sealed with another key. `mark` is null at the end. A record that does not
   * open is reported and left alone.
   */
  reseal(mark: ResealMark, limit: number): Promise<Resealed>;
}

export type Resealed = { mark: ResealMark; changed: number; damaged: readonly string[] };

/** Small, so that no request waits behind it: a record may have a megabyte. */
const STEP = 20;
const HEADS = 50;

/** One walk over everything that is sealed, a step at a time: the caller may pause between steps, and stop anywhere. */
export async function* resealAll(room: Room): AsyncGenerator<Resealed, void, undefined> {
  for (const space of await spacesOf(room)) {
    let mark: ResealMark = null;
    do {
      const step: Resealed = await resealStep(room, space, mark);
      yield step;
      mark = step.mark;
    } while (mark !== null);
  }
}

function resealStep(room: Room, space: SpaceId, mark: ResealMark): Promise<Resealed> {
  return room.store.write(space, [], (tx) => tx.sealed.reseal(mark, STEP));
}

/** Heads carry their own seal, which is renewed whenever they are written. */
export async function* resealHeads(room: Room): AsyncGenerator<void, void, undefined> {
  for (const space of await spacesOf(room)) {
    for (let after = ''; ; ) {
      const from = after;
      const page = await room.store.read(space, (tx) => tx.leftovers.heads(from, HEADS));
      const last = page.at(-1);
      if (last === undefined) break;
      await rewriteHeads(
        room,
        space,
        page.map(({ name }) => name as HeadName),
      );
      after = last.name;
      yield;
    }
  }
}

function rewriteHeads(room: Room, space: SpaceId, names: readonly HeadName[]): Promise<void> {
  return room.store.write(space, names, async (tx) => {
    for (const name of names) {
      const head = await tx.heads.get(name);
      if (head !== null) tx.heads.set(name, head);
    }
  });
}

async function spacesOf(room: Room): Promise<SpaceId[]> {
  return [SERVER, ...(await room.store.directory.spaces()).map(({ id }) => id)];
}
