import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { endOfFormatted } from './beginning.ts';
import { MarkdownBody } from './MarkdownBody.tsx';

const formatted = (text: string) => text.slice(0, endOfFormatted(text));

const COSTLY = [
  '>',
  '> ',
  '- ',
  '1. ',
  '~a',
  '*a ',
  '**a',
  '_a',
  '`a',
  '[',
  '![',
  '- a\n',
  '[^a',
  '<a ',
  '\\',
  '&a',
];

describe('what of a text is formatted', () => {
  it.each(COSTLY)('[D90] of %j over and over only as much as is done at once, and nothing breaks', (unit) => {
    const text = formatted(unit.repeat(50_000 / unit.length));
    // Marks are what costs: the same sign is one wherever it stands, or only where a line begins.
    expect(text.match(/[>~*_`[\]]|^[-1]/gm)?.length ?? 0).toBeLessThanOrEqual(2_000);
    renderToStaticMarkup(createElement(MarkdownBody, { text, delivery: '' }));
  });

  it('[D90] all of a long report is, and of a longer one the beginning, up to the end of a line', () => {
    const report = `# A report\n\n${'- a point *of* some weight, and `code`\n\n'.repeat(300)}`;
    expect(formatted(report)).toBe(report);
    const novel = 'A line of a novel, which goes on.\n'.repeat(4_000);
    expect(formatted(novel).length).toBeGreaterThan(39_000);
    expect(formatted(novel).length).toBeLessThanOrEqual(40_000);
    expect(formatted(novel).at(-1)).toBe('\n');
  });

  it('[D90] what would be too deep is left as it was written, and what stands before it is not', () => {
    const before = 'First this.\n\nThen that.\n\n';
    expect(formatted(`${before}${'>'.repeat(2000)}`)).toBe(before);
    expect(formatted('> '.repeat(2000))).toBe('');
    const rule = `a\n\n${'-'.repeat(400)}\n\n${'*'.repeat(400)}\n`;
    expect(formatted(rule)).toBe(rule);
  });
});
