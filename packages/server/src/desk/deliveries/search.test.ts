import { describe, expect, onTestFinished, test } from 'vitest';
import { indexSome } from '../../core/deliveries/search/index-words.ts';
import { record } from '../../core/room.ts';
import { DAY, SECOND } from '../../core/time.ts';
import { Indexer } from '../../dispatch/indexer.ts';
import { AT_ONCE, body, openDesk, refused } from '../../testing/desk/desk.ts';
import { aDelivery } from '../../testing/stores/things.ts';
import { until } from '../../testing/waiting.ts';
import type { World } from '../../testing/world.ts';

type Page = { deliveries: { delivery_id: string }[]; next_cursor: string | null };

async function find(world: World, query: string, token = world.token): Promise<string[]> {
  const path = `/desk/deliveries?${new URLSearchParams(query)}`;
  return (await body<Page>(world.desk('GET', path, undefined, token))).deliveries.map((d) => d.delivery_id);
}

describe('searching', () => {
  test('[D47] finds words of headline, summary, details and their names, in any case and width', async () => {
    const { world } = await openDesk();
    const id = await world.deliver({
      headline: 'Harvest report',
      summary: 'Everything was weighed.',
      details: { orchard: { apples: ['Boskoop', 'Gala'], crates: 417 } },
    });
    await world.deliver({ details: 'nothing of the kind' });
    await world.running.indexer.catchUp();
    for (const q of ['harvest', 'WEIGHED', 'orchard', 'ｇａｌａ', '417', 'boskoop gala report'])
      expect(await find(world, `q=${q}`), q).toEqual([id]);
    for (const q of ['harv', 'boskoop pears', 'apple']) expect(await find(world, `q=${q}`), q).toEqual([]);
  });

  test('[D47] what has just come is found at once; far behind, the answer says that it is not complete', async () => {
    const { world } = await openDesk();
    await world.running.indexer.stop(); // nobody else brings it further
    const id = await world.deliver({ headline: 'Fresh bread' });
    expect(await body(world.desk('GET', '/desk/deliveries?q=bread'))).toMatchObject({
      deliveries: [{ delivery_id: id }],
      complete: true,
    });
    const mark = (n: number) =>
      world.room.store.write(world.space.id, ['ledger'], async (tx) => {
        for (let i = 0; i < n; i++)
          await record(world.room, tx, world.room.clock.now(), {
            actor: 'a',
            action: 'b',
            subject: 'c',
            data: {},
          });
      });
    for (let batch = 0; batch < 6; batch++) await mark(100);
    await world.deliver({ headline: 'Later bread' });
    expect(await body(world.desk('GET', '/desk/deliveries?q=bread'))).toMatchObject({
      deliveries: [{ delivery_id: id }],
      complete: false,
    });
    expect(await body(world.desk('GET', '/desk/deliveries?from=2020-01-01T00:00:00Z'))).toMatchObject({
      deliveries: [{ headline: 'Later bread' }, { delivery_id: id }],
      complete: true,
    });
    await world.running.indexer.catchUp();
    expect(await find(world, 'q=bread')).toHaveLength(2);
  });

  test('[D47] of a delivery with more words than anybody reads, the first are found', async () => {
    const { world } = await openDesk();
    const id = await world.deliver({ details: { text: `earliest ${'a '.repeat(200_000)} latest` } });
    expect(await find(world, 'q=earliest')).toEqual([id]);
    expect(await find(world, 'q=latest')).toEqual([]);
  });

  test('[D47] several words must all be there, wherever, in any order', async () => {
    const { world } = await openDesk();
    const both = await world.deliver({ headline: 'Red door', details: { note: 'with a blue window' } });
    await world.deliver({ headline: 'Red roof', details: null });
    await world.deliver({ headline: 'Blue roof', details: null });
    await world.running.indexer.catchUp();
    expect(await find(world, 'q=blue+red')).toEqual([both]);
    expect(await find(world, 'q=red+red')).toHaveLength(2);
  });

  test('[D47] newest first, in all sections, by pages that neither skip nor repeat', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) ids.push(await world.deliver({ headline: `Number ${i}` }));
    await world.decide(ids[3] ?? '', { status: 'approved' });
    await world.running.indexer.catchUp();
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const next: string = cursor === '' ? '' : `&cursor=${cursor}`;
      const page: Page = await body<Page>(world.desk('GET', `/desk/deliveries?q=number&limit=3${next}`));
      seen.push(...page.deliveries.map((d) => d.delivery_id));
      cursor = page.next_cursor;
    }
    expect(seen).toEqual([...ids].reverse());
  });

  test('[D47] together with section, agent and type', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const other = await world.addAgent({ id: 'agent-02' });
    const mine = await world.deliver({ headline: 'Tea' });
    const theirs = await world.deliver({ headline: 'Tea', agent_id: 'agent-02', type: 'output' }, other.key);
    await world.decide(mine, { status: 'approved' });
    await world.running.indexer.catchUp();
    expect(await find(world, 'q=tea&agent=agent-02')).toEqual([theirs]);
    expect(await find(world, 'q=tea&type=question')).toEqual([mine]);
    expect(await find(world, 'q=tea&section=earlier')).toEqual([mine]);
    expect(await find(world, 'q=tea&section=alerts')).toEqual([]);
  });

  test('[D47] finds feedback once the decision is in effect, and never an undone one', async () => {
    const { world } = await openDesk();
    const kept = await world.deliver();
    const undone = await world.deliver();
    await world.decide(kept, { status: 'redirected', feedback: 'More marzipan' });
    await world.decide(undone, { status: 'rejected', feedback: 'Less marzipan' });
    await world.desk('DELETE', `/desk/deliveries/${undone}/decision`);
    await world.running.indexer.catchUp();
    expect(await find(world, 'q=marzipan')).toEqual([]);
    await world.tick(11 * SECOND);
    await world.running.indexer.catchUp();
    expect(await find(world, 'q=marzipan')).toEqual([kept]);
  });

  test('[D47] the index catches up after a restart, and repeating itself changes nothing', async () => {
    const { world } = await openDesk();
    const id = await world.deliver({ headline: 'Before the stop' });
    await world.restart();
    await world.running.indexer.catchUp();
    expect(await find(world, 'q=stop')).toEqual([id]);
    await world.room.store.write(world.space.id, ['indexed'], async (tx) => {
      await tx.heads.get('indexed');
      tx.heads.set('indexed', { n: 0, at: 0, text: '' });
    });
    await world.running.indexer.catchUp();
    expect(await find(world, 'q=stop')).toEqual([id]);
  });

  test('[D47] one step takes so many lines only, and says whether there is more', async () => {
    const { world } = await openDesk();
    await world.running.indexer.stop(); // this test takes the steps itself
    for (let i = 0; i < 55; i++) await world.deliver({ headline: `Line ${i}` });
    const step = { lines: 50, letOthers: async () => {} };
    expect(await indexSome(world.room, world.space.id, step)).toBe(true);
    expect((await find(world, 'q=line')).length).toBeLessThan(55);
    expect(await indexSome(world.room, world.space.id, step)).toBe(false);
    expect(await find(world, 'q=line&limit=200')).toHaveLength(55);
  });

  test('[D47] patience is for what it cannot follow: caught up, it takes the next line at once, however busy the server is', async () => {
    const { world } = await openDesk();
    await world.running.indexer.stop();
    const { data, room } = world.running.ground;
    const forEver = { lines: 50, restAfterPart: () => 0, restMs: 2 ** 31 - 1 };
    const indexer = new Indexer({ room, wakeups: data.store.signals, warn: () => {}, pace: () => forEver });
    onTestFinished(() => indexer.stop());
    await indexer.start();
    for (const word of ['plums', 'pears', 'quinces']) {
      const id = await world.deliver({ headline: `About ${word}` });
      await until(async () => (await find(world, `q=${word}`))[0] === id);
    }
  });

  test('[D47] what one step leaves over is taken by the next, also when nothing is announced meanwhile', async () => {
    const { world } = await openDesk();
    await world.running.indexer.stop();
    for (let i = 0; i < 12; i++) await world.deliver({ headline: `Line ${i}` });
    const { data, room } = world.running.ground;
    const few = { lines: 5, restAfterPart: () => 0, restMs: 0 };
    const indexer = new Indexer({ room, wakeups: data.store.signals, warn: () => {}, pace: () => few });
    onTestFinished(() => indexer.stop());
    await indexer.start();
    // Checked in the store, because a search also finds what is not in the index yet.
    const line = room.vault.wordKey(world.space.id, 'line');
    await until(async () => (await world.sql('select seq from words where word = ?', line)).length === 12);
  });

  test('[D47] a step takes in hundreds of lines, in parts that are small enough to wait for', async () => {
    const { world } = await openDesk();
    await world.running.indexer.stop();
    const { room, space } = world;
    for (let i = 0; i < 200; i += 20)
      await Promise.all(Array.from({ length: 20 }, (_, n) => world.deliver({ headline: `Line ${i + n}` })));
    let parts = 0;
    const letOthers = async () => void parts++;
    expect(await indexSome(room, space.id, { lines: 250, letOthers })).toBe(false);
    expect(await find(world, 'q=line&limit=200')).toHaveLength(200);
    const rows = await world.sql('select word from words');
    const lookedAt = Math.floor(200 / 50);
    expect(parts).toBe(lookedAt + Math.ceil(200 / 3) + Math.ceil(rows.length / 120) - 1);
  });

  test('[D47] lines that have no words are passed in one step, however many pages they fill', async () => {
    const { world } = await openDesk();
    await world.running.indexer.stop();
    const { room, space } = world;
    await room.store.write(space.id, ['ledger'], async (tx) => {
      const entry = { actor: 'test', action: 'event.accepted', subject: 'nothing to find', data: {} };
      for (let i = 0; i < 100; i++) await record(room, tx, room.clock.now(), entry);
    });
    const id = await world.deliver({ headline: 'Behind them all' });
    await indexSome(room, space.id, { lines: 5, letOthers: async () => {} });
    expect(await find(world, 'q=behind')).toEqual([id]);
  });

  test('[D47] a few lines that have no words cost no commit, and are passed again with the next that has some', async () => {
    const { world } = await openDesk();
    await world.running.indexer.stop();
    const { room, space } = world;
    const mark = () => room.store.read(space.id, async (tx) => (await tx.heads.get('indexed'))?.n ?? 0);
    while (await indexSome(room, space.id));
    const silent = (count: number) =>
      room.store.write(space.id, ['ledger'], async (tx) => {
        const entry = { actor: 'test', action: 'event.accepted', subject: 'nothing to find', data: {} };
        for (let i = 0; i < count; i++) await record(room, tx, room.clock.now(), entry);
      });
    const step = { lines: 40, letOthers: async () => {} };
    const before = await mark();
    await silent(20);
    expect(await indexSome(room, space.id, step)).toBe(false);
    expect(await mark()).toBe(before);
    const id = await world.deliver({ headline: 'Behind a few' });
    expect(await indexSome(room, space.id, step)).toBe(false);
    expect(await find(world, 'q=behind')).toEqual([id]);
    const after = await mark();
    expect(after).toBeGreaterThan(before + 20);
    await silent(60);
    expect(await indexSome(room, space.id, step)).toBe(false);
    expect(await mark()).toBe(after + 60);
  });

  test('[D47] what has more words than are held at once is taken in by several steps', async () => {
    const { world } = await openDesk();
    await world.running.indexer.stop();
    const many = (n: number) => Array.from({ length: 5500 }, (_, i) => `w${n}x${i}`).join(' ');
    for (let n = 0; n < 14; n++) await world.deliver({ headline: `Long ${n}`, details: { text: many(n) } });
    expect(await indexSome(world.room, world.space.id)).toBe(true);
    const long = world.room.vault.wordKey(world.space.id, 'long');
    const [some] = await world.sql('select count(*) as n from words where word = ?', long);
    expect(Number(some?.n)).toBeGreaterThan(0);
    expect(Number(some?.n)).toBeLessThan(14);
    while (await indexSome(world.room, world.space.id));
    expect(await find(world, 'q=long&limit=200')).toHaveLength(14);
  });

  test('[D47] by time, without words', async () => {
    const { world, clock } = await openDesk();
    const first = await world.deliver();
    clock.turn(DAY);
    const second = await world.deliver();
    expect(await find(world, 'from=2026-11-16T00:00:00Z')).toEqual([second]);
    expect(await find(world, 'to=2026-11-16T00:00:00Z')).toEqual([first]);
    expect(await find(world, 'from=2026-11-15T00:00:00Z&to=2026-11-17T00:00:00Z')).toEqual([second, first]);
  });

  test('[D47] a question without words, too long, or with a made-up cursor is refused', async () => {
    const { world } = await openDesk();
    const ask = (query: string) => refused(world.desk('GET', `/desk/deliveries?${query}`));
    expect(await ask('q=%20-%20')).toMatchObject({ status: 422, field: 'q' });
    expect(await ask(`q=${'word+'.repeat(100)}`)).toMatchObject({ status: 422, field: 'q' });
    expect(await ask('q=a&q=b')).toMatchObject({ status: 422, field: 'q' });
    expect(await ask('q=a&cursor=W10')).toMatchObject({ status: 422, field: 'cursor' });
    expect(await ask('from=yesterday')).toMatchObject({ status: 422, field: 'from' });
  });
});

