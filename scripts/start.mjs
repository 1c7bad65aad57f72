import { existsSync } from 'node:fs';
import { become, command, passedOn, Stop } from './command.mjs';
import { inRepo } from './repo.mjs';
import { ensureBuilt, ensureInstalled } from './setup.mjs';

const SERVER = 'packages/server/bin/lanternroom.js';
const LOOK_MS = 250;

await command(async () => {
  await ensureInstalled();
  await ensureBuilt();
  for (const file of [SERVER, 'packages/server/dist/bundle/run.js']) {
    if (!existsSync(inRepo(file)))
      throw new Stop(`${file} is missing. Restore packages/server with git, then run npm start again.`);
  }
  stopWithParent();
  await become(SERVER, ['serve', ...passedOn()]);
  return process.exitCode;
});

/**
 * npm runs us through a shell and sends SIGTERM only to that shell, which dies without telling us. Without this,
 * `kill` on npm would leave a server behind, still holding the port and the database.
 */
function stopWithParent() {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, LOOK_MS);
  watch.unref();
}
