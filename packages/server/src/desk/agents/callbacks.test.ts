import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { Job } from '../../core/sending/job.ts';
import { claim } from '../../core/sending/lease-jobs.ts';
import { settleJobs } from '../../core/sending/settle-jobs.ts';
import { HOUR, SECOND } from '../../core/time.ts';
import { AT_ONCE, body, openDesk, refused } from '../../testing/desk/desk.ts';
import { httpReceiver, signal } from '../../testing/network/receivers.ts';
import { until } from '../../testing/waiting.ts';
import type { World } from '../../testing/world.ts';

type Detail = {
  callbacks: { job_id: string; state: string; attempts: number }[];
  attempts: { number: number; outcome: string; status: number | null }[];
};

const detail = (world: World, id: string) => body<Detail>(world.desk('GET', `/desk/deliveries/${id}`));

async function allow(world: World, ...ports: number[]): Promise<void> {
  const callbacks = ports.map((port) => `http://127.0.0.1:${port}`);
  await body(world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks }));
}

/** Delivers with a callback to this port and decides at once; the job is on its way then. */
async function answered(world: World, port: number): Promise<string> {
  const id = await world.deliver({ callback_webhook: `http://127.0.0.1:${port}/hook` });
  await world.decide(id, { status: 'approved' });
  return id;
}

async function jobOf(world: World, id: string) {
  const [job] = await world.room.store.read(world.space.id, (tx) => tx.jobs.byDelivery(id));
  if (job === undefined) throw new Error('there is no callback');
  return job;
}

const attemptsReach = (world: World, id: string, count: number) =>
  until(async () => (await detail(world, id)).attempts.length >= count);

