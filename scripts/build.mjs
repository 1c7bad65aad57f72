import { command } from './command.mjs';
import { ensureBuilt, ensureInstalled } from './setup.mjs';

await command(async () => {
  await ensureInstalled();
  await ensureBuilt();
});
