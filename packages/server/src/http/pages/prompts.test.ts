import { expect, test } from 'vitest';
import { flowing } from './prompts.ts';

test.each([
  ['a paragraph', 'one two\nthree\n\nfour', 'one two three\n\nfour'],
  [
    'items, and what goes on below them',
    '- one\n  goes on\n- two\n1. three\n   too',
    '- one goes on\n- two\n1. three too',
  ],
  ['a heading', '## How\ntext\nmore', '## How\ntext more'],
  ['code', 'so:\n```sh\na \\\n  b\n```\nand\non', 'so:\n```sh\na \\\n  b\n```\nand on'],
  ['an empty line in code', '```\na\n\nb\nc\n```', '```\na\n\nb\nc\n```'],
  ['words that begin like code', 'with\n`type` there', 'with `type` there'],
])('[D42] in a prompt, %s flows as wide as its reader', (_, written, read) => {
  expect(flowing(written)).toBe(read);
});
