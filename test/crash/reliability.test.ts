import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { faultTable } from '../support/faults/list.ts';
import { inRepo } from '../support/folder.ts';

const text = readFileSync(inRepo('docs/reliability.md'), 'utf8');
const cells = (line: string) => line.split('|').map((cell) => cell.trim().replace(/^-+$/, '---'));

test('docs/reliability.md shows the faults that the fault suite strikes with, and no others', () => {
  const wanted = faultTable().map(cells);
  const lines = text.split('\n');
  const at = lines.findIndex((line) => cells(line)[1] === wanted[0]?.[1]);
  expect(lines.slice(at, at + wanted.length).map(cells)).toEqual(wanted);
  expect(lines[at + wanted.length]).toBe('');
});

test('docs/reliability.md names tests that are there', () => {
  const named = [...text.matchAll(/`(?<path>(?:test|storage|desk|protocols|dispatch|core)\/[\w./-]+\.ts)`/g)];
  expect(named.length).toBeGreaterThan(10);
  const places = ['', 'packages/server/src/'];
  const missing = named.filter(({ groups }) => !places.some((p) => existsSync(inRepo(p + groups?.path))));
  expect(missing.map(([path]) => path)).toEqual([]);
});
