import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../support/folder.ts';

// The journal takes a part of the second line and no more; then there is room again.
const PROGRAM = `
  import { truncate } from 'node:fs/promises';
  import { fileJournal } from '@lanternroom/sdk/a2a';
  const [folder] = process.argv.slice(1);
  const journal = fileJournal(folder);
  await journal.open();
  await journal.append(['first']);
  await journal.append(['x'.repeat(4_000)]).catch((error) => console.log(error.fault));
  await truncate(folder + '/journal.jsonl', 40);
  await journal.append(['third']);
  await journal.close();
`;

it('[A13] a line of the journal that a full disk took in part costs no later one', async () => {
  const state = temporaryFolder();
  const limited = 'ulimit -S -f 1; exec "$0" --input-type=module -e "$1" "$2"';
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', limited, process.execPath, PROGRAM, state], {
    cwd: import.meta.dirname,
  });
  expect(stdout).toBe('log_failed\n');
  const lines = (await readFile(join(state, 'journal.jsonl'), 'utf8')).split('\n');
  expect(lines).toEqual(['first', 'x'.repeat(34), 'third', '']);
});
