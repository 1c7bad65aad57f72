import { describe, expect, it } from 'vitest';
import type { Row } from '../api/types.ts';
import { rowWords } from './delivery.ts';

const now = new Date(2026, 10, 18, 15, 37).getTime();
const at = (day: number, hour: number) => new Date(2026, 10, day, hour, 30).toISOString();
const row = (more: Partial<Row>) =>
  ({
    state: 'pending',
    timeout_at: null,
    timed_out_at: null,
    snoozed_until: null,
    read_at: null,
    ...more,
  }) as Row;

describe('the words under a headline', () => {
  it('say which day it is that it times out, within a day', () => {
    expect(rowWords(row({ timeout_at: at(18, 17) }), now)).toEqual(['until 17:30']);
    expect(rowWords(row({ timeout_at: at(19, 15) }), now)).toEqual(['until tomorrow 15:30']);
    expect(rowWords(row({ timeout_at: at(19, 16) }), now)).toEqual([]);
  });

  it('say that its agent withdrew it, unless a task asked, which others end too', () => {
    expect(rowWords(row({ state: 'withdrawn' }), now)).toEqual(['withdrawn by the agent']);
    expect(rowWords(row({ state: 'withdrawn', provider: 'a2a' }), now)).toEqual(['no longer asked']);
  });
});
