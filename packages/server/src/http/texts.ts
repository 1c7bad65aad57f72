import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** In the published package the folder lies beside `dist`; in the repository at its root. */
const PLACES = ['../../', '../../../../'];

/** The texts of a folder by name, read once. Empty when the folder is not there. */
export function readTexts(folder: 'docs' | 'prompts'): ReadonlyMap<string, string> {
  const found = PLACES.map((place) => fileURLToPath(new URL(`${place}${folder}/`, import.meta.url))).find(
    (path) => existsSync(path),
  );
  if (found === undefined) return new Map();
  const names = readdirSync(found).filter((name) => name.endsWith('.md'));
  return new Map(
    names.sort().map((name) => [name.slice(0, -'.md'.length), readFileSync(`${found}${name}`, 'utf8')]),
  );
}
