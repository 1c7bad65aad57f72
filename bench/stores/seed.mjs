import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { deliveries } from '../requests/deliveries.mjs';
import { AGENT, KEY, OWNER, PACKAGE, SETTINGS } from '../servers.mjs';

const built = (path) => import(pathToFileURL(join(PACKAGE, 'dist', `${path}.js`)).href);
const { readConfig } = await built('config');
const { accept } = await built('core/deliveries/accept');
const { decide } = await built('core/deliveries/decide');
const { orThrow } = await built('core/faults');
const { addAgent, foundSpace } = await built('core/agents/found');
const { addPerson } = await built('core/people/membership/add-person');
const { addToken } = await built('core/people/login/tokens');
const { toIso } = await built('core/time');
const { openGround } = await built('main');
const { toDraft } = await built('protocols/wake/mapping');

/**
 * Fills a data folder through the core, as the doors do: real rows, real ledger, real seals. Run by `fill` with
 * `{ folder, total, fresh }`: the `fresh` newest are answered after the moment that is sent back as `since`; of the
 * others every tenth batch is, because answering takes three times as long and a sweep does not read them. With
 * `callbacks` every delivery wants to be told at one of these addresses, in turn; `open` more are left for somebody to
 * decide, with the token that is sent back.
 */
const AT_ONCE = 256;
const ANSWERED_BATCHES = 10;
const { folder, total, fresh = 0, open = 0, callbacks = [], env = {} } = JSON.parse(process.argv[2]);

const config = readConfig({ flags: { data: join(folder, 'data') }, env: { ...SETTINGS, ...env } });
const ground = await openGround(config);
const { room } = ground;
const space = orThrow(await foundSpace(room, 'home', 'bench'));
orThrow(await addAgent(room, { space: space.id, id: AGENT, tier: 'test', key: KEY, callbacks }, 'bench'));
const owner = {
  space: space.id,
  ...OWNER,
  name: null,
  role: 'owner',
};
const person = orThrow(await addPerson(room, owner, 'bench'));
const identity = await room.store.directory.identityByDigest(room.vault.sha256(KEY));
const samples = deliveries(AT_ONCE).map((content, i) => toSample(content, callbacks[i % callbacks.length]));

await acceptMany(total - fresh, (batch) => batch % ANSWERED_BATCHES === 0);
const since = toIso(room.clock.now());
await acceptMany(fresh, () => true);
const waiting = await acceptMany(open, () => false);
const { token } = await addToken(room, person, 'bench');
await ground.stop();
process.send({ since, token, waiting }, () => process.disconnect()); // not before it has left

function toSample(plain, callback) {
  const content = callback === undefined ? plain : { ...plain, callback_webhook: callback };
  const raw = Buffer.from(JSON.stringify(content));
  return { identity, content, draft: toDraft(content, identity), raw, idempotencyKey: null };
}

async function acceptMany(count, isAnswered) {
  const left = [];
  for (let done = 0; done < count; done += AT_ONCE) {
    const batch = samples.slice(0, Math.min(AT_ONCE, count - done));
    const accepted = await Promise.all(batch.map((sample) => accept(room, sample).then(orThrow)));
    if (isAnswered(done / AT_ONCE))
      await Promise.all(accepted.map(({ id }, i) => approve(id, batch[i].content)));
    else left.push(...accepted.map(({ id }, i) => ({ id, contentHash: hashOf(batch[i].content) })));
  }
  return left;
}

function hashOf(content) {
  return room.vault.sha256(room.vault.canonical(content));
}

async function approve(id, content) {
  const answer = {
    verdict: 'approved',
    contentHash: hashOf(content),
    feedback: 'Send it.',
    editedContent: null,
  };
  return orThrow(await decide(room, person, id, answer));
}
