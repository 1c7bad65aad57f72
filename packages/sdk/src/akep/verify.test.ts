import { createHmac, createPrivateKey, generateKeyPairSync, sign as nodeSign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { signEvent } from './signature.ts';
import { verifyEvent } from './verify.ts';

interface Vectors {
  sign: {
    name: string;
    secret: string;
    key_id?: string;
    id: string;
    timestamp: number;
    body: string;
    headers: object;
  }[];
  refuse_to_sign: { secret: string; id: string }[];
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
  readFileSync(new URL('../../../../spec/vectors/akep.json', import.meta.url), 'utf8'),
);
const [genuine] = vectors.verify;
const secret = genuine?.secrets[0] ?? '';
const body = genuine?.body ?? '';

describe('signing an event', () => {
  it.each(vectors.sign)('[K2] $name', async ({ headers, key_id: keyId, ...signing }) => {
    expect(await signEvent({ ...signing, keyId })).toEqual(headers);
  });

  it.each(vectors.refuse_to_sign)('[K2] $secret cannot sign $id', async ({ secret, id }) => {
    const signing = signEvent({ secret, id, body: '{}', timestamp: 1 });
    await expect(signing).rejects.toMatchObject({ fault: 'wrong_usage' });
  });

  it('[K1] the Standard Webhooks library accepts what is signed here', async () => {
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = await signEvent({ secret, id: 'evt_export_0001', body, timestamp });
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  });
});

describe('verifying an event', () => {
  it.each(vectors.verify)('[K3] $name → $reason', async ({ secrets, now, body, headers, reason }) => {
    const result = await verifyEvent({ secrets, now: now * 1_000, body, headers });
    expect(result).toEqual(reason === null ? { ok: true, event: JSON.parse(body) } : { ok: false, reason });
  });

  it('[K1] takes Headers, bytes and an ArrayBuffer, and a tolerance', async () => {
    const bytes = new TextEncoder().encode(body);
    const headers = new Headers(genuine?.headers);
    const now = (genuine?.now ?? 0) * 1_000;
    for (const form of [bytes, bytes.buffer, Buffer.from(body)]) {
      await expect(verifyEvent({ secret, body: form, headers, now })).resolves.toMatchObject({ ok: true });
    }
    const late = { secret, body, headers, now: now + 11_000, toleranceSeconds: 10 };
    await expect(verifyEvent(late)).resolves.toEqual({ ok: false, reason: 'stale_timestamp' });
  });

  it('[K3] whatever arrives, it never throws and never says yes', async () => {
    const odd: unknown[] = [undefined, null, 7, true, [], {}, Symbol('x'), () => 1, '', 'x', Number.NaN];
    for (const value of odd) {
      for (const request of [
        { secret: value, body, headers: genuine?.headers },
        { secrets: value, body, headers: genuine?.headers },
        { secrets: [secret, value], body, headers: genuine?.headers },
        { secret, body: value, headers: genuine?.headers },
        { secret, body, headers: value },
        { secret, body, headers: { ...genuine?.headers, 'webhook-signature': value } },
        { secret, body, headers: { ...genuine?.headers, 'webhook-id': [value, value] } },
      ]) {
        expect(await Reflect.apply(verifyEvent, null, [request])).toMatchObject({ ok: false });
      }
    }
  });
});

describe('Ed25519', () => {
  const pair = generateKeyPairSync('ed25519');
  const raw = (key: 'x' | 'd') =>
    Buffer.from(pair.privateKey.export({ format: 'jwk' })[key] ?? '', 'base64url');
  const mine = `whsk_${raw('d').toString('base64')}`;
  const theirs = `whpk_${raw('x').toString('base64')}`;
  const signing = { id: 'evt_export_0001', timestamp: 1_772_971_200, keyId: 'key_1' };
  const signed = { ...JSON.parse(body), event_id: signing.id };
  const text = JSON.stringify(signed);
  const now = signing.timestamp * 1_000;

  it('[K24] what is signed here is what Node signs, and holds under the public key only', async () => {
    const headers = await signEvent({ ...signing, secret: mine, body: text });
    const content = Buffer.from(`${signing.id}.${signing.timestamp}.${text}`);
    const wanted = nodeSign(
      null,
      content,
      createPrivateKey(pair.privateKey.export({ format: 'pem', type: 'pkcs8' })),
    );
    expect(headers['webhook-signature']).toBe(`v1a,${wanted.toString('base64')}`);
    await expect(verifyEvent({ secret: theirs, body: text, headers, now })).resolves.toEqual({
      ok: true,
      event: signed,
    });
    await expect(verifyEvent({ secrets: [secret, theirs], body: text, headers, now })).resolves.toMatchObject(
      { ok: true },
    );
    const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }).x ?? '';
    for (const wrong of [`whpk_${other}`, 'whpk_AAAA', secret]) {
      await expect(verifyEvent({ secret: wrong, body: text, headers, now })).resolves.toMatchObject({
        ok: false,
      });
    }
    await expect(verifyEvent({ secret: theirs, body: `${text} `, headers, now })).resolves.toEqual({
      ok: false,
      reason: 'bad_signature',
    });
  });

  it('[K24] a public key is not a shared secret: nobody signs with it, and no HMAC under it counts', async () => {
    await expect(signEvent({ ...signing, secret: theirs, body: text })).rejects.toMatchObject({
      fault: 'wrong_usage',
    });
    await expect(signEvent({ ...signing, secret: 'whsk_AAAA', body: text })).rejects.toMatchObject({
      fault: 'wrong_usage',
    });
    const forge = (key: Buffer | string) => {
      const tag = createHmac('sha256', key)
        .update(`${signing.id}.${signing.timestamp}.${text}`)
        .digest('base64');
      return {
        'webhook-id': signing.id,
        'webhook-timestamp': String(signing.timestamp),
        'webhook-signature': `v1,${tag}`,
      };
    };
    for (const key of [theirs, raw('x')]) {
      const request = { secret: theirs, body: text, headers: forge(key), now };
      await expect(verifyEvent(request)).resolves.toEqual({ ok: false, reason: 'bad_signature' });
    }
  });
});
