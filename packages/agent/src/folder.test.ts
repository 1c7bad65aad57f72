import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeFolder } from './folder.ts';

it('[W23] a folder is made with those above it; where none can be made, it says so and does not try for ever', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lantern-folder-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const deep = join(folder, 'a', 'b');
  makeFolder(deep, 0o700);
  makeFolder(deep, 0o700);
  expect(statSync(deep).mode & 0o777).toBe(0o700);
  expect(() => makeFolder('/proc/nobody/.lantern')).toThrow(
    /^The folder \S+ cannot be made \(\w+\)\. Check HOME/,
  );
});
