import { expect, it } from 'vitest';
import { SECOND } from '../../core/time.ts';
import { AT_ONCE, checked, client, openStillWorld, openWorld, refusal, told } from '../../testing/wake.ts';
import type { World } from '../../testing/world.ts';

/** How many requests are parked, as an owner is told. */
async function parked(world: World): Promise<number> {
  const metrics = await (await world.desk('GET', '/metrics')).text();
  return Number(/^lanternroom_parked_requests (\d+)$/m.exec(metrics)?.[1]);
}

/** Asks until so many are parked: each question is a turn of the server's loop, so no time has to pass. */
async function untilParked(world: World, count: number): Promise<void> {
  while ((await parked(world)) !== count);
}

it('[W15] a parked request is answered by the decision, with its bytes', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const id = await world.deliver();
  const waiting = told(world.get(`/wake/v1/response/${id}?wait=60`));
  await untilParked(world, 1);
  await world.decide(id, { status: 'approved', feedback: 'Go.' });
  const answer = await waiting;
  expect(JSON.parse(answer.text)).toMatchObject({ delivery_id: id, status: 'approved', feedback: 'Go.' });
  expect((await told(world.get(`/wake/v1/response/${id}`))).text).toBe(answer.text);
  expect(await parked(world)).toBe(0);
});

it('[W15] many wait for one answer, and all of them get it', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const id = await world.deliver();
  const other = await world.deliver();
  const waiting = Array.from({ length: 20 }, () => checked(world, `${id}?wait=60`));
  const patient = checked(world, `${other}?wait=60`);
  await untilParked(world, 21);
  await world.decide(id, { status: 'rejected' });
  for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject({ status: 'rejected' });
  expect(await parked(world)).toBe(1);
  await world.decide(other, { status: 'approved' });
  expect(await patient).toMatchObject({ delivery_id: other, status: 'approved' });
});

it('[W15] Prefer: wait=N does the same', async () => {
  const world = await openWorld({ env: AT_ONCE });
  for (const prefer of ['wait=60', 'respond-async, wait=60', 'wait="60"', 'Wait = 60; foo=bar']) {
    const id = await world.deliver();
    const waiting = world.get(`/wake/v1/response/${id}`, undefined, { prefer });
    await untilParked(world, 1);
    await world.decide(id, { status: 'approved' });
    expect(await (await waiting).json()).toMatchObject({ status: 'approved' });
  }
});

it('[W15] what is answered already, and what asks for no wait, is answered at once', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const id = await world.deliver();
  expect(await checked(world, `${id}?wait=0`)).toMatchObject({ status: 'pending' });
  const unrelated = await world.get(`/wake/v1/response/${id}`, undefined, { prefer: 'respond-async' });
  expect(await unrelated.json()).toMatchObject({ status: 'pending' });
  await world.decide(id, { status: 'approved' });
  expect(await checked(world, `${id}?wait=60`)).toMatchObject({ status: 'approved' });
});

it('[W15] a wait that ends without an answer says pending', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  expect(await checked(world, `${id}?wait=1`)).toMatchObject({ delivery_id: id, status: 'pending' });
});

it('[W15] a longer wait is capped, not refused', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const id = await world.deliver();
  const waiting = ['60', '61', '3600', '9'.repeat(40)].map((wait) => checked(world, `${id}?wait=${wait}`));
  await untilParked(world, 4);
  await world.decide(id, { status: 'approved' });
  for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject({ status: 'approved' });
});

it('[W15] a wait that is no whole number, or is given twice, is 422', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  const wanted = { status: 422, code: 'invalid_field', field: 'wait' };
  for (const wait of ['abc', '', '-1', '1.5', '1e1', '0x10', '%205', '٣', '1&wait=2']) {
    expect(await refusal(world.get(`/wake/v1/response/${id}?wait=${wait}`))).toMatchObject(wanted);
  }
  const prefer = world.get(`/wake/v1/response/${id}`, undefined, { prefer: 'wait=soon' });
  expect(await refusal(prefer)).toMatchObject(wanted);
});

it('[W15] a held decision wakes nobody, its effect does', async () => {
  const { world } = await openStillWorld();
  const id = await world.deliver();
  const waiting = checked(world, `${id}?wait=60`);
  await untilParked(world, 1);
  const held = await world.decide(id, { status: 'approved' });
  expect(await held.json()).toMatchObject({ state: 'held' });
  expect(await parked(world)).toBe(1);
  await world.tick(10 * SECOND);
  expect(await waiting).toMatchObject({ status: 'approved' });
});

it('[W15] a withdrawal wakes whoever waits', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  const waiting = checked(world, `${id}?wait=60`);
  await untilParked(world, 1);
  await world.post(`/wake/v1/withdraw/${id}`, { reason: 'Done otherwise.' });
  expect(await waiting).toMatchObject({ status: 'rejected', withdrawn_at: expect.any(String) });
});

it('[W15] a caller that goes away is let go', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  const leaving = new AbortController();
  const headers = { authorization: `Bearer ${world.agent.key}` };
  const waiting = fetch(`${world.url}/wake/v1/response/${id}?wait=60`, { headers, signal: leaving.signal });
  await untilParked(world, 1);
  leaving.abort();
  await expect(waiting).rejects.toThrow();
  await untilParked(world, 0);
});

it('[W15] a server that stops answers those who wait', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  const waiting = checked(world, `${id}?wait=60`);
  await untilParked(world, 1);
  await world.restart();
  expect(await waiting).toMatchObject({ delivery_id: id, status: 'pending' });
});

it('[W15] the real client waits this way, and has the answer when it is there', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const wake = client(world);
  const { deliveryId } = await wake.deliver({ type: 'question', headline: 'Ready', summary: 'Ship it?' });
  const waiting = wake.waitFor(deliveryId, { timeoutMs: 60_000 });
  await untilParked(world, 1);
  await world.decide(deliveryId, {
    status: 'redirected',
    feedback: 'After lunch.',
    edited_content: { at: '13:00' },
  });
  expect(await waiting).toMatchObject({
    status: 'redirected',
    mayProceed: false,
    instructions: { feedback: 'After lunch.', editedContent: { at: '13:00' } },
  });
});
