import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
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
