import { createCipheriv, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { isUuid } from '../../../core/ids.ts';
import { PlaceIds } from './place-ids.ts';

const ids = new PlaceIds(randomBytes(32));
const made = Array.from({ length: 2000 }, (_, i) => ids.idAt(i + 1));

test('[W6] ids are UUID v4 and random in every free place: none carries a time or a count', () => {
  expect(made.every(isUuid)).toBe(true);
  expect(new Set(made).size).toBe(made.length);
  for (let place = 0; place < 36; place++) {
    const letters = new Set(made.map((id) => id[place]));
    const fixed = [8, 13, 14, 18, 23].includes(place);
    const expected = fixed ? 1 : place === 19 ? 4 : 16;
    expect([place, letters.size]).toEqual([place, expected]);
  }
});

test('[W6] the same place never gives the same id, and neighbours share no part of theirs', () => {
  const ofOne = Array.from({ length: 1000 }, () => ids.idAt(1));
  expect(new Set(ofOne.map((id) => id.slice(24))).size).toBe(1000);
  // About half of the 48 hidden bits differ between neighbours, as between any two random numbers.
  const bits = made.slice(1).map((id, i) => differing(id.slice(24), (made[i] ?? '').slice(24)));
  const mean = bits.reduce((sum, n) => sum + n, 0) / bits.length;
  expect(mean).toBeGreaterThan(22);
  expect(mean).toBeLessThan(26);
});

function differing(a: string, b: string): number {
  return (BigInt(`0x${a}`) ^ BigInt(`0x${b}`)).toString(2).replaceAll('0', '').length;
}

test('[W6] with the key, the place is found again, however large, and without it not', () => {
  for (const place of [1, 2, 255, 256, 2 ** 31, 2 ** 32 + 7, 2 ** 48 - 1]) {
    expect(ids.placeOf(ids.idAt(place))).toBe(place);
  }
  const other = new PlaceIds(randomBytes(32));
  expect(made.filter((id, i) => other.placeOf(id) === i + 1)).toEqual([]);
});

test('[W14] a foreign id decrypts to a place as well, but the row there does not confirm it', () => {
  expect(ids.placeOf('no id at all')).toBe(0);
  expect(ids.placeOf('2f1b7a52-5a55-4c47-9be6-0c9a7c6f0b11')).not.toBe(0);
});

test('[W6] the pad is AES of the random part, so that a store can be read by another program', () => {
  const key = randomBytes(32);
  const bytes = Buffer.from(new PlaceIds(key).idAt(42).replaceAll('-', ''), 'hex');
  const pad = createCipheriv('aes-256-ecb', key, null).update(
    Buffer.concat([bytes.subarray(0, 10), Buffer.alloc(6)]),
  );
  const place = Buffer.from(bytes.subarray(10).map((byte, i) => byte ^ (pad[10 + i] ?? 0)));
  expect(place.readUIntBE(0, 6)).toBe(42);
});
