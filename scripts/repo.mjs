import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's root, without a slash at its end. */
export const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/[\\/]$/, '');

export const inRepo = (...parts) => join(ROOT, ...parts);

export const readJson = (path) => JSON.parse(readFileSync(inRepo(path), 'utf8'));

export const readText = (path) => (existsSync(inRepo(path)) ? readFileSync(inRepo(path), 'utf8') : '');

/** The folders of the workspaces, in a stable order; `packages/*` is the only kind of pattern we use. */
export function workspaceDirs() {
  return readJson('package.json')
    .workspaces.flatMap((pattern) => {
      if (!pattern.endsWith('/*')) return [pattern];
      const parent = pattern.slice(0, -2);
      return readdirSync(inRepo(parent))
        .sort()
        .map((name) => `${parent}/${name}`);
    })
    .filter((dir) => existsSync(inRepo(dir, 'package.json')));
}

/** Every file under a folder, as paths from the root, in a stable order. */
export function filesUnder(dir) {
  if (!existsSync(inRepo(dir))) return [];
  return readdirSync(inRepo(dir), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${dir}/${entry.name}`;
      if (entry.isDirectory()) return isGenerated(entry.name) ? [] : filesUnder(path);
      return entry.isFile() ? [path] : [];
    });
}

const isGenerated = (name) => name === 'node_modules' || name === 'dist';

/** One hash for the names and contents of files. Contents, not times: a git checkout touches every time. */
export function fingerprint(paths, ...extra) {
  const hash = createHash('sha256');
  for (const text of extra) hash.update(`${text}\0`);
  for (const path of paths) {
    hash.update(`${path.split(sep).join('/')}\0`);
    if (existsSync(inRepo(path))) hash.update(readFileSync(inRepo(path)));
    hash.update('\0');
  }
  return hash.digest('hex');
}
