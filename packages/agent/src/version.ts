import { readFileSync } from 'node:fs';

/** As it stands in the package, which is the same place from src and from dist. */
export function ownVersion(): string {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return String(version);
}
