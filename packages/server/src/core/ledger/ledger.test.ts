import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { aLine } from '../../testing/stores/things.ts';
import { ChainReader, checkpointText, GENESIS, type LedgerLine, lineHash } from './ledger.ts';

const sha256 = (text: string) => hash('sha256', text);

function chain(count: number): LedgerLine[] {
  const lines: LedgerLine[] = [];
  for (let seq = 1; seq <= count; seq++) {
    const line = aLine({ seq, at: seq * 10, data: JSON.stringify({ n: seq }) });
    lines.push({ ...line, hash: lineHash(sha256, lines.at(-1)?.hash ?? GENESIS, line) });
  }
  return lines;
}

/** The first thing that is wrong with these lines, or null. */
function firstFault(lines: readonly LedgerLine[]) {
  const reader = new ChainReader(sha256);
  for (const line of lines) {
    const fault = reader.next(line);
    if (fault !== null) return fault;
  }
  return null;
}

describe('the chain', () => {
  test('[D21] follows a whole ledger to its end', () => {
    const lines = chain(30);
    const reader = new ChainReader(sha256);
    expect(lines.map((line) => reader.next(line)).every((fault) => fault === null)).toBe(true);
    expect([reader.seq, reader.hash]).toEqual([30, lines.at(-1)?.hash]);
  });

  test('[D21] each hash covers the line before it and every word of its own', () => {
    const line = aLine();
    const before = lineHash(sha256, GENESIS, line);
    const others = [
      lineHash(sha256, before, line),
      ...(['seq', 'at'] as const).map((name) => lineHash(sha256, GENESIS, { ...line, [name]: 2 })),
      ...(['actor', 'action', 'subject', 'data'] as const).map((name) =>
        lineHash(sha256, GENESIS, { ...line, [name]: 'x' }),
      ),
    ];
    expect(new Set([before, ...others]).size).toBe(others.length + 1);
  });

  test('[D21] words cannot move from one field into the next', () => {
    const one = lineHash(sha256, GENESIS, aLine({ actor: 'a', action: 'bc' }));
    const two = lineHash(sha256, GENESIS, aLine({ actor: 'ab', action: 'c' }));
    const three = lineHash(sha256, GENESIS, aLine({ actor: 'a","b', action: 'c' }));
    expect(new Set([one, two, three]).size).toBe(3);
  });

  test('[D21] a changed, missing, doubled or exchanged line is named', () => {
    const lines = chain(12);
    const [third, fourth] = [lines[2], lines[3]];
    if (third === undefined || fourth === undefined) throw new Error('the chain is too short');
    expect(firstFault(lines.with(2, { ...third, data: '{}' }))).toMatchObject({ seq: 3 });
    expect(firstFault(lines.toSpliced(2, 1))).toEqual({
      seq: 3,
      problem: 'line 3 is missing (found 4 in its place)',
    });
    expect(firstFault(lines.toSpliced(2, 0, third))).toMatchObject({ seq: 4 });
    expect(firstFault(lines.with(2, fourth).with(3, third))).toMatchObject({ seq: 3 });
    const exchanged = lines.with(2, { ...fourth, seq: 3 }).with(3, { ...third, seq: 4 });
    expect(firstFault(exchanged)).toMatchObject({ seq: 3 });
    expect(firstFault(lines.slice(1))).toMatchObject({ seq: 1 });
  });
});

test('[D22] a signature covers the space, the place, the hash and the time of a checkpoint', () => {
  const unsigned = { space: 'sp_1', seq: 1, hash: 'h', at: 1 };
  const others = [{ space: 'sp_2' }, { seq: 2 }, { hash: 'g' }, { at: 2 }];
  const texts = others.map((over) => checkpointText({ ...unsigned, ...over }));
  expect(new Set([checkpointText(unsigned), ...texts]).size).toBe(5);
});
