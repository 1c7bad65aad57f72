import { describe, expect, test } from 'vitest';
import { SECOND } from '../../core/time.ts';
import { AT_ONCE, body, openDesk, refused } from '../../testing/desk/desk.ts';
import { aDelivery } from '../../testing/stores/things.ts';
import type { World } from '../../testing/world.ts';

type Row = { delivery_id: string; section: string; headline: string };
type Page = { deliveries: Row[]; next_cursor: string | null };

const page = (world: World, query = '') => body<Page>(world.desk('GET', `/desk/deliveries${query}`));

/** Turns page after page to the end. */
async function pages(world: World, query: string): Promise<string[]> {
  const seen: string[] = [];
  let cursor: string | null = null;
  do {
    const next: Page = await page(world, `?${query}${cursor === null ? '' : `&cursor=${cursor}`}`);
    seen.push(...next.deliveries.map((d) => d.headline));
    cursor = next.next_cursor;
  } while (cursor !== null);
  return seen;
}

/** The agent is known, so that deliveries take their ordinary places. */
async function openKnown(env: Record<string, string> = {}) {
  const { world, clock } = await openDesk({ env: { ...AT_ONCE, ...env } });
  await world.decide(await world.deliver({ headline: 'first of all' }), { status: 'approved' });
  const deliver = (headline: string, over: Record<string, unknown> = {}) => {
    clock.turn(SECOND);
    return world.deliver({ headline, timeout_seconds: null, ...over });
  };
  return { world, clock, deliver };
}

