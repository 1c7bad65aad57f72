import { memoryLog } from '@lanternroom/sdk';
import { expect, it } from 'vitest';
import { SECOND } from '../../core/time.ts';
import { AT_ONCE, client, openStillWorld, type ResponseWire, swept } from '../../testing/wake.ts';
import type { World } from '../../testing/world.ts';

const VERDICTS = ['approved', 'rejected', 'redirected'];

async function deliverMany(world: World, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => world.deliver()));
}

async function decideMany(world: World, ids: readonly string[]): Promise<void> {
  const answers = ids.map((id, i) => world.decide(id, { status: VERDICTS[i % 3], feedback: `answer ${i}` }));
  for (const reply of await Promise.all(answers)) expect(reply.status).toBe(200);
}

/** What happens beside the loops: whether it is still going on, and the moments of its commits. */
type Work = { busy: boolean; interval: () => Promise<void> };

/**
 * The loop of the specification ("Recommended polling pattern for orchestrators"), line by line. Its sleep lasts until
 * the next commit; it ends with an empty page that was asked for when nobody was deciding any more.
 */
async function specificationLoop(world: World, work: Work, limit: number): Promise<ResponseWire[]> {
  const handled: ResponseWire[] = [];
  let since: string | null = null;
  for (;;) {
    const agentIsRunning = work.busy;
    const pollInterval = work.interval();
    const params = new URLSearchParams({
      agent_id: world.agent.agent.id,
      status: 'approved,rejected,redirected',
      limit: String(limit),
    });
    if (since) params.set('since', since);
    const data = await swept(world, String(params));
    for (const item of data.deliveries) handled.push(item);
    if (data.deliveries.length > 0) since = data.next_since;
    else if (agentIsRunning) await pollInterval;
    else return handled;
  }
}

/** Runs loops beside some work and gives back what each of them has handled. */
async function loopsBeside(world: World, limits: number[], doing: () => Promise<unknown>) {
  const { signals } = world.running.ground.data.store;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const committed = () =>
    new Promise<void>((resolve) => {
      const off = signals.on(`desk:${world.space.id}`, () => {
        off();
        resolve();
      });
    });
  const work: Work = { busy: true, interval: () => Promise.race([committed(), ended]) };
  const loops = Promise.all(limits.map((limit) => specificationLoop(world, work, limit)));
  await doing();
  work.busy = false;
  end();
  return loops;
}

function expectEachOnce(handled: readonly ResponseWire[], ids: readonly string[]): void {
  expect(handled.map((item) => item.delivery_id).sort()).toEqual([...ids].sort());
  const stamps = handled.map((item) => item.responded_at ?? '');
  expect(stamps).toEqual([...new Set(stamps)].sort());
}

it('[W19] the loop of the specification sees every answer once, all given in one microsecond while it runs', async () => {
  const { world } = await openStillWorld(AT_ONCE);
  const ids = await deliverMany(world, 60);
  const loops = await loopsBeside(world, [50, 50, 200, 1], () => decideMany(world, ids));
  for (const handled of loops) expectEachOnce(handled, ids);
});

it('[W19] also when decisions are held, undone and decided again in between', async () => {
  const { world } = await openStillWorld();
  const ids = await deliverMany(world, 40);
  const loops = await loopsBeside(world, [50, 1], async () => {
    await decideMany(world, ids);
    const undone = ids.filter((_, i) => i % 4 === 0);
    for (const id of undone)
      expect((await world.desk('DELETE', `/desk/deliveries/${id}/decision`)).status).toBe(200);
    await world.tick(10 * SECOND);
    await decideMany(world, undone);
    await world.tick(10 * SECOND);
  });
  for (const handled of loops) expectEachOnce(handled, ids);
});

it('[W19] also when the agent goes on delivering, withdraws, and deciders answer late', async () => {
  const { world } = await openStillWorld(AT_ONCE);
  const early = await deliverMany(world, 30);
  const late: string[] = [];
  const loops = await loopsBeside(world, [3, 50], async () => {
    const delivering = deliverMany(world, 30).then((ids) => late.push(...ids));
    await Promise.all([decideMany(world, early.slice(10)), delivering]);
    const withdrawing = early
      .slice(0, 10)
      .map((id) => world.post(`/wake/v1/withdraw/${id}`, { reason: 'Late.' }));
    await Promise.all([decideMany(world, late), ...withdrawing]);
  });
  for (const handled of loops) expectEachOnce(handled, [...early, ...late]);
});

it('[W19] a page at a time, has_more leads through all of it without a gap or a repeat', async () => {
  const { world } = await openStillWorld(AT_ONCE);
  const ids = await deliverMany(world, 23);
  await decideMany(world, ids);
  const found: string[] = [];
  let query = 'limit=5';
  for (;;) {
    const page = await swept(world, query);
    found.push(...page.deliveries.map((item) => item.delivery_id));
    expect(page.total).toBe(23 - found.length + page.deliveries.length);
    expect(page.has_more).toBe(found.length < 23);
    if (!page.has_more) break;
    query = `limit=5&since=${page.next_since}`;
  }
  expect(found).toHaveLength(23);
  expect([...found].sort()).toEqual([...ids].sort());
});

it('[W19] the real client sweeps each answer once, and continues where it stopped', async () => {
  const { world } = await openStillWorld(AT_ONCE);
  const log = memoryLog();
  const wake = client(world, { log });
  const draft = { type: 'question', headline: 'Ready', summary: 'Ship it?' } as const;
  const delivered = await Promise.all(Array.from({ length: 12 }, () => wake.deliver(draft)));
  const ids = delivered.map(({ deliveryId }) => deliveryId);
  await decideMany(world, ids.slice(0, 7));
  const seen: string[] = [];
  let since: string | null = null;
  for await (const answer of wake.sweep({ limit: 3 })) {
    seen.push(answer.deliveryId);
    since = answer.resumeFrom;
  }
  expect(seen).toHaveLength(7);
  await decideMany(world, ids.slice(7));
  const later = client(world, { log });
  for await (const answer of later.sweep({ limit: 2, since: since ?? undefined }))
    seen.push(answer.deliveryId);
  expect(seen.sort()).toEqual([...ids].sort());
});
