import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freshFolder, unprivileged } from '../../testing/folders.ts';
import { keysInFolder, newKey, replaceKeys, SECRET_FILE } from './master-key.ts';

test('[D25] keys that cannot be replaced stay as they are, and the sentence says what to do', () => {
  const folder = freshFolder();
  const key = newKey();
  writeFileSync(join(folder, SECRET_FILE), `${key}\n`);
  const replace = () => unprivileged(folder, () => replaceKeys(folder, [newKey(), key]));
  expect(replace).toThrow(`The data folder ${folder} cannot be written. Check its owner and permissions`);
  expect(keysInFolder(folder)).toEqual([key]);
  replaceKeys(folder, ['a new one', key]);
  expect(readFileSync(join(folder, SECRET_FILE), 'utf8')).toBe(`a new one\n${key}\n`);
});
