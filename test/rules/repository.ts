import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');

export const sizeOf = (path: string): number => statSync(`${ROOT}${path}`).size;

const GENERATED =
  /(^|\/)(node_modules|dist|data|coverage|\.git|\.cache|__pycache__)$|^packages\/server\/public$/;

/** Every file of ours under a folder, as paths from the root. */
export function filesUnder(folder: string): string[] {
  if (!existsSync(`${ROOT}${folder}`)) return [];
  return readdirSync(`${ROOT}${folder}`, { withFileTypes: true }).flatMap((entry) => {
    const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return GENERATED.test(path) ? [] : filesUnder(path);
    return entry.isFile() ? [path] : [];
  });
}

/** What is published with the repository. In a copy without git that is everything we did not generate. */
export function trackedFiles(): string[] {
  if (!existsSync(`${ROOT}.git`)) return filesUnder('');
  const listed = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' });
  return listed.split('\0').filter((path) => path !== '' && existsSync(`${ROOT}${path}`));
}
