import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { revokeProducerKeys, rotateProducerKey } from '../../../core/events/producers.ts';
import { orThrow } from '../../../core/faults.ts';
import { DAY } from '../../../core/time.ts';
import {
  addSender,
  anEvent,
  answered,
  idsOf,
  nowOf,
  openInbox,
  readAll,
  Sender,
  subscribed,
} from '../../../testing/akep/akep.ts';
import { openWorld } from '../../../testing/wake.ts';
import { ManualClock, type World } from '../../../testing/world.ts';

describe('rotation', () => {
  it('[K24] the old key signs beside the new one for four days, and not a moment longer', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    const at = { space: world.space.id, producer: sender.id };
    const made = orThrow(await rotateProducerKey(world.room, at, 'test'));
    const fresh = new Sender(world, { ...sender.made, ...made });
    const statuses = async (old: Record<string, string> = {}) => [
      (await sender.send(anEvent(), { headers: old })).status,
      (await fresh.send(anEvent())).status,
    ];
    const byId = { 'webhook-signature-key-id': sender.made.keyId };
    expect(await statuses()).toEqual([202, 202]);
    clock.turn(4 * DAY - 1);
    expect(await statuses(byId)).toEqual([202, 202]);
    clock.turn(1);
    expect(await statuses()).toEqual([400, 202]);
    expect(await statuses(byId)).toEqual([400, 202]);
  });

  it('[K24] rotating twice leaves three keys; the first end stands', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    const at = { space: world.space.id, producer: sender.id };
    orThrow(await rotateProducerKey(world.room, at, 'test'));
    clock.turn(DAY);
    orThrow(await rotateProducerKey(world.room, at, 'test'));
    clock.turn(3 * DAY);
    expect((await sender.send(anEvent())).status).toBe(400);
    const keys = await world.room.store.read(world.space.id, (tx) => tx.producers.keys(sender.id));
    expect(keys.map((key) => key.expiresAt !== null)).toEqual([true, true, false]);
  });

  it('[K24] a revoked key is refused at once', async () => {
    const { world, sender } = await openInbox();
    const at = { space: world.space.id, producer: sender.id, keyId: sender.made.keyId };
    orThrow(await revokeProducerKeys(world.room, at, 'test'));
    expect((await sender.send(anEvent())).status).toBe(400);
    const again = await revokeProducerKeys(world.room, at, 'test');
    expect(again).toMatchObject({ fault: 'not_found' });
  });
});

type Pair = { publicKey: string; privateKey: KeyObject };

function ed25519(): Pair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return { publicKey: `whpk_${raw.toString('base64')}`, privateKey };
}

function sendSigned(
  world: World,
  { privateKey }: Pair,
  over: { keyId?: string; tag?: string; change?: string } = {},
) {
  const event = anEvent();
  const body = JSON.stringify(event);
  const seconds = nowOf(world);
  const signature = sign(null, Buffer.from(`${event.event_id}.${seconds}.${body}`), privateKey);
  const headers: Record<string, string> = {
    'webhook-id': event.event_id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': `${over.tag ?? 'v1a'},${signature.toString('base64')}`,
  };
  if (over.keyId !== undefined) headers['webhook-signature-key-id'] = over.keyId;
  const url = `${world.url}/akep/events`;
  return answered(fetch(url, { method: 'POST', headers, body: body + (over.change ?? '') }));
}

