import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sources } from '../scripts/compile.mjs';
import { inRepo } from './support/folder.ts';

test('a package is built anew when its sources change, and not because another was built into its folder', () => {
  expect(existsSync(inRepo('packages/server/public/index.html'))).toBe(true);
  const read = sources('packages/server');
  expect(read).toContain('packages/server/src/main.ts');
  expect(read.filter((path) => !/^packages\/server\/(src|bin)\//.test(path)).sort()).toEqual([
    'packages/server/package.json',
    'packages/server/tsconfig.build.json',
    'packages/server/tsconfig.json',
  ]);
});
