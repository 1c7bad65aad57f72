import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AGENT, KEY, PACKAGE, SETTINGS } from '../servers.mjs';

/** Fills a data folder with agents, each with a key of its own, and sends the keys back. */
const built = (path) => import(pathToFileURL(join(PACKAGE, 'dist', `${path}.js`)).href);
const { readConfig } = await built('config');
const { orThrow } = await built('core/faults');
const { addAgent, foundSpace } = await built('core/agents/found');
const { openGround } = await built('main');

const AT_ONCE = 200;
const { folder, count } = JSON.parse(process.argv[2]);
const ground = await openGround(readConfig({ flags: { data: join(folder, 'data') }, env: SETTINGS }));
const { room } = ground;
const space = orThrow(await foundSpace(room, 'home', 'bench'));
orThrow(await addAgent(room, { space: space.id, id: AGENT, tier: 'test', key: KEY, callbacks: [] }, 'bench'));

const keys = [];
for (let n = 0; n < count; n += AT_ONCE) {
  const batch = Array.from({ length: Math.min(AT_ONCE, count - n) }, (_, i) => add(`idle-${n + i}`));
  keys.push(...(await Promise.all(batch)));
}
await ground.stop();
process.send({ keys }, () => process.disconnect()); // not before it has left

async function add(id) {
  const { key } = orThrow(
    await addAgent(room, { space: space.id, id, tier: 'test', callbacks: [] }, 'bench'),
  );
  return key;
}
