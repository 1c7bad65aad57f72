import { expect, it } from 'vitest';
import { SECOND } from '../../core/time.ts';
import {
  AT_ONCE,
  checked,
  ledger,
  openStillWorld,
  openWorld,
  refusal,
  swept,
  told,
} from '../../testing/wake.ts';
import type { World } from '../../testing/world.ts';

function withdraw(
  world: World,
  id: string,
  reason: unknown = 'The build failed.',
  key?: string,
): Promise<Response> {
  return world.post(`/wake/v1/withdraw/${id}`, { reason }, key);
}

it('[W27] what nobody has decided is taken back: rejected, with the reason and the time', async () => {
  const { world } = await openStillWorld();
  const id = await world.deliver();
  const { status, text } = await told(withdraw(world, id));
  const stamp = '2026-11-15T09:00:00.000001Z';
  expect([status, text]).toEqual([
    200,
    JSON.stringify({
      delivery_id: id,
      status: 'rejected',
      feedback: 'Withdrawn by the agent: The build failed.',
      edited_content: null,
      responded_at: stamp,
      withdrawn_at: stamp,
    }),
  ]);
  expect((await told(world.get(`/wake/v1/response/${id}`))).text).toBe(text);
  expect((await swept(world, 'status=rejected')).deliveries).toEqual([JSON.parse(text)]);
});

it('[W27] withdrawing again answers 200 with the same bytes, and is written down once', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  const first = await told(withdraw(world, id));
  const again = await told(withdraw(world, id, 'Another reason.'));
  expect([again.status, again.text]).toEqual([200, first.text]);
  expect(await ledger(world, 'delivery.withdrawn')).toHaveLength(1);
});

it('[W27] afterwards there is nothing left to decide, and the desk says that it was the agent', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  await withdraw(world, id);
  expect(await refusal(world.decide(id, { status: 'approved' }))).toMatchObject({
    status: 409,
    code: 'withdrawn',
  });
  const detail = await world.desk('GET', `/desk/deliveries/${id}`);
  expect(await detail.json()).toMatchObject({
    state: 'withdrawn',
    section: 'earlier',
    withdrawn_at: expect.any(String),
  });
  expect(await ledger(world, 'delivery.withdrawn')).toMatchObject([{ actor: 'agent:agent-01', subject: id }]);
});

it('[W27] after a person’s answer it is 409, and the answer stays', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const id = await world.deliver();
  await world.decide(id, { status: 'approved', feedback: 'Go.' });
  const before = await checked(world, id);
  expect(await refusal(withdraw(world, id))).toEqual({
    status: 409,
    code: 'not_pending',
    message: expect.stringContaining('read the answer'),
    docs: `${world.url}/docs/errors#not_pending`,
  });
  expect(await checked(world, id)).toEqual(before);
});

it('[W27] a held decision does not stop it and cannot be told from none; it never takes effect', async () => {
  const { world } = await openStillWorld();
  const [plain, held] = [await world.deliver(), await world.deliver()];
  await world.decide(held, { status: 'approved', feedback: 'Go.' });
  const shape = async (id: string) => {
    const { status, text } = await told(withdraw(world, id));
    return { status, text: text.replaceAll(id, 'ID').replaceAll(/\d{6}Z/g, 'Z') };
  };
  expect(await shape(held)).toEqual(await shape(plain));
  await world.tick(60 * SECOND);
  expect(await checked(world, held)).toMatchObject({ status: 'rejected', withdrawn_at: expect.any(String) });
  const undo = world.desk('DELETE', `/desk/deliveries/${held}/decision`);
  expect(await refusal(undo)).toMatchObject({ status: 409, code: 'nothing_held' });
});

it('[W27] the agent and a person at one moment: one of them wins, and everybody is told the same', async () => {
  const world = await openWorld({ env: AT_ONCE });
  const ids = await Promise.all(Array.from({ length: 10 }, () => world.deliver()));
  const replies = await Promise.all(
    ids.map(async (id) => {
      const both = await Promise.all([world.decide(id, { status: 'approved' }), withdraw(world, id)]);
      return { id, statuses: both.map(({ status }) => status) };
    }),
  );
  for (const { id, statuses } of replies) {
    const winner = (await checked(world, id)).status === 'approved' ? [200, 409] : [409, 200];
    expect(statuses).toEqual(winner);
  }
});

it('[W27] a timed-out and a superseded delivery can be withdrawn too', async () => {
  const { world } = await openStillWorld();
  const late = await world.deliver({ timeout_seconds: 60 });
  const old = await world.deliver();
  await world.deliver({ revises: old });
  await world.tick(61 * SECOND);
  for (const id of [late, old]) {
    expect((await withdraw(world, id)).status).toBe(200);
    const answer = await checked(world, id);
    expect(answer.status).toBe('rejected');
    expect(answer).not.toHaveProperty('timed_out_at');
  }
});

it('[W27] a reason is needed, of 1 to 500 characters', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  for (const body of [{}, { reason: null }]) {
    const reply = world.post(`/wake/v1/withdraw/${id}`, body);
    expect(await refusal(reply)).toMatchObject({ status: 400, code: 'missing_field', field: 'reason' });
  }
  for (const reason of ['', ' ', 7, ['x'], 'x'.repeat(501)]) {
    expect(await refusal(withdraw(world, id, reason))).toMatchObject({ status: 422, field: 'reason' });
  }
  for (const body of ['', '[]', '{', 'null']) {
    expect(await refusal(world.post(`/wake/v1/withdraw/${id}`, body))).toMatchObject({ status: 400 });
  }
  expect(await checked(world, id)).toMatchObject({ status: 'pending' });
  expect((await withdraw(world, id, '🦉'.repeat(500))).status).toBe(200);
});

it('[W27] it works once per delivery however often it is asked at one moment', async () => {
  const world = await openWorld();
  const id = await world.deliver();
  const replies = await Promise.all(
    Array.from({ length: 10 }, (_, i) => told(withdraw(world, id, `Reason ${i}`))),
  );
  expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
  expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(200));
});
