import type { SpaceId } from '../ids.ts';
import { type Room, record } from '../room.ts';
import { type Micros, toIso } from '../time.ts';
import { retireContent } from './content.ts';

const SMALL_STEP = 200;

/** Tasks leave as answered deliveries do, and content with the last task that refers to it. */
export async function retireTasks(
  room: Room,
  space: SpaceId,
  { endedBefore, unusedBefore }: { endedBefore: Micros; unusedBefore: Micros },
): Promise<void> {
  await room.store.write(space, ['ledger'], async (tx) => {
    const count = await tx.tasks.deleteEndedBefore(endedBefore, SMALL_STEP);
    if (count === 0) return;
    const data = { count, before: toIso(endedBefore) };
    const entry = { actor: 'system', action: 'tasks.expired', subject: tx.space, data };
    await record(room, tx, room.clock.now(), entry);
  });
  await retireContent(room, space, unusedBefore);
}
