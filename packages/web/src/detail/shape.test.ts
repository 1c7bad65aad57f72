import { describe, expect, it } from 'vitest';
import { notesOf } from './notes.ts';
import { blocksOf, glanceAt, keyLabel, tableKeys, tableRows } from './shape.ts';

describe('the shape of details', () => {
  it('sees a table in a list of like objects', () => {
    expect(tableKeys([{ a: 1, b: 2 }, { a: 3 }])).toEqual(['a', 'b']);
    expect(tableKeys([{ a: 1 }])).toBeNull();
    expect(tableKeys([{ a: { deep: 1 } }, { a: 2 }])).toBeNull();
    expect(tableKeys([1, 2])).toBeNull();
  });

  it('reads the rows of a table by the names of their columns', () => {
    const rows = [[1, 'x'], [2]];
    expect(tableRows({ type: 'table', columns: ['a', 'b'], rows })).toEqual([
      { a: 1, b: 'x' },
      { a: 2, b: null },
    ]);
    expect(tableRows({ type: 'table', rows: [{ a: 1 }] })).toEqual([{ a: 1 }]);
    expect(tableRows({ type: 'table', columns: [1], rows })).toEqual(rows);
    expect(tableRows({ type: 'table' })).toEqual([]);
  });

  it('sees blocks only when every one of them is known', () => {
    expect(blocksOf({ blocks: [{ type: 'code', code: 'x' }] })).toHaveLength(1);
    expect(blocksOf({ blocks: [{ type: 'script' }] })).toBeNull();
    expect(blocksOf({ blocks: 'text' })).toBeNull();
  });

  it('tells what is in a folded part by the short things in it', () => {
    const branch = { name: 'feature/old', merged: false, age: 400, author: { name: 'A' }, note: null };
    expect(glanceAt(branch)).toBe('feature/old · 400');
    expect(glanceAt({ text: 'one\ntwo', author: {} })).toBe('');
    expect(glanceAt(['a', 2, {}, 'b'])).toBe('a · 2 · b');
    expect(glanceAt({ a: 'x'.repeat(60), b: 'y'.repeat(60) })).toHaveLength(80);
  });

  it('reads keys as words', () => {
    expect(keyLabel('due_date')).toBe('Due date');
    expect(keyLabel('dueDate')).toBe('Due date');
    expect(keyLabel('amountEUR')).toBe('Amount EUR');
    expect(keyLabel('Name of Anna')).toBe('Name of Anna');
    expect(keyLabel('url')).toBe('URL');
    expect(keyLabel('apiKeyId')).toBe('API key ID');
    expect(keyLabel('html_urls')).toBe('HTML URLs');
    expect(keyLabel('size_gb')).toBe('Size GB');
    expect(keyLabel('hideCurlings')).toBe('Hide curlings');
  });
});

describe('notes of an earlier answer', () => {
  it('are its list items or paragraphs, a quotation with the note that follows', () => {
    expect(notesOf('- one\n- two')).toEqual(['one', 'two']);
    expect(notesOf('First.\n\n> quoted\nSecond.')).toEqual(['First.', '> quoted\nSecond.']);
    expect(notesOf(null)).toEqual([]);
  });
});
