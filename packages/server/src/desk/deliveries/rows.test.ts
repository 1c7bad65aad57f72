import { describe, expect, test } from 'vitest';
import { body, openDesk } from '../../testing/desk/desk.ts';

type Row = { delivery_id: string; parts: number; irreversible: boolean; held_status?: string | null };

const BLOCKS = [
  { type: 'markdown', text: 'One' },
  { type: 'code', code: 'two' },
];

describe('a row', () => {
  test.each<[string, Record<string, unknown>, Pick<Row, 'parts' | 'irreversible'>]>([
    ['a text', { details: 'Only words.' }, { parts: 0, irreversible: false }],
    ['nothing', { details: null }, { parts: 0, irreversible: false }],
    ['an object', { details: { a: 1, b: { c: 2 }, d: [1, 2, 3] } }, { parts: 3, irreversible: false }],
    ['blocks', { details: { blocks: BLOCKS } }, { parts: 2, irreversible: false }],
    ['what cannot be undone', { details: { reversible: false } }, { parts: 1, irreversible: true }],
    ['the same, said outside', { details: 'x', irreversible: true }, { parts: 0, irreversible: true }],
    ['what can', { details: { irreversible: 'yes', reversible: 0 } }, { parts: 2, irreversible: false }],
  ])('[D57] of %s says its parts, and whether it cannot be undone', async (_, sent, expected) => {
    const { world } = await openDesk();
    const id = await world.deliver(sent);
    const { deliveries } = await body<{ deliveries: Row[] }>(world.desk('GET', '/desk/deliveries'));
    expect(deliveries).toMatchObject([{ delivery_id: id, ...expected }]);
    expect(await body(world.desk('GET', `/desk/deliveries/${id}`))).toMatchObject(expected);
    await world.restart();
    expect(await body(world.desk('POST', `/desk/deliveries/${id}/read`, {}))).toMatchObject(expected);
  });

  test.each(['approved', 'rejected', 'redirected'])(
    '[D13] that is held says on every list that it is %s, and nobody else is told',
    async (status) => {
      const { world } = await openDesk();
      const id = await world.deliver({ headline: 'Shall I?' });
      const other = await world.deliver();
      const answered = await body(world.decide(id, { status, feedback: 'So.' }));
      expect(answered).toMatchObject({ state: 'held', status: 'pending', held_status: status });
      for (const list of ['/desk/deliveries', '/desk/deliveries?from=2026-01-01T00:00:00Z']) {
        const { deliveries } = await body<{ deliveries: Row[] }>(world.desk('GET', list));
        const saying = deliveries.map(({ delivery_id, held_status }) => [delivery_id, held_status]);
        expect(new Map(saying as [string, unknown][])).toEqual(
          new Map([
            [id, status],
            [other, null],
          ] as never),
        );
      }
      expect(await body(world.desk('GET', `/desk/deliveries/${id}`))).toMatchObject({ held_status: status });
      expect(await (await world.get(`/wake/v1/response/${id}`)).text()).not.toContain(status);
      await world.desk('DELETE', `/desk/deliveries/${id}/decision`);
      expect(await body(world.desk('GET', `/desk/deliveries/${id}`))).toMatchObject({ held_status: null });
    },
  );

  test('[D15] that was read says by whom, in its detail', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const detail = () => body(world.desk('GET', `/desk/deliveries/${id}`));
    expect(await detail()).toMatchObject({ read_at: null, read_by: null });
    const { person, token } = await world.addPerson('other@example.com', 'decider');
    await world.desk('POST', `/desk/deliveries/${id}/read`, {}, token);
    expect(await detail()).toMatchObject({ read_by: { person_id: person.id, name: person.name } });
  });
});
