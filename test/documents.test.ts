import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { inRepo } from './support/folder.ts';

const DOCUMENTS = execFileSync('git', ['ls-files', '-z', '--', '*.md'], {
  cwd: inRepo('.'),
  encoding: 'utf8',
})
  .split('\0')
  .filter(Boolean);

/** Where the links of a document lead, as paths in the repository; addresses of the web are left out. */
function linksOf(document: string): string[] {
  const text = readFileSync(inRepo(document), 'utf8').replaceAll(/^```.*?^```$/gms, '');
  return [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^(https?:|mailto:|\/)/.test(target))
    .map((target) => normalize(join(dirname(document), target)));
}

test('every link in the documents leads to a file', () => {
  const dead = DOCUMENTS.flatMap((document) =>
    linksOf(document)
      .filter((path) => !existsSync(inRepo(path)))
      .map((path) => `${document}: ${path}`),
  );
  expect(dead).toEqual([]);
});

/** Where the server's own folders lie; the documents name them without the way there. */
const SOURCES = 'packages/server/src';

/** Files and folders of ours that a document names in code marks, such as `core/tasks/open` and `bench/run.mjs`. */
function pathsNamedIn(document: string): string[] {
  const folders = new Set([...readdirSync(inRepo('.')), ...readdirSync(inRepo(SOURCES))]);
  const text = readFileSync(inRepo(document), 'utf8');
  return [...text.matchAll(/`([a-z][\w-]*)((?:\/[\w.-]+)+)`/g)]
    .filter(([, folder = '']) => folders.has(folder))
    .map(([, folder = '', rest = '']) => folder + rest)
    .filter((path) => path !== 'bench/results/latest.json'); // written by a run
}

test('every source file that a document names is there', () => {
  const gone = DOCUMENTS.filter((document) => document !== 'CHANGELOG.md').flatMap((document) =>
    pathsNamedIn(document)
      .filter(
        (path) => ![path, `${SOURCES}/${path}`, `${SOURCES}/${path}.ts`].some((at) => existsSync(inRepo(at))),
      )
      .map((path) => `${document}: ${path}`),
  );
  expect(pathsNamedIn('ARCHITECTURE.md')).toContain('http/reading/strict-json');
  expect(gone).toEqual([]);
});

// A package is read where it was installed, without the repository around it.
test.each([
  'packages/adapters',
  'packages/agent',
  'packages/mcp',
  'packages/sdk',
  'packages/server',
  'python',
])('the README of %s leads to nothing outside of its package', (folder) => {
  const outside = linksOf(`${folder}/README.md`).filter((path) => !path.startsWith(`${folder}/`));
  expect(outside).toEqual([]);
});

test('the documents that a README names on the server are there', () => {
  const named = DOCUMENTS.flatMap((document) => [
    ...readFileSync(inRepo(document), 'utf8').matchAll(/`\/docs\/([\w-]+)`/g),
  ]).map(([, name = '']) => `docs/${name}.md`);
  expect(named).not.toEqual([]);
  expect(named.filter((path) => !existsSync(inRepo(path)))).toEqual([]);
});

test('[K28] the events of people that a document names are those that there are', () => {
  const texts = [...DOCUMENTS, 'packages/agent/src/help.ts'].filter((path) => path !== 'CHANGELOG.md');
  const named = texts.flatMap((path) =>
    [...readFileSync(inRepo(path), 'utf8').matchAll(/\bhuman\.[a-z_]+/g)].map(([name]) => name),
  );
  expect([...new Set(named)].sort()).toEqual(['human.approved', 'human.rejected', 'human.review_required']);
});
