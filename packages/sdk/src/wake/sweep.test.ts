import { describe, expect, it } from 'vitest';
import { ID, OTHER_ID, responseBody, type Said, startWorld } from '../testing/room.ts';
import type { Swept } from './sweep.ts';
import type { ResponseBody } from './wire.ts';

function page(deliveries: ResponseBody[], nextSince: string | null, hasMore = false): Said {
  return { status: 200, body: { deliveries, total: 9, has_more: hasMore, next_since: nextSince } };
}

const ours = responseBody('approved');
const theirs = responseBody('redirected', { delivery_id: OTHER_ID });

async function collect(items: AsyncIterable<Swept>, most = 99): Promise<Swept[]> {
  const got: Swept[] = [];
  for await (const item of items) {
    got.push(item);
    if (got.length === most) break;
  }
  return got;
}

const query = (url: string | undefined) => Object.fromEntries(new URL(url ?? '', 'http://x').searchParams);

describe('sweeping', () => {
  it('[W17] asks for answers of this agent, page by page, each after the last', async () => {
    const world = await startWorld((_, count) =>
      count === 1 ? page([ours], 's1', true) : page([theirs], 's2'),
    );
    await world.wake.adopt(ID);
    await world.wake.adopt(OTHER_ID);
    const got = await collect(world.wake.sweep({ since: 's0', limit: 1 }));
    expect(got.map((item) => [item.status, item.resumeFrom])).toEqual([
      ['approved', 's1'],
      ['redirected', 's2'],
    ]);
    const status = 'approved,rejected,redirected';
    expect(world.seen.map((seen) => query(seen.url))).toEqual([
      { agent_id: 'research-agent-01', status, since: 's0', limit: '1' },
      { agent_id: 'research-agent-01', status, since: 's1', limit: '1' },
    ]);
  });

  it('[W19] a later sweep may resume only after the last item of a page', async () => {
    const world = await startWorld(() => page([ours, theirs], 's1'));
    await world.wake.adopt(ID);
    await world.wake.adopt(OTHER_ID);
    const got = await collect(world.wake.sweep());
    expect(got.map((item) => item.resumeFrom)).toEqual([null, 's1']);
  });

  it('[W19] following goes on through a server that is away for a while, from where it was', async () => {
    const outage: Said[] = [...Array(4).fill('hang_up'), ...Array(4).fill({ status: 503 })];
    const script: Said[] = [page([ours], 's1'), ...outage, page([ours], 's2')];
    const world = await startWorld((_, count) => script[count - 1] ?? 'hang_up');
    await world.wake.adopt(ID);
    const got = await collect(world.wake.sweep({ follow: true }), 2);
    expect(got.map((item) => item.resumeFrom)).toEqual(['s1', 's2']);
    expect(new Set(world.seen.slice(1).map((seen) => query(seen.url).since))).toEqual(new Set(['s1']));
    const away = await startWorld(() => 'hang_up');
    const first = collect(away.wake.sweep({ follow: true }));
    await expect(first).rejects.toMatchObject({ fault: 'unreachable' });
  });

  it('[W19] following goes on from the same point through empty pages', async () => {
    const script = [page([ours], 's1'), page([], null), page([theirs], 's2')];
    const world = await startWorld((_, count) => script[count - 1] ?? 'hang_up');
    await world.wake.adopt(ID);
    await world.wake.adopt(OTHER_ID);
    const got = await collect(world.wake.sweep({ follow: true, pollMs: 5_000 }), 2);
    expect(got).toHaveLength(2);
    expect(world.seen.map((seen) => query(seen.url).since)).toEqual([undefined, 's1', 's1']);
    expect(world.clock.naps).toEqual([5_000, 5_000]);
  });

  it('[W23] answers to deliveries of others are left out, and noted', async () => {
    const world = await startWorld(() => page([theirs, ours], 's1'));
    await world.wake.adopt(ID);
    const got = await collect(world.wake.sweep());
    expect(got.map((item) => item.deliveryId)).toEqual([ID]);
    expect(world.log.lines.filter((line) => line.includes('"refused"'))).toHaveLength(1);
  });

  it('[W19] a later sweep resumes after what was left out at the end of a page', async () => {
    const world = await startWorld(() => page([ours, theirs], 's1'));
    await world.wake.adopt(ID);
    const got = await collect(world.wake.sweep({ since: 's0' }));
    expect(got.map((item) => item.resumeFrom)).toEqual(['s1']);
  });

  it('[W23] unless the caller adopts them', async () => {
    const world = await startWorld(() => page([theirs], 's1'));
    const got = await collect(world.wake.sweep({ onForeign: () => 'adopt' }));
    expect(got.map((item) => item.deliveryId)).toEqual([OTHER_ID]);
    await expect(collect(world.wake.sweep())).resolves.toHaveLength(1);
  });

  it('[W17] can ask for what is still pending', async () => {
    const world = await startWorld(() => page([responseBody('pending')], 's1'));
    await world.wake.adopt(ID);
    const got = await collect(world.wake.sweep({ statuses: ['pending'] }));
    expect(got).toMatchObject([{ status: 'pending', mayProceed: false }]);
    expect(query(world.seen[0]?.url).status).toBe('pending');
  });

  it('[W18] a server that promises more without a way to it is not asked for ever', async () => {
    const world = await startWorld(() => page([ours], null, true));
    await world.wake.adopt(ID);
    await expect(collect(world.wake.sweep())).rejects.toMatchObject({ fault: 'bad_reply' });
    expect(world.seen).toHaveLength(1);
  });

  it('[W23] every answer is in the log once', async () => {
    const world = await startWorld(() => page([ours], 's1'));
    await world.wake.adopt(ID);
    await collect(world.wake.sweep());
    await collect(world.wake.sweep());
    expect(world.log.lines.filter((line) => line.includes('"event":"answer"'))).toHaveLength(1);
  });
});