describe('callbacks', () => {
  test('[D20] every attempt is on the record, and the state says what became of it', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const statuses = [500, 204];
    const receiver = await httpReceiver((_, response) => {
      response.statusCode = statuses.shift() ?? 200;
      response.end();
    });
    await allow(world, receiver.port);
    const id = await answered(world, receiver.port);
    await attemptsReach(world, id, 1);
    expect(await detail(world, id)).toMatchObject({
      callbacks: [{ state: 'due', attempts: 1 }],
      attempts: [{ number: 1, outcome: 'answered', status: 500 }],
    });
    await body(world.desk('POST', `/desk/callbacks/${(await jobOf(world, id)).id}/send-again`));
    await attemptsReach(world, id, 2);
    expect(await detail(world, id)).toMatchObject({
      callbacks: [{ state: 'done', attempts: 2 }],
      attempts: [{ status: 500 }, { number: 2, outcome: 'answered', status: 204 }],
    });
  });

  test.each([
    ['done', 200],
    ['gone', 410],
    ['due', 500],
  ])('[D20] one that is %s can be sent again by hand', async (state, answer) => {
    const { world } = await openDesk({ env: AT_ONCE });
    let calls = 0;
    const receiver = await httpReceiver((_, response) => {
      calls++;
      response.statusCode = calls === 1 ? answer : 200;
      response.end();
    });
    await allow(world, receiver.port);
    const id = await answered(world, receiver.port);
    await attemptsReach(world, id, 1);
    const [job] = (await detail(world, id)).callbacks;
    expect(job?.state).toBe(state);
    expect(await body(world.desk('POST', `/desk/callbacks/${job?.job_id}/send-again`))).toMatchObject({
      state: 'due',
    });
    await attemptsReach(world, id, 2);
    expect((await detail(world, id)).callbacks).toMatchObject([{ state: 'done', attempts: 2 }]);
    expect(calls).toBe(2);
  });

  test('[D20] one that was given up can be sent again too', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const receiver = await httpReceiver((_, response) => {
      response.statusCode = 500;
      response.end();
    });
    await allow(world, receiver.port);
    const id = await answered(world, receiver.port);
    for (let attempt = 1; attempt <= 10; attempt++) {
      await attemptsReach(world, id, attempt);
      if (attempt === 10) break;
      // Longer than any step of the schedule. That alone makes it due: if it were queued again, it could be sent
      // twice.
      await world.tick(30 * HOUR);
      await world.room.store.write(world.space.id, [], async (tx) => tx.announce('jobs'));
    }
    expect((await detail(world, id)).callbacks).toMatchObject([{ state: 'given_up', attempts: 10 }]);
    await body(world.desk('POST', `/desk/callbacks/${(await jobOf(world, id)).id}/send-again`));
    await attemptsReach(world, id, 11);
    expect((await detail(world, id)).callbacks).toMatchObject([{ state: 'given_up', attempts: 11 }]);
  });

  test('[D20] a target that left the allowlist meanwhile gets nothing, and the record says why', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    let knocked = 0;
    const receiver = await httpReceiver((_, response) => {
      knocked++;
      response.end();
    });
    await allow(world, receiver.port);
    const id = await world.deliver({ callback_webhook: `http://127.0.0.1:${receiver.port}/hook` });
    await allow(world);
    await world.decide(id, { status: 'approved' });
    await attemptsReach(world, id, 1);
    expect((await detail(world, id)).attempts).toMatchObject([
      { outcome: 'target_not_allowed', status: null },
    ]);
    expect(knocked).toBe(0);
  });

  test('[D20] what is not there cannot be sent again', async () => {
    const { world } = await openDesk();
    expect(await refused(world.desk('POST', '/desk/callbacks/unknown/send-again'))).toEqual({
      status: 404,
      code: 'not_found',
    });
  });

  test.each([
    ['has never answered', 0, 1],
    ['was prompt before', 1, 4],
  ])('[D28] a hung receiver that %s holds up nobody else', async (_, prompt, most) => {
    const { world } = await openDesk({ env: AT_ONCE });
    const hung: ServerResponse[] = [];
    let answers = prompt;
    const full = signal();
    const slow = await httpReceiver((_, response) => {
      if (answers-- > 0) response.end();
      else if (hung.push(response) === most) full.fire();
    });
    const got = signal<IncomingMessage>();
    const healthy = await httpReceiver((request, response) => {
      response.end();
      got.fire(request);
    });
    await allow(world, slow.port, healthy.port);
    for (let i = 0; i < prompt; i++) await attemptsReach(world, await answered(world, slow.port), 1);
    for (let i = 0; i < 12; i++) await answered(world, slow.port);
    await full.seen;
    const id = await answered(world, healthy.port);
    expect((await got.seen).headers['x-wake-delivery-id']).toBe(id);
    await attemptsReach(world, id, 1);
    expect(hung).toHaveLength(most);
  });

  test('[D28] a job is claimed by one worker; a late result of a lost lease is not taken', async () => {
    const { world, clock } = await openDesk({ env: AT_ONCE });
    const taken = signal();
    const receiver = await httpReceiver(() => taken.fire());
    await allow(world, receiver.port);
    const id = await answered(world, receiver.port);
    await taken.seen;
    const leased = await jobOf(world, id);
    expect(leased).toMatchObject({ fence: 1, leasedUntil: expect.any(Number) });
    expect(await claim(world.room, leased.space, [{ ...leased, fence: 0 }, leased])).toEqual([]);
    clock.turn(10 * 60 * SECOND);
    const [mine] = await claim(world.room, leased.space, [leased]);
    expect(mine?.job).toMatchObject({ fence: 2 });
    expect(mine?.request?.url).toBe(`http://127.0.0.1:${receiver.port}/hook`);
    const ended = {
      at: clock.now(),
      durationMs: 5,
      outcome: 'answered',
      status: 200,
      retryAfterSeconds: null,
    };
    const settle = (job: Job, status: number) =>
      settleJobs(world.room, { space: job.space, page: [{ job, ended: { ...ended, status } }] });
    expect(await settle(leased, 500)).toEqual([false]);
    expect(await settle(mine?.job ?? leased, 200)).toEqual([true]);
    expect(await settle(leased, 500)).toEqual([false]);
    expect((await detail(world, id)).attempts).toMatchObject([{ status: 200 }]);
  });
});
