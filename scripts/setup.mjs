// What every command does first on a fresh clone. Both are quiet, can be repeated, and may run at the same time
// in several processes.
export { ensureBuilt } from './compile.mjs';
export { ensureInstalled } from './install.mjs';
