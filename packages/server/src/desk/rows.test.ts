import { describe, expect, test } from 'vitest';
import { body, openDesk } from '../testing/desk.ts';

type Row = { delivery_id: string; parts: number; irreversible: boolean };

const BLOCKS = [
  { type: 'markdown', text: 'One' },
  { type: 'code', code: 'two' },
];

describe('a row', () => {
  test.each<[string, Record<string, unknown>, Omit<Row, 'delivery_id'>]>([
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
});
