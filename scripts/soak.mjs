import { runNode } from './child.mjs';
import { command, passedOn, Stop } from './command.mjs';
import { inRepo } from './repo.mjs';
import { ensureBuilt, ensureInstalled } from './setup.mjs';

const USUAL_MINUTES = 10;
const USAGE = 'Usage: npm run soak -- [minutes] ["a part of a store\'s name"]';

/** All faults at random, on SQLite and then on PostgreSQL, for half of the time each. */
await command(async () => {
  const [minutes = String(USUAL_MINUTES), store, ...more] = passedOn();
  if (!(Number(minutes) > 0) || more.length > 0) throw new Stop(USAGE, 2);
  await ensureInstalled();
  await ensureBuilt();
  const only = store === undefined ? [] : ['-t', store];
  const args = ['run', '--root', inRepo('.'), '--config', inRepo('test/soak/vitest.config.ts'), ...only];
  const env = { ...process.env, LANTERNROOM_SOAK_MINUTES: minutes };
  const { code } = await runNode([inRepo('node_modules/vitest/vitest.mjs'), ...args], { show: true, env });
  return code;
});