describe('a rare thing among very many others', () => {
  /** 4500 rows; two alerts among updates, and two with both words among those with one of them. */
  async function crowded(): Promise<World> {
    const { world } = await openDesk();
    await world.running.indexer.stop();
    const space = world.space.id;
    const [common, other] = ['common', 'other'].map((word) => world.room.vault.wordKey(space, word));
    await world.room.store.write(space, [], async (tx) => {
      for (let n = 1; n <= 4500; n++) {
        const isRare = n === 10 || n === 4400;
        const type = isRare ? 'alert' : 'update';
        const seq = 100_000 + n;
        await tx.deliveries.insert(aDelivery({ space, id: `row-${n}`, type, seq }), new Uint8Array());
        await tx.search.add(common ?? '', seq);
        if (isRare || n > 4500 - 1100) await tx.search.add(other ?? '', seq + (isRare ? 0 : 1_000_000));
      }
    });
    return world;
  }

  test.each(['from=2020-01-01T00:00:00Z&type=alert', 'q=common&type=alert', 'q=common+other'])(
    '[D83] %s is looked for in steps: a page may be short or empty, and the next one continues after it',
    async (query) => {
      const world = await crowded();
      const pages: string[][] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const at: string = `/desk/deliveries?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`;
        const page: Page = await body<Page>(world.desk('GET', at));
        pages.push(page.deliveries.map((d) => d.delivery_id));
        cursor = page.next_cursor;
      }
      expect(pages).toEqual([['row-4400'], [], ['row-10']]);
    },
  );

  test('[D83] without a filter every page is full', async () => {
    const world = await crowded();
    const page = await body<Page>(world.desk('GET', '/desk/deliveries?from=2020-01-01T00:00:00Z&limit=200'));
    expect(page.deliveries).toHaveLength(200);
    expect(page.next_cursor).not.toBeNull();
  });
});

