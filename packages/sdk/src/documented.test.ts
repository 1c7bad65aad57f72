import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const DECLARED = /^export (?:async )?(?:function\*?|const|class|interface|type) (\w+)/;

/** The names that an entry of the package gives away, each with the file that declares it. */
function publicNames(entry: string): { name: string; file: string }[] {
  const source = readFileSync(join(HERE, entry), 'utf8');
  return [...source.matchAll(/export (?:type )?\{([^}]*)\} from '(.*)'/g)].flatMap(
    ([, names = '', from = '']) =>
      names
        .split(',')
        .map((name) => name.replace('type ', '').trim())
        .filter((name) => name !== '')
        .map((name) => ({ name, file: join(dirname(entry), from) })),
  );
}

/** What stands in a file with a comment for the editor above it. */
function documentedIn(file: string): string[] {
  const lines = readFileSync(join(HERE, file), 'utf8').split('\n');
  return lines.flatMap((line, at) => {
    const name = DECLARED.exec(line)?.[1];
    return name !== undefined && lines[at - 1]?.endsWith('*/') ? [name] : [];
  });
}

it.each(['wake/index.ts', 'akep/index.ts', 'a2a/index.ts'])(
  '[W23] an editor explains every name of %s',
  (entry) => {
    const names = publicNames(entry);
    expect(names.length).toBeGreaterThan(20);
    const bare = names.filter(({ name, file }) => !documentedIn(file).includes(name));
    expect(bare.map(({ name }) => name)).toEqual([]);
  },
);
