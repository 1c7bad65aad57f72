import { join } from 'node:path';
import { readConfig } from '../../packages/server/dist/config.js';
import { ingest, Subscriptions } from '../../packages/server/dist/core/events/ingest.js';
import { orThrow } from '../../packages/server/dist/core/faults.js';
import { openGround } from '../../packages/server/dist/main.js';
import { AKEP_ENV } from '../requests/akep.mjs';
import { events } from '../requests/signed.mjs';
import { SETTINGS } from '../servers.mjs';

/** Run by `fillEvents` with `{ folder, total }`. */
const AT_ONCE = 256;
const { folder, total } = JSON.parse(process.argv[2]);
const config = readConfig({ flags: { data: join(folder, 'data') }, env: { ...SETTINGS, ...AKEP_ENV } });
const ground = await openGround(config);
const { room } = ground;
const [space] = await room.store.directory.spaces();
const producer = await room.store.read(space.id, (tx) => tx.producers.get('prod_environment'));
const subscriptions = new Subscriptions();
const samples = events(AT_ONCE);

for (let done = 0; done < total; done += AT_ONCE) {
  const batch = samples.slice(0, Math.min(AT_ONCE, total - done));
  await Promise.all(batch.map((sample, i) => take({ ...sample, event_id: `evt_seed_${done + i}_padding` })));
}
await ground.stop();

async function take(envelope) {
  const raw = Buffer.from(JSON.stringify(envelope));
  const arriving = { producer, keyId: null, algorithm: 'v1', envelope, raw, kept: raw, rate: null };
  return orThrow(await ingest(room, subscriptions, arriving));
}
