import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

// The files that come with the package. This file lies in a folder directly below `src`, so that the package is two
// folders above it wherever it runs from: the sources, the build or the bundle.

const inPackage = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const VERSION: string = (
  JSON.parse(readFileSync(inPackage('package.json'), 'utf8')) as { version: string }
).version;

/** The desk's page, built into the package. */
export const PUBLIC = inPackage('public/');

/** The clients of this version, made with the build (scripts/downloads.mjs). */
export const DOWNLOADS = inPackage('downloads/');

/** In the published package the texts are inside it; in the repository they are at the root. */
const PLACES = ['', '../../'];

/** The texts of a folder by name, read once. Empty when the folder is not there. */
export function readTexts(folder: 'docs' | 'prompts'): ReadonlyMap<string, string> {
  return readAll(folder, '.md');
}

/** The drawings of the documents. */
export function readDrawings(): ReadonlyMap<string, string> {
  return readAll('docs/charts', '.svg');
}

function readAll(folder: string, ending: string): ReadonlyMap<string, string> {
  const found = PLACES.map((place) => inPackage(`${place}${folder}/`)).find((path) => existsSync(path));
  if (found === undefined) return new Map();
  const names = readdirSync(found).filter((name) => name.endsWith(ending));
  return new Map(
    names.sort().map((name) => [name.slice(0, -ending.length), readFileSync(`${found}${name}`, 'utf8')]),
  );
}
