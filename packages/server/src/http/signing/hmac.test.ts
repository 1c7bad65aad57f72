import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { HmacKey } from './hmac.ts';

test('[K3] the same as node:crypto makes, for secrets, texts and bodies of every length', () => {
  const bytes = (maxLength: number) => fc.uint8Array({ maxLength });
  fc.assert(
    fc.property(
      bytes(200),
      fc.array(fc.tuple(fc.string({ unit: 'grapheme', maxLength: 80 }), bytes(9000)), { maxLength: 4 }),
      (secret, messages) => {
        const key = new HmacKey(secret);
        for (const [text, body] of messages) {
          const expected = createHmac('sha256', secret).update(text).update(body).digest('hex');
          expect(key.digest(text, body).toString('hex')).toBe(expected);
        }
      },
    ),
  );
});

test.each([0, 1, 63, 64, 65, 128])('[K3] a secret of %i bytes', (length) => {
  const secret = Buffer.alloc(length, 7);
  const expected = createHmac('sha256', secret).update('a.1.').update('{}').digest('hex');
  expect(new HmacKey(secret).digest('a.1.', Buffer.from('{}')).toString('hex')).toBe(expected);
});
