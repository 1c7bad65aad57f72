import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sampleDelivery, World } from '../../testing/world.ts';

describe('accepting', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.open({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
  });
  afterAll(() => world.stop());

  test('[W12] an Idempotency-Key also stands for a deduplicated answer, after the first one was decided', async () => {
    const body = { ...sampleDelivery('agent-01'), dedupe_key: 'nightly' };
    const first = await world.deliver({ dedupe_key: 'nightly' });
    const again = await world.post('/wake/v1/deliver', body, undefined, { 'idempotency-key': 'try-1' });
    const told = await again.json();
    expect([again.status, told]).toMatchObject([200, { delivery_id: first, deduplicated: true }]);
    await world.decide(first, { status: 'approved' });
    const retried = await world.post('/wake/v1/deliver', body, undefined, { 'idempotency-key': 'try-1' });
    expect([retried.status, await retried.json()]).toEqual([200, told]);
  });

  test('[W26] revising an old version supersedes the newest one, and leaves one open row', async () => {
    const first = await world.deliver();
    const second = await world.deliver({ revises: first, headline: 'Second' });
    const third = await world.deliver({ revises: first, headline: 'Third' });
    const show = async (id: string) => (await world.desk('GET', `/desk/deliveries/${id}`)).json();
    expect(await show(second)).toMatchObject({ state: 'superseded', superseded_by: third, revision: 2 });
    expect(await show(third)).toMatchObject({ state: 'pending', revises: second, revision: 3 });
  });

  test('[W26] an old version that is named again leads to the newest one, however many lie between', async () => {
    const first = await world.deliver();
    const later: string[] = [];
    for (let i = 0; i < 4; i++) later.push(await world.deliver({ revises: first }));
    const show = async (id: string) => (await world.desk('GET', `/desk/deliveries/${id}`)).json();
    expect(await show(first)).toMatchObject({ state: 'superseded', superseded_by: later[3] });
    const reply = await world.decide(first, { status: 'approved' });
    expect(await reply.json()).toMatchObject({ error: { code: 'superseded', superseded_by: later[3] } });
  });

  test('[W4] rotating keeps the tier of the key before', async () => {
    await world.addAgent({ id: 'live-one', tier: 'live' });
    const rotated = await world.desk('POST', '/desk/agents/live-one/keys', { rotate: true });
    expect(await rotated.json()).toMatchObject({ tier: 'live' });
  });
});
