import { Fault } from '../../faults.ts';
import { type Room, record } from '../../room.ts';
import type { Reader } from '../inbox/cursor.ts';
import { MOST_WAITS } from '../place.ts';
import type { InboxSettings } from '../store.ts';
import type { Wait } from './wait.ts';

/** What a wait may name, as JSON: a thousand of an agent are read with every event that could wake one (K35). */
const LARGEST = 4 * 1024;

function refuseLong({ subject, eventTypes }: Wait): Fault | null {
  if (JSON.stringify([subject, eventTypes]).length <= LARGEST) return null;
  const message = `The subject and the event types of a wait may have at most ${LARGEST} characters as JSON. Name fewer.`;
  return new Fault('payload_too_large', message);
}

/** Opens a wait. Their number is limited, because every open wait is compared with every event. */
export async function openWait(room: Room, wait: Wait): Promise<Wait | Fault> {
  const refused = refuseLong(wait);
  if (refused !== null) return refused;
  return room.store.write(wait.space, ['ledger'], async (tx) => {
    const open = await tx.waits.open(wait.agent, wait.createdAt, MOST_WAITS);
    if (open.length >= MOST_WAITS) {
      const message = `An agent may have ${MOST_WAITS} open waits. End some, or give them an expires_at.`;
      return new Fault('rate_limited', message, { retryAfter: 60 });
    }
    await tx.waits.closeExpired(wait.agent, wait.createdAt);
    await tx.waits.insert(wait);
    tx.announce(`desk:${tx.space}`, 'events');
    await record(room, tx, wait.createdAt, {
      actor: `agent:${wait.agent}`,
      action: 'wait.opened',
      subject: wait.id,
      data: {},
    });
    return wait;
  });
}

export function endWait(room: Room, reader: Reader, id: string): Promise<Wait | Fault> {
  return room.store.write(reader.space, ['ledger'], async (tx) => {
    const wait = await tx.waits.get(id);
    if (wait === null || wait.agent !== reader.agent)
      return new Fault('not_found', 'You have no wait with this id.');
    if (await tx.waits.end(id)) {
      tx.announce(`desk:${tx.space}`, 'events');
      await record(room, tx, room.clock.now(), {
        actor: `agent:${reader.agent}`,
        action: 'wait.ended',
        subject: id,
        data: {},
      });
    }
    return wait;
  });
}

export function setPolicy(
  room: Room,
  reader: Reader,
  change: (before: InboxSettings) => InboxSettings,
): Promise<InboxSettings> {
  return room.store.write(reader.space, ['ledger'], async (tx) => {
    const settings = change(await tx.waits.settings(reader.agent));
    await tx.waits.setSettings(reader.agent, settings);
    const data = { max_resume_policy: settings.maxResumePolicy, show_reviews: settings.showReviews };
    await record(room, tx, room.clock.now(), {
      actor: `agent:${reader.agent}`,
      action: 'policy.changed',
      subject: reader.agent,
      data,
    });
    return settings;
  });
}
