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

test('the bundler runs in a process of its own, because `npm start` becomes the server and would keep its memory', () => {
  const scripts = readdirSync(inRepo('scripts')).filter((name) => name.endsWith('.mjs'));
  const loading = scripts.filter((name) =>
    /from '\.\/bundle\.mjs'|import\('rolldown'\)|from 'rolldown'/.test(
      readFileSync(inRepo(`scripts/${name}`), 'utf8'),
    ),
  );
  expect(loading).toEqual(['bundle.mjs']);
});

/** The packages from which a bundle's maps say that its lines come. */
function packagesInside(bundle: string): Set<string> {
  const maps = readdirSync(bundle).filter((name) => name.endsWith('.js.map'));
  const sources = maps.flatMap(
    (name) => (JSON.parse(readFileSync(join(bundle, name), 'utf8')) as { sources: string[] }).sources,
  );
  const found = sources.flatMap((path) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return new Set(found);
}

test('whoever gets the bundled server gets the licence of everything inside it', () => {
  const bundle = inRepo('packages/server/dist/bundle');
  const inside = packagesInside(bundle);
  expect(inside).toContain('fastify');
  const notices = readFileSync(join(bundle, 'third-party.txt'), 'utf8');
  const untold = [...inside].filter((name) => !notices.includes(`\n${name} `));
  expect(untold).toEqual([]);
  expect(notices).not.toContain('/node_modules/');
});

test('the page tells the licences of its programs and fonts', () => {
  const page = JSON.parse(readFileSync(inRepo('packages/web/package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const notices = readFileSync(inRepo('packages/server/public/third-party.txt'), 'utf8');
  const fonts = Object.keys(page.dependencies).filter((name) => name.startsWith('@fontsource'));
  expect(fonts.length).toBe(3);
  const untold = ['react', 'react-dom', ...fonts].filter((name) => !notices.includes(`\n${name} `));
  expect(untold).toEqual([]);
  expect(notices).toContain('SIL OPEN FONT LICENSE');
});
