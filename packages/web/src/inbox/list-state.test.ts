import { describe, expect, it } from 'vitest';
import type { Row, Section } from '../api/types.ts';
import { listItems } from './list-items.ts';
import { EMPTY, type ListState, neighbour, nextWaiting, reduceList, tidePlace } from './list-state.ts';

function row(id: string, section: Section = 'needs_you', more: Partial<Row> = {}): Row {
  return {
    delivery_id: id,
    agent_id: 'clerk',
    tier: 'live',
    provider: 'p',
    type: 'question',
    headline: id,
    summary: '',
    status: 'pending',
    state: 'pending',
    section,
    created_at: '2026-11-15T09:00:00.000000Z',
    changed_at: '2026-11-15T09:00:00.000000Z',
    timeout_at: null,
    timed_out_at: null,
    effect_at: null,
    snoozed_until: null,
    read_at: null,
    withdrawn_at: null,
    task_id: null,
    thread_id: null,
    interrupt_id: null,
    revises: null,
    revision: 1,
    superseded_by: null,
    parts: 0,
    irreversible: false,
    ...more,
  };
}

const settled = (rows: Row[], state: ListState = EMPTY) =>
  reduceList(state, { kind: 'settle', pages: [{ deliveries: rows, next_cursor: null }], next: null, at: 1 });
const ids = (state: ListState) => state.entries.map((entry) => entry.id);

describe('the order of the list', () => {
  it('never moves under the person: a changed row stays where it stands', () => {
    const before = settled([row('a'), row('b'), row('c')]);
    const after = reduceList(before, { kind: 'rows', rows: [row('b', 'earlier', { state: 'decided' })] });
    expect(ids(after)).toEqual(['a', 'b', 'c']);
    expect(after.entries[1]?.section).toBe('needs_you');
    expect(after.rows.b?.state).toBe('decided');
  });

  it('lets arrivals wait until the person asks', () => {
    const before = settled([row('a')]);
    const after = ['x', 'y', 'x'].reduce((s, id) => reduceList(s, { kind: 'rows', rows: [row(id)] }), before);
    expect(ids(after)).toEqual(['a']);
    expect(after.arrivals).toEqual(['y', 'x']);
    expect(ids(settled([row('x'), row('a'), row('y')], after))).toEqual(['x', 'a', 'y']);
    expect(settled([row('x'), row('a'), row('y')], after).arrivals).toEqual([]);
  });

  it('counts only what fits the filter, and no longer what was answered meanwhile', () => {
    const start = reduceList(EMPTY, { kind: 'start', filter: { type: 'alert' } });
    const before = settled([], start);
    expect(reduceList(before, { kind: 'rows', rows: [row('q')] }).arrivals).toEqual([]);
    const alert = reduceList(before, { kind: 'rows', rows: [row('w', 'alerts', { type: 'alert' })] });
    expect(alert.arrivals).toEqual(['w']);
    const gone = row('w', 'earlier', { type: 'alert', state: 'decided' });
    expect(reduceList(alert, { kind: 'rows', rows: [gone] }).arrivals).toEqual([]);
  });

  it('takes in many at once as it does one by one', () => {
    const before = reduceList(settled([row('a'), row('b')]), { kind: 'rows', rows: [row('w'), row('x')] });
    const told = [row('b', 'earlier'), row('x'), row('y'), row('w', 'earlier'), row('y'), row('z', 'alerts')];
    const oneByOne = told.reduce((s, one) => reduceList(s, { kind: 'rows', rows: [one] }), before);
    expect(reduceList(before, { kind: 'rows', rows: told })).toEqual(oneByOne);
  });

  it('reads a very long list again without holding up the page', () => {
    // One copy for each row would take hours here.
    const rows = Array.from({ length: 50_000 }, (_, n) => row(`r${n}`));
    const pages = [{ deliveries: rows.map((old) => ({ ...old, summary: 'new' })), next_cursor: null }];
    const after = reduceList(settled(rows), { kind: 'refresh', pages });
    expect(after.rows.r49999?.summary).toBe('new');
    expect(after.arrivals).toEqual([]);
  });

  it('keeps what it had when a refresh fails, and says so', () => {
    const before = settled([row('a')]);
    const after = reduceList(before, { kind: 'failed', why: 'Gone.' });
    expect(after).toMatchObject({ phase: 'ready', stale: true, loadedAt: 1 });
    expect(reduceList(EMPTY, { kind: 'failed', why: 'Gone.' }).phase).toBe('failed');
  });

  it('shows no row twice when pages overlap', () => {
    const before = settled([row('a'), row('b')]);
    const page = { deliveries: [row('b'), row('c')], next_cursor: null };
    expect(ids(reduceList(before, { kind: 'more', page, next: null }))).toEqual(['a', 'b', 'c']);
  });
});

describe('moving about', () => {
  const state = settled([row('a'), row('b', 'needs_you', { state: 'held' }), row('c'), row('d', 'to_read')]);

  it('steps to the neighbour and stops at the ends', () => {
    expect(neighbour(state.entries, null, 1)).toBe('a');
    expect(neighbour(state.entries, 'a', 1)).toBe('b');
    expect(neighbour(state.entries, 'a', -1)).toBe('a');
    expect(neighbour(state.entries, 'd', 1)).toBe('d');
    expect(neighbour([], null, 1)).toBeNull();
  });

  it('goes on to the next thing that still waits, then round to the top', () => {
    expect(nextWaiting(state, 'a')).toBe('c');
    expect(nextWaiting(state, 'c')).toBe('a');
    expect(nextWaiting(settled([row('a'), row('d', 'to_read')]), 'a')).toBeNull();
  });
});

describe('the tide line', () => {
  const old = { created_at: '2026-11-15T08:00:00.000000Z' };
  const sat = '2026-11-15T08:30:00.000000Z';

  it('stands above the first row that arrived since the person last sat', () => {
    const state = settled([row('due', 'needs_you', old), row('new'), row('newer')]);
    expect(tidePlace(state, sat)).toBe('new');
    expect(listItems(state, sat).map((item) => item.key)).toEqual([
      'h-needs_you',
      'due',
      'tide',
      'new',
      'newer',
    ]);
  });

  it('goes below a due row that is older, whatever stands above it', () => {
    expect(tidePlace(settled([row('new'), row('old', 'needs_you', old)]), sat)).toBeNull();
    expect(tidePlace(settled([row('old', 'needs_you', old), row('w', 'alerts')]), sat)).toBe('w');
  });

  it('is not there before the first sitting', () => {
    expect(tidePlace(settled([row('a')]), null)).toBeNull();
  });
});
