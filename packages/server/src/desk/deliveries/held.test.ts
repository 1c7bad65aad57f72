import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../config.ts';
import { SECOND, toIso } from '../../core/time.ts';
import { openGround, startServer } from '../../main.ts';
import { body, openDesk } from '../../testing/desk/desk.ts';
import { freshFolder } from '../../testing/folders.ts';
import { bodyOf, httpReceiver, signal } from '../../testing/network/receivers.ts';
import { untilParked } from '../../testing/waiting.ts';
import type { World } from '../../testing/world.ts';

const WINDOW = 10 * SECOND;
const text = async (reply: Promise<Response>) => (await reply).text();
const poll = (world: World, id: string) => text(world.get(`/wake/v1/response/${id}`));
const sweep = (world: World, query = '') => text(world.get(`/wake/v1/responses${query}`));

describe('a held decision', () => {
  test('[D13] changes nothing that poll, sweep or the desk of the agent can see', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const [polled, swept] = [await poll(world, id), await sweep(world)];
    const since = (JSON.parse(swept) as { next_since: string }).next_since;
    await world.decide(id, { status: 'approved', feedback: 'go ahead' });
    await world.tick(WINDOW - 1);
    expect(await poll(world, id)).toBe(polled);
    expect(await sweep(world)).toBe(swept);
    expect(JSON.parse(await sweep(world, `?since=${since}`))).toMatchObject({ deliveries: [], total: 0 });
    expect(JSON.parse(await sweep(world, '?status=approved,rejected,redirected'))).toMatchObject({
      total: 0,
    });
  });

  test('[D13] takes effect by itself when the window ends, once, with the same bytes everywhere', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const since = JSON.parse(await sweep(world)).next_since;
    await world.decide(id, { status: 'approved', feedback: 'go ahead' });
    await Promise.all([world.tick(WINDOW), world.running.ticker.tick(), world.running.ticker.tick()]);
    const polled = await poll(world, id);
    expect(JSON.parse(polled)).toMatchObject({ status: 'approved', feedback: 'go ahead' });
    const swept = await sweep(world, `?since=${since}`);
    expect(swept).toContain(polled);
    expect(JSON.parse(swept)).toMatchObject({ total: 1, has_more: false });
    await world.tick(WINDOW);
    expect(await poll(world, id)).toBe(polled);
    const lines = await world.room.store.read(world.space.id, (tx) => tx.ledger.newest(999, 999));
    expect(lines.filter((line) => line.action === 'decision.effective')).toHaveLength(1);
  });

  test('[D13][D14] a long-poll hears of the one that counts, and never of an undone one', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const waiting = text(world.get(`/wake/v1/response/${id}?wait=60`));
    await untilParked(world, 1);
    await world.decide(id, { status: 'approved' });
    await world.desk('DELETE', `/desk/deliveries/${id}/decision`);
    await world.tick(WINDOW);
    await world.decide(id, { status: 'rejected', feedback: 'rather not' });
    await untilParked(world, 1);
    await world.tick(WINDOW);
    expect(JSON.parse(await waiting)).toMatchObject({ status: 'rejected', feedback: 'rather not' });
    expect(await waiting).toBe(await poll(world, id));
  });

  test('[D13][D14] the callback is sent when it takes effect, with the bytes of the poll; undone ones send none', async () => {
    const { world } = await openDesk();
    const got = signal<string>();
    const received: string[] = [];
    const receiver = await httpReceiver(async (request, response) => {
      received.push(await bodyOf(request));
      response.end();
      got.fire(received.at(-1) ?? '');
    });
    const origin = `http://127.0.0.1:${receiver.port}`;
    await body(world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks: [origin] }));
    const id = await world.deliver({ callback_webhook: `${origin}/hook` });
    const undone = await world.deliver({ callback_webhook: `${origin}/hook` });
    await world.decide(undone, { status: 'approved' });
    await world.desk('DELETE', `/desk/deliveries/${undone}/decision`);
    await world.decide(id, { status: 'approved', feedback: 'ä' });
    const jobs = () => world.room.store.read(world.space.id, (tx) => tx.jobs.byDelivery(id));
    expect(await jobs()).toEqual([]);
    expect(received).toEqual([]);
    await world.tick(WINDOW);
    expect(await got.seen).toBe(await poll(world, id));
    expect(received).toHaveLength(1);
    expect(await world.room.store.read(world.space.id, (tx) => tx.jobs.byDelivery(undone))).toEqual([]);
  });

  test('[D13] takes effect after a crash in between, exactly once', async () => {
    const { world, clock } = await openDesk();
    const id = await world.deliver();
    await world.decide(id, { status: 'redirected', edited_content: { a: 1 } });
    // What a killed server leaves behind: the files as they are, nothing closed, nothing flushed.
    const folder = join(freshFolder(), 'crashed');
    cpSync(world.folder, folder, { recursive: true });
    clock.turn(WINDOW);
    const env = {
      LANTERNROOM_LOG: 'silent',
      ...(world.database === null ? {} : { DATABASE_URL: world.database.url }),
    };
    const config = readConfig({ flags: { port: '0', data: folder }, env });
    const ground = await openGround(config, clock);
    const running = await startServer(config, ground);
    onTestFinished(() => running.stop());
    await Promise.all([running.ticker.tick(), running.ticker.tick()]);
    const reply = await fetch(`${running.url}/wake/v1/response/${id}`, {
      headers: { authorization: `Bearer ${world.agent.key}` },
    });
    expect(await reply.json()).toMatchObject({ status: 'redirected', edited_content: { a: 1 } });
    const lines = await ground.room.store.read(world.space.id, (tx) => tx.ledger.newest(999, 999));
    expect(lines.filter((line) => line.action === 'decision.effective')).toHaveLength(1);
    expect(await ground.auditor.verify(world.space.id)).toMatchObject({ ok: true });
  });

  test('[D13] the window is the setting, not the clock of whoever decides', async () => {
    const { world } = await openDesk({ env: { LANTERNROOM_UNDO_SECONDS: '3600' } });
    const id = await world.deliver();
    await world.decide(id, { status: 'approved' });
    await world.tick(3599 * SECOND);
    expect(JSON.parse(await poll(world, id))).toMatchObject({ status: 'pending' });
    await world.tick(SECOND);
    expect(JSON.parse(await poll(world, id))).toMatchObject({ status: 'approved' });
  });

  test('[D13] a window that was promised lasts as long, also when the setting is shorter after a restart', async () => {
    const { world, clock } = await openDesk({ env: { LANTERNROOM_UNDO_SECONDS: '3600' } });
    const id = await world.deliver();
    await world.decide(id, { status: 'approved' });
    clock.turn(600 * SECOND);
    world.config.undoSeconds = 10;
    await world.restart();
    await world.tick(0);
    const due = () => world.room.store.directory.heldDue(clock.now(), 9);
    expect(await due()).toEqual([]);
    await world.tick(2999 * SECOND);
    expect(JSON.parse(await poll(world, id))).toMatchObject({ status: 'pending' });
    await world.tick(SECOND);
    expect(JSON.parse(await poll(world, id))).toMatchObject({ status: 'approved' });
  });

  test('[D13] one that cannot take effect, because it is damaged, keeps no other and nothing else from happening', async () => {
    const { world, clock } = await openDesk();
    const [damaged, held, snoozed] = [await world.deliver(), await world.deliver(), await world.deliver()];
    for (const id of [damaged, held]) await world.decide(id, { status: 'approved' });
    const until = toIso(clock.now() + SECOND);
    await body(world.desk('POST', `/desk/deliveries/${snoozed}/snooze`, { until }));
    await world.sql('update decisions set answer = ? where delivery_id = ?', Buffer.from('ash'), damaged);
    await expect(world.tick(WINDOW)).rejects.toThrow();
    expect(JSON.parse(await poll(world, held))).toMatchObject({ status: 'approved' });
    expect(JSON.parse(await poll(world, damaged))).toMatchObject({ status: 'pending' });
    expect(await body(world.desk('GET', `/desk/deliveries/${snoozed}`))).toMatchObject({
      snoozed_until: null,
    });
  });
});
