import { readFileSync } from 'node:fs';
import { inRepo } from '../support/folder.ts';
import { given } from '../support/until.ts';

/** The command under this name in examples/README.md, as it stands there. */
export function commandOf(name: string): string {
  const text = readFileSync(inRepo('examples/README.md'), 'utf8');
  const blocks = [...text.matchAll(/^```sh (\S+)\n(.*)\n```$/gm)].map(([, title, line]) => [title, line]);
  return given(Object.fromEntries(blocks)[name], `command ${name} in examples/README.md`);
}
