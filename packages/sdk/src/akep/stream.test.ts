import { describe, expect, it } from 'vitest';
import { event, resume, startInbox } from '../testing/inbox.ts';
import type { Said } from '../testing/room.ts';
import type { Streamed } from './stream.ts';

const line = (name: string, id: string, data: unknown) =>
  `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
const sse = (...lines: string[]): Said => ({
  status: 200,
  body: [': hello\n\n', ...lines].join(''),
  headers: { 'content-type': 'text/event-stream' },
});

async function take(items: AsyncIterable<Streamed>, count: number): Promise<Streamed[]> {
  const taken: Streamed[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length === count) break;
  }
  return taken;
}

describe('the stream', () => {
  it('[K15] events and resumes come with their place, and unknown ones are skipped', async () => {
    const lines = [
      line('event', 'c1', event('evt_1')),
      line('later', 'c1', {}),
      line('resume', 'c1', resume('res_1')),
    ];
    const world = await startInbox(() => sse(...lines));
    const got = await take(world.inbox.stream(), 2);
    expect(got.map(({ type, cursor }) => [type, cursor])).toEqual([
      ['event', 'c1'],
      ['resume', 'c1'],
    ]);
    expect(world.seen[0]?.url).toBe('/akep/events/stream');
    expect(world.seen[0]?.headers.accept).toBe('text/event-stream');
  });

  it('[K15] after a lost connection and a server that was away it continues after the last event', async () => {
    const says: Said[] = [
      sse(line('event', 'c1', event('evt_1'))),
      'hang_up',
      { status: 503 },
      sse(line('event', 'c2', event('evt_2'))),
    ];
    const world = await startInbox((_, count) => says[count - 1] ?? 'hang_up');
    const got = await take(world.inbox.stream({ cursor: 'c0' }), 2);
    expect(got.map((item) => item.cursor)).toEqual(['c1', 'c2']);
    expect(world.seen.map(({ url }) => new URL(url, 'http://room').searchParams.get('cursor'))).toEqual([
      'c0',
      'c1',
      'c1',
      'c1',
    ]);
  });

  it('[K15] a server that ends every stream at once is asked again after a pause, and not before', async () => {
    const world = await startInbox((_, count) =>
      sse(...(count < 4 ? [] : [line('event', 'c1', event('evt_1'))])),
    );
    await take(world.inbox.stream(), 1);
    expect(world.clock.naps).toEqual([1_000, 1_000, 1_000]);
  });

  it('[K15] a server that says when it wants to be asked again is not asked before', async () => {
    const says: Said[] = [
      sse(),
      { status: 503, headers: { 'retry-after': '30' } },
      { status: 429, headers: { 'retry-after': '20' } },
      sse(line('event', 'c1', event('evt_1'))),
    ];
    const world = await startInbox((_, count) => says[count - 1] ?? 'hang_up');
    await take(world.inbox.stream(), 1);
    expect(world.clock.naps).toEqual([1_000, 30_000, 20_000]);
  });

  it('[K11] a refused key ends it at once, and a wrong cursor is told', async () => {
    const refused = await startInbox(() => ({ status: 401 }));
    await expect(take(refused.inbox.stream(), 1)).rejects.toMatchObject({ fault: 'unauthorized' });
    expect(refused.alerts).toEqual(['unauthorized']);
    const wrong = await startInbox(() => ({
      status: 400,
      body: { error: 'The cursor is not one of ours.' },
    }));
    await expect(take(wrong.inbox.stream({ cursor: 'x' }), 1)).rejects.toMatchObject({ fault: 'refused' });
    const away = await startInbox(() => 'hang_up');
    await expect(take(away.inbox.stream(), 1)).rejects.toMatchObject({ fault: 'unreachable' });
  });

  it.each([{ body: '<html>Please log in</html>' }, { body: {} }])(
    '[K15] an address that answers with %j instead of a stream is told at once',
    async (page) => {
      const world = await startInbox(() => ({ status: 200, ...page }));
      await expect(take(world.inbox.stream(), 1)).rejects.toMatchObject({ fault: 'bad_reply' });
      expect(world.seen).toHaveLength(1);
    },
  );

  it('[K15] the signal hangs up', async () => {
    const stop = new AbortController();
    const world = await startInbox(() => sse(line('event', 'c1', event('evt_1'))));
    const reading = (async () => {
      for await (const _ of world.inbox.stream({ signal: stop.signal })) stop.abort();
    })();
    await expect(reading).rejects.toMatchObject({ fault: 'aborted' });
    expect(world.seen).toHaveLength(1);
  });
});
