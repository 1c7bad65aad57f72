import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { addProducer, keepEnvironmentProducer } from '../../../core/events/producers.ts';
import { orThrow } from '../../../core/faults.ts';
import {
  addSender,
  anEvent,
  nowOf,
  openInbox,
  readAll,
  Sender,
  sharedInbox,
} from '../../../testing/akep/akep.ts';
import { ManualClock } from '../../../testing/world.ts';

const UNSIGNED = 'No signature is valid for a producer that is known here.';
const CLOCK = () => new ManualClock();

/** Nothing that was refused is in the inbox. */
async function expectEmpty(world: Parameters<typeof readAll>[0]): Promise<void> {
  expect(await readAll(world)).toEqual([]);
}

describe('who signed', () => {
  it('[K1] the signature of the standardwebhooks package is taken, over the exact bytes', async () => {
    const { world, sender } = await openInbox();
    const event = anEvent();
    const spaced = `  ${JSON.stringify(event, null, 2)}\n`;
    const reply = await sender.send({ id: event.event_id, body: spaced });
    expect([reply.status, reply.text]).toEqual([202, '{"accepted":true,"duplicate":false}']);
    const changed = anEvent();
    const signed = sender.headers(changed.event_id, JSON.stringify(changed));
    const other = await sender.send(
      { id: changed.event_id, body: `${JSON.stringify(changed)} ` },
      { headers: signed },
    );
    expect([other.status, other.json]).toEqual([400, { error: UNSIGNED }]);
    expect(await readAll(world)).toEqual([{ ...event, source: { producer_id: sender.id, ...event.source } }]);
  });

  it('[K1] one valid signature among others is enough, and the order does not matter', async () => {
    const { sender } = await openInbox();
    const event = anEvent();
    const { 'webhook-signature': good = '' } = sender.headers(event.event_id, JSON.stringify(event));
    const signature = `v1,${'A'.repeat(43)}= v9,nonsense v1a,AAAA ${good} v1,`;
    const reply = await sender.send(event, { headers: { 'webhook-signature': signature } });
    expect(reply.status).toBe(202);
  });

  it('[K1] the signature is judged before the body is parsed', async () => {
    const { sender } = await openInbox();
    const reply = await sender.send(
      { id: 'evt_broken_01', body: '{"not json' },
      { headers: { 'webhook-signature': `v1,${'A'.repeat(43)}=` } },
    );
    expect(reply.json).toEqual({ error: UNSIGNED });
  });

  it('[K1] by handle only producers of that space are known', async () => {
    const { world, sender } = await openInbox();
    await world.addSpace('elsewhere');
    const own = await sender.send(anEvent(), { path: '/@home/akep/events' });
    const foreign = await sender.send(anEvent(), { path: '/@elsewhere/akep/events' });
    const nowhere = await sender.send(anEvent(), { path: '/@nowhere/akep/events' });
    const named = await sender.send(anEvent(), {
      path: '/@elsewhere/akep/events',
      headers: { 'webhook-signature-key-id': sender.made.keyId },
    });
    expect(own.status).toBe(202);
    for (const reply of [foreign, nowhere, named])
      expect([reply.status, reply.json]).toEqual([400, { error: UNSIGNED }]);
  });

  it('[K5] a key id selects the key, which must verify; an unknown one answers like a wrong signature', async () => {
    const { world, sender } = await openInbox();
    const other = await addSender(world, { name: 'other' });
    const send = (keyId: string) =>
      sender.send(anEvent(), { headers: { 'webhook-signature-key-id': keyId } });
    expect((await send(sender.made.keyId)).status).toBe(202);
    expect((await send('')).status).toBe(202);
    for (const keyId of [other.made.keyId, 'pk_nobody', "' or 1=1 --"]) {
      const reply = await send(keyId);
      expect([reply.status, reply.json]).toEqual([400, { error: UNSIGNED }]);
    }
  });

  it('[K30] without a key id the newest 32 active keys are tried; ended and revoked ones take no place', async () => {
    const { world, sender } = await openInbox();
    const wanted = { space: world.space.id, tier: 'test' as const };
    for (let n = 0; n < 31; n++)
      orThrow(await addProducer(world.room, { ...wanted, name: `filler ${n}` }, 'test'));
    expect((await sender.send(anEvent())).status).toBe(202);
    const last = orThrow(await addProducer(world.room, { ...wanted, name: 'one more' }, 'test'));
    expect((await sender.send(anEvent())).status).toBe(400);
    const named = { headers: { 'webhook-signature-key-id': sender.made.keyId } };
    expect((await sender.send(anEvent(), named)).status).toBe(202);
    const now = world.room.clock.now();
    await world.room.store.write(world.space.id, [], (tx) => tx.producers.setKeyEnd(last.keyId, now));
    expect((await sender.send(anEvent())).status).toBe(202);
  });
});

