import { describe, expect, it, vi } from 'vitest';

vi.stubGlobal('localStorage', { getItem: () => null, setItem: () => {} });
const { sortBulk } = await import('./bulk.ts');

const detail = (id: string, more: object = {}) =>
  ({
    delivery_id: id,
    state: 'pending',
    type: 'question',
    content_sha256: `hash-${id}`,
    content: {},
    details: null,
    ...more,
  }) as never;

describe('deciding together', () => {
  it('includes only what was opened and is still the same', () => {
    const seen = { a: 'hash-a', b: 'an older hash' };
    const { included, leftOut } = sortBulk([detail('a'), detail('b'), detail('c')], seen);
    expect(included.map(({ row }) => row.delivery_id)).toEqual(['a']);
    expect(leftOut.map(({ reason }) => reason)).toEqual(['changed since you opened it', 'not opened yet']);
  });

  it('leaves out what cannot be undone, what is answered, and what asks for nothing', () => {
    const seen = { a: 'hash-a', b: 'hash-b', c: 'hash-c' };
    const { leftOut } = sortBulk(
      [
        detail('a', { details: { reversible: false } }),
        detail('b', { state: 'decided' }),
        detail('c', { type: 'update' }),
        detail('d', { state: 'withdrawn' }),
        detail('e', { state: 'superseded' }),
      ],
      seen,
    );
    expect(leftOut.map(({ reason }) => reason)).toEqual([
      'cannot be undone: decide it by itself',
      'already answered',
      'asks for no answer',
      'withdrawn by the agent',
      'replaced by a newer revision',
    ]);
  });
});