describe('the list', () => {
  test('[D9] has everything open in the order of the desk; needs_you by deadline, then oldest first', async () => {
    const { world, deliver } = await openKnown();
    await deliver('an update', { type: 'update' });
    await deliver('an old question');
    await deliver('an output', { type: 'output' });
    await deliver('due later', { timeout_seconds: 7200 });
    await deliver('an alert', { type: 'alert' });
    await deliver('due soon', { timeout_seconds: 60 });
    const snoozed = await deliver('snoozed');
    await world.desk('POST', `/desk/deliveries/${snoozed}/snooze`, { until: '2030-01-01T00:00:00Z' });
    const other = await world.addAgent({ id: 'newcomer' });
    await world.deliver({ headline: 'from a new agent', agent_id: 'newcomer' }, other.key);
    const { deliveries, next_cursor } = await page(world);
    expect(deliveries.map((d) => [d.section, d.headline])).toEqual([
      ['needs_you', 'due soon'],
      ['needs_you', 'due later'],
      ['needs_you', 'an old question'],
      ['needs_you', 'an output'],
      ['alerts', 'an alert'],
      ['new_agents', 'from a new agent'],
      ['to_read', 'an update'],
      ['snoozed', 'snoozed'],
    ]);
    expect(next_cursor).toBeNull();
  });

  test('[D9] Earlier is newest first', async () => {
    const { world, deliver, clock } = await openKnown();
    for (const headline of ['one', 'two', 'three']) {
      const id = await deliver(headline);
      clock.turn(SECOND);
      await world.decide(id, { status: 'rejected' });
    }
    expect(await pages(world, 'section=earlier&limit=1')).toEqual(['three', 'two', 'one', 'first of all']);
  });

  test('[D9] pages neither skip nor repeat, of whatever size, and across sections', async () => {
    const { world, deliver } = await openKnown();
    for (let i = 0; i < 5; i++) await deliver(`question ${i}`, i % 2 ? { timeout_seconds: 3600 - i } : {});
    for (let i = 0; i < 4; i++) await deliver(`alert ${i}`, { type: 'alert' });
    for (let i = 0; i < 3; i++) await deliver(`update ${i}`, { type: 'update' });
    const whole = (await page(world)).deliveries.map((d) => d.headline);
    expect(whole).toHaveLength(12);
    for (const limit of [1, 2, 5, 11, 12, 13]) expect(await pages(world, `limit=${limit}`)).toEqual(whole);
    expect(await pages(world, 'section=alerts&limit=3')).toEqual(whole.slice(5, 9));
  });

  test('[D9] what stays where it is, is seen once, while others come, go and are decided', async () => {
    const { world, deliver } = await openKnown();
    const ids: string[] = [];
    for (let i = 0; i < 9; i++) ids.push(await deliver(`question ${i}`));
    const first = await page(world, '?limit=3');
    await world.decide(ids[1] ?? '', { status: 'approved' });
    await world.decide(ids[5] ?? '', { status: 'approved' });
    await deliver('urgent', { timeout_seconds: 60 });
    await deliver('last');
    const rest = await page(world, `?cursor=${first.next_cursor}`);
    expect(rest.deliveries.map((d) => d.headline)).toEqual([
      'question 3',
      'question 4',
      'question 6',
      'question 7',
      'question 8',
      'last',
    ]);
  });

  test('[D9] is narrowed by section, agent and type', async () => {
    const { world, deliver } = await openKnown();
    await deliver('a question');
    await deliver('an output', { type: 'output' });
    const other = await world.addAgent({ id: 'other' });
    await world.deliver({ headline: 'of another', agent_id: 'other' }, other.key);
    const headlines = async (query: string) => (await page(world, query)).deliveries.map((d) => d.headline);
    expect(await headlines('?type=output')).toEqual(['an output']);
    expect(await headlines('?agent=other')).toEqual(['of another']);
    expect(await headlines('?agent=nobody')).toEqual([]);
    expect(await headlines('?section=needs_you&agent=agent-01&type=question')).toEqual(['a question']);
  });

  test.each([
    ['section=everything', 'section'],
    ['type=letter', 'type'],
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['agent=a&agent=b', 'agent'],
    ['cursor=nonsense', 'cursor'],
    [`cursor=${Buffer.from('["needs_you","1",1]').toString('base64url')}`, 'cursor'],
    [`cursor=${Buffer.from('null').toString('base64url')}`, 'cursor'],
  ])('[D9] ?%s is refused and named', async (query, field) => {
    const { world } = await openDesk();
    expect(await refused(world.desk('GET', `/desk/deliveries?${query}`))).toEqual({
      status: 422,
      code: 'invalid_field',
      field,
    });
  });

  test('[D9] a cursor of another section is refused instead of starting again', async () => {
    const { world, deliver } = await openKnown();
    for (const headline of ['one', 'two']) await deliver(headline);
    const { next_cursor } = await page(world, '?section=needs_you&limit=1');
    const other = world.desk('GET', `/desk/deliveries?section=alerts&cursor=${next_cursor}`);
    expect(await refused(other)).toMatchObject({ status: 422, field: 'cursor' });
  });

  test('[D9] every cursor that is given out is taken back', async () => {
    const { world, deliver } = await openKnown();
    for (const [headline, until] of [
      ['one', '2200-01-01T00:00:00Z'],
      ['two', '2254-12-31T00:00:00Z'],
      ['three', '2255-01-01T00:00:00Z'],
    ] as const) {
      const id = await deliver(headline);
      await body(world.desk('POST', `/desk/deliveries/${id}/snooze`, { until }));
    }
    expect(await pages(world, 'section=snoozed&limit=1')).toEqual(['one', 'two', 'three']);
    const id = await deliver('four');
    const tooLate = world.desk('POST', `/desk/deliveries/${id}/snooze`, { until: '9999-12-31T23:59:59Z' });
    expect(await refused(tooLate)).toMatchObject({ status: 422, field: 'until' });
  });

  test('[D9] shows neither details nor answers', async () => {
    const { world, deliver } = await openKnown();
    await deliver('with details', { details: { secret_plan: 'x' } });
    expect(JSON.stringify(await page(world))).not.toContain('secret_plan');
  });
});

describe('a type among very many others', () => {
  test('[D83] is searched in steps: a page may be short, and the next one continues after it', async () => {
    const { world } = await openKnown();
    const space = world.space.id;
    await world.room.store.write(space, [], async (tx) => {
      for (let n = 1; n <= 4500; n++) {
        const type = n === 10 || n === 4400 ? 'alert' : 'update';
        const place = { section: 'to_read', sectionAt: n, seq: 100_000 + n } as const;
        await tx.deliveries.insert(aDelivery({ space, id: `row-${n}`, type, ...place }), new Uint8Array());
      }
    });
    const ask = (cursor: string | null) =>
      page(world, `?section=to_read&type=alert${cursor === null ? '' : `&cursor=${cursor}`}`);
    const first = await ask(null);
    expect(first.deliveries.map((d) => d.delivery_id)).toEqual(['row-10']);
    const second = await ask(first.next_cursor);
    expect(second.deliveries).toEqual([]);
    const third = await ask(second.next_cursor);
    expect(third).toMatchObject({ deliveries: [{ delivery_id: 'row-4400' }], next_cursor: null });
    const updates = await page(world, '?section=to_read&type=update&limit=20');
    expect(updates.deliveries).toHaveLength(20);
    expect(updates.next_cursor).not.toBeNull();
  });
});
