import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

const LIBRARIES = ['sdk', 'mcp', 'adapters'];

/** The files of a built library that end so, by their paths. */
function builtFiles(name: string, ending: string): string[] {
  const folder = inRepo(`packages/${name}/dist`);
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(ending))
    .map((path) => join(folder, path));
}

test.each(LIBRARIES)(
  'the types of %s can be read by TypeScript before 5.7, where arrays of bytes are not generic',
  (name) => {
    const types = builtFiles(name, '.d.ts');
    expect(types.length).toBeGreaterThan(0);
    const unreadable = types.filter((path) => /\b(Uint8Array|Buffer)</.test(readFileSync(path, 'utf8')));
    expect(unreadable).toEqual([]);
  },
);

test.each(LIBRARIES)('the maps of %s bring the sources that they name', (name) => {
  const maps = builtFiles(name, '.js.map');
  expect(maps.length).toBeGreaterThan(0);
  const empty = maps.filter((path) => !readFileSync(path, 'utf8').includes('"sourcesContent":["'));
  expect(empty).toEqual([]);
});
