import type { SpaceId } from '../ids.ts';
import { type Room, record } from '../room.ts';
import { type Micros, toIso } from '../time.ts';

const SMALL_STEP = 200;

/** Tasks leave as answered deliveries do, a few at a time. True when there may be more. */
export function retireTasks(room: Room, space: SpaceId, endedBefore: Micros): Promise<boolean> {
  return room.store.write(space, ['ledger'], async (tx) => {
    const count = await tx.tasks.deleteEndedBefore(endedBefore, SMALL_STEP);
    if (count === 0) return false;
    const data = { count, before: toIso(endedBefore) };
    const entry = { actor: 'system', action: 'tasks.expired', subject: tx.space, data };
    await record(room, tx, room.clock.now(), entry);
    return count === SMALL_STEP;
  });
}