describe('the index', () => {
  test('[D48] holds nothing readable, and the same word differently in every space', async () => {
    const { world } = await openDesk();
    const vault = world.room.vault;
    expect(vault.wordKey('a', 'canary')).not.toContain('canary');
    expect(vault.wordKey('a', 'canary')).not.toBe(vault.wordKey('b', 'canary'));
    await world.deliver({ details: { note: 'canaryword' } });
    await world.running.indexer.catchUp();
    const rows = (await world.sql('select word from words')) as { word: string }[];
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.every(({ word }) => /^[\w-]{11}$/.test(word))).toBe(true);
  });

  test('[D47] a delivery that does not open any more holds up nobody behind it', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    await world.running.indexer.stop(); // or it may have read what is damaged below
    const damaged = await world.deliver({ headline: 'Burnt letter', details: { note: 'lost words' } });
    const behind = await world.deliver({ headline: 'Sound letter', details: { note: 'kept words' } });
    await world.decide(behind, { status: 'approved', feedback: 'gladly' });
    await world.sql('update deliveries set body = ? where delivery_id = ?', Buffer.from('ash'), damaged);
    await world.sql('update decisions set answer = ? where delivery_id = ?', Buffer.from('ash'), behind);
    const last = await world.deliver({ headline: 'Last letter', details: null });
    await world.running.indexer.catchUp();
    expect(await find(world, 'q=letter')).toEqual([last, behind, damaged]);
    expect(await find(world, 'q=kept')).toEqual([behind]);
    expect(await find(world, 'q=lost')).toEqual([]);
  });

  test('[D48] other spaces find nothing', async () => {
    const { world } = await openDesk();
    await world.deliver({ headline: 'Private matter' });
    const stranger = await world.addPerson('s@example.com', 'owner', await world.addSpace('other'));
    await world.running.indexer.catchUp();
    expect(await find(world, 'q=private', stranger.token)).toEqual([]);
  });

  test('[D48] what is deleted leaves it', async () => {
    const { world } = await openDesk({ env: { ...AT_ONCE, LANTERNROOM_RETENTION_DAYS: '1' } });
    const id = await world.deliver({ headline: 'Old leaves' });
    await world.decide(id, { status: 'approved' });
    await world.running.indexer.catchUp();
    expect(await find(world, 'q=leaves')).toEqual([id]);
    await world.tick(2 * DAY);
    expect(await world.sql('select count(*) as n from words')).toMatchObject([{ n: 0 }]);
  });
});
