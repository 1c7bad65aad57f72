import { existsSync } from 'node:fs';
import { become, command, passedOn, Stop } from './command.mjs';
import { inRepo } from './repo.mjs';
import { ensureBuilt, ensureInstalled } from './setup.mjs';

// Plain JavaScript, so that what is measured never runs through a loader.
const BENCH = 'bench/run.mjs';

await command(async () => {
  await ensureInstalled();
  await ensureBuilt();
  if (!existsSync(inRepo(BENCH)))
    throw new Stop(`${BENCH} is missing. Restore it with git, then run npm run bench again.`);
  await become(BENCH, passedOn());
  return process.exitCode;
});