describe('Ed25519', () => {
  it('[K24] is taken only where a subscription has named the key', async () => {
    const { world } = await openInbox();
    const pair = ed25519();
    const { made } = await addSender(world, { name: 'modern', publicKey: pair.publicKey });
    const { keyId } = made;
    expect((await sendSigned(world, pair, { keyId })).status).toBe(422);
    await subscribed(world, { security: { signature_key_ids: ['something-else'] } });
    expect((await sendSigned(world, pair, { keyId })).status).toBe(422);
    await subscribed(world, { security: { signature_key_ids: [keyId] } });
    expect((await sendSigned(world, pair, { keyId })).status).toBe(202);
    expect(await readAll(world)).toHaveLength(1);
  });

  it('[K24] must name its key, and verify', async () => {
    const { world } = await openInbox();
    const pair = ed25519();
    const { made } = await addSender(world, { name: 'modern', publicKey: pair.publicKey });
    const { keyId } = made;
    await subscribed(world, { security: { signature_key_ids: [keyId] } });
    const refused = [
      await sendSigned(world, pair),
      await sendSigned(world, ed25519(), { keyId }),
      await sendSigned(world, pair, { keyId, tag: 'v1' }),
      await sendSigned(world, pair, { keyId, change: ' ' }),
    ];
    expect(refused.map((reply) => reply.status)).toEqual([400, 400, 400, 400]);
    expect(await readAll(world)).toEqual([]);
  });

  it.each([
    ['whpk_'],
    ['whpk_AAAA'],
    ['not a key'],
    [`whpk_${'A'.repeat(44)}`],
    [`whsec_${'A'.repeat(43)}=`],
  ])('[K24] %s is no public key', async (publicKey) => {
    const world = await openWorld();
    await expect(addSender(world, { publicKey })).rejects.toMatchObject({ fault: 'invalid_field' });
  });

  it('[K24] a shared secret cannot pass for a public key, nor the other way round', async () => {
    const { world, sender } = await openInbox();
    const pair = ed25519();
    const { made } = await addSender(world, { name: 'modern', publicKey: pair.publicKey });
    const forged = new Sender(world, made, pair.publicKey);
    const headers = { 'webhook-signature-key-id': made.keyId };
    expect((await forged.send(anEvent(), { headers })).status).toBe(400);
    expect((await sendSigned(world, pair, { keyId: sender.made.keyId })).status).toBe(400);
  });
});

describe('emitting', () => {
  const emit = (world: World, event: unknown, key = world.agent.key) =>
    answered(world.post('/akep/emit', event, key));

  it("[K25] agent A's event lands in agent B's inbox, under A's own name", async () => {
    const world = await openWorld();
    const b = await world.addAgent({ id: 'agent-b.v2' });
    await subscribed(world, { event_types: ['*'] }, b.key);
    const event = anEvent({ subject: { agent_id: 'agent-b.v2' } });
    expect(await emit(world, event)).toMatchObject({ status: 202, json: { duplicate: false } });
    expect(await emit(world, event)).toMatchObject({ status: 202, json: { duplicate: true } });
    const read = await readAll(world, b.key);
    expect(idsOf(read)).toEqual([event.event_id]);
    expect(read[0]?.source).toEqual({ producer_id: 'prod_agent_agent-01', ...event.source });
    expect(await readAll(world)).toEqual([]);
    await subscribed(world, { event_types: ['*'] });
    await emit(world, anEvent(), b.key);
    expect((await readAll(world))[0]?.source.producer_id).toBe('prod_agent_agent-b:v2');
  });

  it('[K25] it is held to the same rules', async () => {
    const world = await openWorld();
    expect((await emit(world, anEvent())).status).toBe(422);
    await subscribed(world, { event_types: ['*'] });
    expect((await emit(world, anEvent({ command: 'x' }))).status).toBe(400);
    expect((await emit(world, '{')).status).toBe(400);
    const forged = (producer_id: string) => anEvent({ source: { producer_id, name: 'x', type: 'agent' } });
    expect((await emit(world, forged('prod_agent_agent-02'))).status).toBe(400);
    expect((await emit(world, forged('prod_agent_agent-01'))).status).toBe(202);
    expect((await emit(world, anEvent(), 'wk_test_nobody')).status).toBe(403);
    expect((await fetch(`${world.url}/akep/emit`, { method: 'POST', body: '{}' })).status).toBe(401);
    expect(await readAll(world)).toHaveLength(1);
  });

  it('[K25] two agents never share a name, however they are called', async () => {
    const world = await openWorld();
    await subscribed(world, { event_types: ['*'] });
    const long = 'x'.repeat(127);
    const names = ['a.b', 'a_b', 'a-b', `${long}1`, `${long}2`];
    const event = anEvent();
    for (const id of names) {
      const { key } = await world.addAgent({ id });
      expect(await emit(world, event, key)).toMatchObject({ status: 202, json: { duplicate: false } });
    }
    const producers = (await readAll(world)).map((e) => e.source.producer_id);
    expect(new Set(producers).size).toBe(names.length);
  });
});
