// Around `npm pack`: the documents and prompts of the repository are copied into the server package, and removed
// again. A copy that stayed would be read instead of the originals.
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { inRepo } from './repo.mjs';

const isOver = process.argv.includes('--remove');

for (const [folder, ending] of [
  ['docs', '.md'],
  ['docs/charts', '.svg'],
  ['prompts', '.md'],
]) {
  const copy = inRepo('packages/server', folder);
  rmSync(copy, { recursive: true, force: true });
  if (!isOver) copyTexts(inRepo(folder), copy, ending);
}

function copyTexts(from, to, ending) {
  mkdirSync(to);
  for (const name of readdirSync(from).filter((file) => file.endsWith(ending)))
    cpSync(`${from}/${name}`, `${to}/${name}`);
}
