import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { ID, OTHER_ID, responseBody, startWorld } from '../testing/room.ts';
import { signWebhook } from './signature.ts';
import { verifyWebhook } from './webhook.ts';

interface Vectors {
  sign: { name: string; secrets: string[]; id: string; timestamp: number; body: string; headers: object }[];
  refuse_to_sign: string[][];
  verify: {
    name: string;
    secrets: string[];
    now: number;
    body: string;
    headers: Record<string, string>;
    reason: string | null;
  }[];
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../../../../spec/vectors/webhook.json', import.meta.url), 'utf8'),
);
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const nowSeconds = () => Math.floor(Date.now() / 1_000);

describe('signing a callback', () => {
  it.each(vectors.sign)('[W20] $name', async ({ secrets, id, timestamp, body, headers }) => {
    expect(await signWebhook({ secrets, id, timestamp, body })).toEqual(headers);
  });

  it.each(vectors.refuse_to_sign.map((secrets) => ({ secrets })))(
    '[W20] $secrets cannot sign',
    async ({ secrets }) => {
      const signing = signWebhook({ secrets, id: ID, timestamp: 1, body: '{}' });
      await expect(signing).rejects.toMatchObject({ fault: 'wrong_usage' });
    },
  );

  it('[W20] the Standard Webhooks library accepts what is signed here', async () => {
    const body = JSON.stringify(responseBody('redirected', { feedback: 'Kürzer 🏮' }));
    const headers = await signWebhook({ secrets: [secret], id: ID, timestamp: nowSeconds(), body });
    expect(new Webhook(secret).verify(body, { ...headers })).toEqual(JSON.parse(body));
  });
});

describe('verifying a callback', () => {
  it.each(vectors.verify)('[W20] $name → $reason', async ({ secrets, now, body, headers, reason }) => {
    const result = await verifyWebhook({ secrets, now: now * 1_000, body, headers });
    expect(result).toEqual(
      reason === null ? { ok: true, response: JSON.parse(body) } : { ok: false, reason },
    );
  });

  it('[W20] what the Standard Webhooks library signs is accepted', async () => {
    const body = JSON.stringify(responseBody('approved'));
    const at = new Date();
    const headers = {
      'webhook-id': ID,
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign(ID, at, body),
    };
    await expect(verifyWebhook({ secret, body, headers })).resolves.toMatchObject({ ok: true });
  });

  it('[W20] takes Headers, bytes and an ArrayBuffer', async () => {
    const body = JSON.stringify(responseBody('approved'));
    const signed = await signWebhook({ secrets: [secret], id: ID, timestamp: nowSeconds(), body });
    const bytes = new TextEncoder().encode(body);
    const headers = new Headers({ ...signed });
    await expect(verifyWebhook({ secret, body: bytes, headers })).resolves.toMatchObject({ ok: true });
    await expect(verifyWebhook({ secret, body: bytes.buffer, headers })).resolves.toMatchObject({ ok: true });
    await expect(verifyWebhook({ secret, body: Buffer.from(body), headers })).resolves.toMatchObject({
      ok: true,
    });
  });

  it('[W20] a header that came twice is refused', async () => {
    const body = JSON.stringify(responseBody('approved'));
    const signed = await signWebhook({ secrets: [secret], id: ID, timestamp: nowSeconds(), body });
    const twice = { ...signed, 'webhook-timestamp': [signed['webhook-timestamp'], '1'] };
    await expect(verifyWebhook({ secret, body, headers: twice })).resolves.toMatchObject({ ok: false });
    const both = { ...signed, 'X-Wake-Signature': 'sha256=00' };
    await expect(verifyWebhook({ secret, body, headers: both })).resolves.toMatchObject({ ok: false });
  });

  it('[W20] whatever arrives, it never throws and never says yes', async () => {
    const odd: unknown[] = [
      undefined,
      null,
      7,
      true,
      [],
      {},
      { a: 1 },
      Symbol('x'),
      () => 1,
      '',
      'x',
      new Date(Number.NaN),
    ];
    for (const value of odd) {
      const headers = { 'x-wake-signature': 'sha256=00' };
      for (const request of [
        { secret: value, body: '{}', headers },
        { secrets: value, body: '{}', headers },
        { secrets: [value], body: '{}', headers },
        { secret, body: value, headers },
        { secret, body: '{}', headers: value },
        { secret, body: '{}', headers: { 'x-wake-signature': value } },
        {
          secret,
          body: '{}',
          headers: { 'webhook-id': value, 'webhook-timestamp': value, 'webhook-signature': value },
        },
      ]) {
        const result = await Reflect.apply(verifyWebhook, null, [request]);
        expect(result).toMatchObject({ ok: false });
      }
    }
  });
});

describe('receiving a callback', () => {
  async function callback(status: 'approved' | 'pending', deliveryId = ID) {
    const body = JSON.stringify(responseBody(status, { delivery_id: deliveryId }));
    const timestamp = Date.parse('2026-03-08T12:00:00Z') / 1_000;
    return {
      secret,
      body,
      headers: { ...(await signWebhook({ secrets: [secret], id: deliveryId, timestamp, body })) },
    };
  }

  it('[W23] a genuine answer to a delivery of ours is taken and logged', async () => {
    const world = await startWorld(() => 'hang_up');
    await world.wake.adopt(ID);
    const received = await world.wake.receive(await callback('approved'));
    expect(received).toMatchObject({ ok: true, answer: { status: 'approved', mayProceed: true } });
    expect(world.log.lines.at(-1)).toContain('"event":"answer"');
  });

  it('[W23] a genuine answer to a delivery of somebody else is refused', async () => {
    const world = await startWorld(() => 'hang_up');
    await world.wake.adopt(ID);
    const received = await world.wake.receive(await callback('approved', OTHER_ID));
    expect(received).toEqual({ ok: false, reason: 'foreign_delivery' });
  });

  it('[W23] a forged one, an old one and one without a decision are refused', async () => {
    const world = await startWorld(() => 'hang_up');
    await world.wake.adopt(ID);
    const genuine = await callback('approved');
    const forged = { ...genuine, body: genuine.body.replace('null', '"x"') };
    expect(await world.wake.receive(forged)).toEqual({ ok: false, reason: 'bad_signature' });
    expect(await world.wake.receive(await callback('pending'))).toEqual({ ok: false, reason: 'bad_body' });
    world.clock.advance(301_000);
    expect(await world.wake.receive(genuine)).toEqual({ ok: false, reason: 'stale_timestamp' });
  });
});
