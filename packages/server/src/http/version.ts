import { readFileSync } from 'node:fs';

/** From package.json, which lies two folders above this one, above its build and above the bundle. */
export const VERSION: string = (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }
).version;
