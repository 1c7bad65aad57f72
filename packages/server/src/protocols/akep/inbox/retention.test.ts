import { describe, expect, it } from 'vitest';
import { DAY } from '../../../core/time.ts';
import {
  addSender,
  anEvent,
  answered,
  idsOf,
  openInbox,
  page,
  readAll,
  subscribed,
} from '../../../testing/akep/akep.ts';
import { Relay } from '../../../testing/akep/akep-live.ts';
import { each } from '../../../testing/waiting.ts';
import { openWorld } from '../../../testing/wake.ts';
import { ManualClock } from '../../../testing/world.ts';

describe('how long it is kept', () => {
  const RETENTION = { type: 'poll', replay_retention_seconds: 86_400 };

  it('[K17] a cursor older than what is kept is 410 with the oldest that is good', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    const start = (await page(world)).next_cursor;
    await sender.sent();
    const before = (await page(world)).next_cursor;
    await world.tick(6 * DAY);
    const kept = await sender.sent();
    expect((await page(world)).events).toHaveLength(2);
    await world.tick(DAY);
    for (const path of ['/akep/events', '/akep/events/wait', '/akep/events/stream']) {
      const { status, json } = await answered(world.get(`${path}?cursor=${start}`));
      expect([path, status, json]).toEqual([path, 410, { error: expect.any(String), oldest_cursor: before }]);
    }
    const relay = await Relay.open(world, `?cursor=${start}`);
    expect(await relay.next()).toMatchObject({ type: 'error', oldest_cursor: before });
    expect((await relay.closed).code).toBe(1008);
    expect(idsOf((await page(world, `?cursor=${before}`)).events)).toEqual([kept.event_id]);
    expect(idsOf((await page(world)).events)).toEqual([kept.event_id]);
    await world.tick(6 * DAY);
    const empty = await answered(world.get(`/akep/events?cursor=${before}`));
    expect(empty.status).toBe(410);
    const oldest = String(empty.json.oldest_cursor);
    const next = await sender.sent();
    expect(idsOf((await page(world, `?cursor=${oldest}`)).events)).toEqual([next.event_id]);
    expect(idsOf((await page(world)).events)).toEqual([next.event_id]);
  });

  it('[K17] acknowledged ones leave when their retention is over, unacknowledged ones after a week', async () => {
    const clock = new ManualClock();
    const world = await openWorld({ clock });
    const sender = await addSender(world);
    await subscribed(world, { delivery: RETENTION });
    const first = await sender.sent();
    const second = await sender.sent();
    await world.post(`/akep/events/${first.event_id}/ack`, {});
    await world.tick(DAY);
    expect(idsOf(await readAll(world))).toEqual([second.event_id]);
    await world.tick(5 * DAY);
    expect(idsOf(await readAll(world))).toEqual([second.event_id]);
    await world.tick(DAY);
    expect(await readAll(world)).toEqual([]);
    expect((await sender.send(second)).json.duplicate).toBe(false);
  });

  it('[K17] what is kept has no holes: an entry waits for those before it', async () => {
    const clock = new ManualClock();
    const world = await openWorld({ clock });
    const sender = await addSender(world);
    await subscribed(world, { delivery: RETENTION });
    await subscribed(world, {
      event_types: ['tool.completed'],
      delivery: { type: 'poll', replay_retention_seconds: 30 * 86_400 },
    });
    const { next_cursor: start } = await page(world);
    const long = await sender.sent({ event_type: 'tool.completed' });
    const short = await sender.sent();
    for (const { event_id } of [long, short]) await world.post(`/akep/events/${event_id}/ack`, {});
    await world.tick(29 * DAY);
    expect(idsOf((await page(world, `?cursor=${start}`)).events)).toEqual(idsOf([long, short]));
    await world.tick(DAY);
    expect(await readAll(world)).toEqual([]);
  });

  it('[K17] thousands leave in one go, and only what no other inbox holds', async () => {
    const clock = new ManualClock();
    const env = { LANTERNROOM_RATE_PRODUCER: '0' };
    const { world, sender } = await openInbox({ clock, env });
    const other = await world.addAgent({ id: 'agent-02' });
    await subscribed(world, { delivery: { type: 'poll', replay_retention_seconds: 30 * 86_400 } }, other.key);
    await each(
      Array.from({ length: 1200 }, () => anEvent()),
      (event) => sender.send(event),
    );
    await world.tick(7 * DAY);
    expect(await readAll(world)).toEqual([]);
    expect(await readAll(world, other.key)).toHaveLength(1200);
    await world.tick(23 * DAY);
    expect(await readAll(world, other.key)).toEqual([]);
  });
});
