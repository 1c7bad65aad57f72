import { describe, expect, test } from 'vitest';
import { openGround } from '../main.ts';
import { AT_ONCE, body, openDesk } from '../testing/desk/desk.ts';
import { httpReceiver, signal } from '../testing/network/receivers.ts';
import { StreamReader } from '../testing/network/stream.ts';
import { untilParked } from '../testing/waiting.ts';

describe('stopping', () => {
  test('[D30] answers who waits, tells streams to reconnect and takes no more connections', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const waiting = world.get(`/wake/v1/response/${id}?wait=60`);
    const stream = await StreamReader.open(world.desk('GET', '/desk/stream'));
    await untilParked(world, 1);
    await world.running.stop();
    expect(await (await waiting).json()).toMatchObject({ delivery_id: id, status: 'pending' });
    const events = await stream.rest();
    expect(events.at(-1)).toEqual({ event: 'reconnect', data: {} });
    await expect(fetch(`${world.url}/healthz`)).rejects.toThrow();
  });

  test('[D30] gives leases back, so that whoever comes next sends at once', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const [taken, again] = [signal(), signal()];
    let calls = 0;
    const receiver = await httpReceiver((_, response) => {
      calls++;
      if (calls === 1) return taken.fire();
      response.end();
      again.fire();
    });
    const origin = `http://127.0.0.1:${receiver.port}`;
    await body(world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks: [origin] }));
    const id = await world.deliver({ callback_webhook: `${origin}/hook` });
    await world.decide(id, { status: 'approved' });
    await taken.seen;
    await world.restart();
    await again.seen;
    const jobs = await world.room.store.read(world.space.id, (tx) => tx.jobs.byDelivery(id));
    expect(jobs).toMatchObject([{ fence: 2 }]);
  });

  test('[D22][D30] signs the end of the ledger, and loses nothing that was answered', async () => {
    const { world } = await openDesk();
    const replies = Array.from({ length: 20 }, () => world.deliver());
    const ids = await Promise.all(replies);
    await world.running.stop();
    const ground = await openGround(world.config, world.clock);
    try {
      const { entries, ok } = await ground.auditor.verify(world.space.id);
      expect(ok).toBe(true);
      const last = await ground.room.store.read(world.space.id, (tx) => tx.ledger.lastCheckpoint());
      expect(last?.seq).toBe(entries);
      for (const id of ids) {
        expect(await ground.room.store.read(world.space.id, (tx) => tx.deliveries.get(id))).not.toBeNull();
      }
    } finally {
      await ground.stop();
    }
  });

  test('[D22] a checkpoint is made every minute while something happens', async () => {
    const { world } = await openDesk();
    const checkpoints = () => world.room.store.read(world.space.id, (tx) => tx.ledger.checkpoints());
    await world.deliver();
    await world.tick(60_000_000);
    const first = await checkpoints();
    await world.tick(60_000_000);
    expect(await checkpoints()).toEqual(first);
    await world.deliver();
    await world.tick(60_000_000);
    expect(await checkpoints()).toHaveLength(first.length + 1);
  });
});