describe('secrets', () => {
  it.each([
    ['plain text', 'dev-secret'],
    ['text outside of ASCII', 'schlüssel-ключ-🔑'],
    ['whsec_ with something that is no base64', 'whsec_not base64!'],
  ])('[K2] %s signs with its UTF-8 bytes', async (_, secret) => {
    const { world } = await openInbox();
    await keepEnvironmentProducer(world.room, world.space.id, secret);
    const event = anEvent();
    const body = JSON.stringify(event);
    const seconds = nowOf(world);
    const mac = createHmac('sha256', Buffer.from(secret))
      .update(`${event.event_id}.${seconds}.${body}`)
      .digest('base64');
    const reply = await fetch(`${world.url}/akep/events`, {
      method: 'POST',
      headers: {
        'webhook-id': event.event_id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1,${mac}`,
      },
      body,
    });
    expect(reply.status).toBe(202);
  });

  it('[K2] whsec_ decodes to the key: its text as such signs nothing', async () => {
    const { world, sender } = await openInbox();
    const asText = new Sender(
      world,
      sender.made,
      `raw:${sender.made.secret}`.slice(4).replace('whsec_', 'x'),
    );
    expect((await asText.send(anEvent())).json).toEqual({ error: UNSIGNED });
    expect((await sender.send(anEvent())).status).toBe(202);
  });

  it('[K30] the environment decides: a new secret replaces the old one, and none ends it', async () => {
    const { world } = await openInbox();
    const { room, space } = world;
    const sender = (secret: string) => {
      const made = { producer: { id: 'prod_environment' }, keyId: '', secret };
      return new Sender(world, made, secret);
    };
    const status = async (secret: string) => (await sender(secret).send(anEvent())).status;
    await keepEnvironmentProducer(room, space.id, 'first');
    expect(await status('first')).toBe(202);
    await keepEnvironmentProducer(room, space.id, 'second');
    expect([await status('first'), await status('second')]).toEqual([400, 202]);
    await keepEnvironmentProducer(room, space.id, null);
    expect(await status('second')).toBe(400);
    await keepEnvironmentProducer(room, space.id, 'second');
    expect(await status('second')).toBe(202);
  });
});

describe('headers', () => {
  const shared = sharedInbox({ clock: CLOCK() });

  const MISSING = 'Send the headers webhook-id, webhook-timestamp and webhook-signature.';
  const TIMESTAMP = 'webhook-timestamp must be whole seconds, digits only.';
  const DOT = 'webhook-id and webhook-timestamp must not contain a dot.';
  const ALGORITHM = 'webhook-signature has no signature in an algorithm we know (v1).';

  it.each([
    ['no webhook-id', { 'webhook-id': null }, MISSING],
    ['an empty webhook-id', { 'webhook-id': '' }, MISSING],
    ['no webhook-timestamp', { 'webhook-timestamp': null }, MISSING],
    ['no webhook-signature', { 'webhook-signature': null }, MISSING],
    ['an empty webhook-signature', { 'webhook-signature': '' }, MISSING],
    ['an empty timestamp', { 'webhook-timestamp': '' }, TIMESTAMP],
    ['the timestamp abc', { 'webhook-timestamp': 'abc' }, TIMESTAMP],
    ['the timestamp 1e9', { 'webhook-timestamp': '1e9' }, TIMESTAMP],
    ['the timestamp -1', { 'webhook-timestamp': '-1' }, TIMESTAMP],
    ['the timestamp +1', { 'webhook-timestamp': '+1' }, TIMESTAMP],
    ['the timestamp NaN', { 'webhook-timestamp': 'NaN' }, TIMESTAMP],
    ['the timestamp Infinity', { 'webhook-timestamp': 'Infinity' }, TIMESTAMP],
    ['a timestamp in hex', { 'webhook-timestamp': '0x65' }, TIMESTAMP],
    ['a timestamp of 13 digits', { 'webhook-timestamp': '1763197200000' }, TIMESTAMP],
    ['a timestamp with a fraction', { 'webhook-timestamp': '1763197200.5' }, DOT],
    ['a dot in the id', { 'webhook-id': 'evt.test_01' }, DOT],
    ['an unknown algorithm alone', { 'webhook-signature': `v2,${'A'.repeat(43)}=` }, ALGORITHM],
    ['no algorithm', { 'webhook-signature': `${'A'.repeat(43)}=` }, ALGORITHM],
    ['base64url', { 'webhook-signature': `v1,${'-_'.repeat(21)}A=` }, ALGORITHM],
    ['padding in the middle', { 'webhook-signature': `v1,AA==${'A'.repeat(40)}` }, ALGORITHM],
    ['something behind a comma', { 'webhook-signature': 'v1,"><script>' }, ALGORITHM],
    ['hex', { 'webhook-signature': `v1,${'0a'.repeat(32)}` }, UNSIGNED],
    ['one byte', { 'webhook-signature': 'v1,AA==' }, UNSIGNED],
    ['a kilobyte', { 'webhook-signature': `v1,${'A'.repeat(1024)}` }, UNSIGNED],
    ['the tag in capitals', { 'webhook-signature': `V1,${'A'.repeat(43)}=` }, ALGORITHM],
  ])('[K3] %s is refused with one sentence', async (_, headers, error) => {
    const { world, sender } = shared();
    const reply = await sender.send(anEvent(), { headers });
    expect([reply.status, reply.json]).toEqual([400, { error }]);
    await expectEmpty(world);
  });

  it('[K3] a right signature in another encoding is not one', async () => {
    const { world, sender } = await openInbox();
    const event = anEvent();
    const { 'webhook-signature': good = '' } = sender.headers(event.event_id, JSON.stringify(event));
    const mac = Buffer.from(good.slice(3), 'base64');
    const plain = mac.toString('base64');
    // The last letter before the padding has bits to spare: three others decode to the same bytes.
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    const twin = `${plain.slice(0, 42)}${letters[letters.indexOf(plain[42] ?? '') ^ 1]}=`;
    expect(Buffer.from(twin, 'base64')).toEqual(mac);
    const encodings = [
      `v1,${mac.toString('hex')}`,
      `v1=${plain}`,
      plain,
      `v1,${plain.slice(0, -1)}`,
      `v1,${plain}=`,
      `v1,${twin}`,
    ];
    for (const signature of encodings) {
      const reply = await sender.send(event, { headers: { 'webhook-signature': signature } });
      expect(reply.status).toBe(400);
    }
    await expectEmpty(world);
  });

  it('[K3] five minutes to either side are fresh, a second more is not', async () => {
    const { world, sender } = await openInbox({ clock: CLOCK() });
    const now = nowOf(world);
    const at = async (seconds: number) => {
      const event = anEvent();
      const headers = sender.headers(event.event_id, JSON.stringify(event), now + seconds);
      return sender.send(event, { headers });
    };
    for (const seconds of [-300, 0, 300]) expect((await at(seconds)).status).toBe(202);
    for (const seconds of [-301, 301, -1_000_000]) {
      const reply = await at(seconds);
      const error = 'webhook-timestamp is more than five minutes off. Check the clock.';
      expect([reply.status, reply.json]).toEqual([400, { error }]);
    }
  });

  it('[K3] without any body the signature decides as well', async () => {
    const { world, sender } = await openInbox();
    const signed = sender.headers('evt_nobody_1', '');
    const empty = await fetch(`${world.url}/akep/events`, { method: 'POST', headers: signed });
    expect([empty.status, await empty.json()]).toEqual([400, { error: 'The body is not valid JSON.' }]);
    const wrong = { ...signed, 'webhook-signature': `v1,${'A'.repeat(43)}=` };
    const unsigned = await fetch(`${world.url}/akep/events`, { method: 'POST', headers: wrong });
    expect([unsigned.status, await unsigned.json()]).toEqual([400, { error: UNSIGNED }]);
  });

  it('[K3] webhook-id must be the event_id', async () => {
    const { world, sender } = await openInbox();
    const event = anEvent();
    const reply = await sender.send({ id: 'evt_another_01', body: JSON.stringify(event) });
    const error = 'webhook-id must be the event_id of the event.';
    expect([reply.status, reply.json]).toEqual([400, { error, path: 'webhook-id' }]);
    await expectEmpty(world);
  });

  it('[K3] a producer that nobody knows is told the same as one with a wrong secret', async () => {
    const { world, sender } = await openInbox();
    const stranger = new Sender(world, sender.made, 'whsec_c29tZXRoaW5nIGVsc2UgZW50aXJlbHkgaGVyZSEh');
    expect((await stranger.send(anEvent())).json).toEqual({ error: UNSIGNED });
  });
});
