import { readFileSync } from 'node:fs';
import { signWebhook } from '@lanternroom/sdk/wake';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { signCallback } from './callback-signature.ts';

interface Vectors {
  sign: { name: string; secrets: string[]; id: string; timestamp: number; body: string; headers: object }[];
  refuse_to_sign: string[][];
}

const vectors: Vectors = JSON.parse(
  readFileSync(new URL('../../../../../spec/vectors/webhook.json', import.meta.url), 'utf8'),
);

test.each(vectors.sign)('[W20] $name', ({ secrets, id, timestamp, body, headers }) => {
  expect(signCallback({ secrets, id, timestamp, body: Buffer.from(body) })).toEqual(headers);
});

test.each(vectors.refuse_to_sign.map((secrets) => ({ secrets })))(
  '[W20] $secrets cannot sign',
  ({ secrets }) => {
    expect(() => signCallback({ secrets, id: 'a', timestamp: 1, body: Buffer.from('{}') })).toThrow();
  },
);

test('[W20] the same as the SDK makes, for every secret and body', async () => {
  const secret = fc.oneof(
    fc
      .uint8Array({ minLength: 16, maxLength: 80 })
      .map((bytes) => `whsec_${Buffer.from(bytes).toString('base64')}`),
    fc.string({ unit: 'grapheme', minLength: 16, maxLength: 90 }),
    fc.stringMatching(/^(whsec_)?[A-Za-z0-9+/_-]{16,40}={0,3}$/),
  );
  const signing = fc.record({
    secrets: fc.array(secret, { minLength: 1, maxLength: 2 }),
    id: fc.string({ minLength: 1, maxLength: 30 }),
    timestamp: fc.nat(),
    body: fc.uint8Array({ maxLength: 6000 }),
  });
  const check = async (one: Parameters<typeof signCallback>[0]) => {
    expect(signCallback(one)).toEqual(await signWebhook(one));
  };
  await fc.assert(fc.asyncProperty(signing, check));
});
