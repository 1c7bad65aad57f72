import { expect, test } from 'vitest';
import { Receivers } from './receivers.ts';

const GOOD = 'https://good.example';
const [SOON, LATE] = [80, 30_000];

function knowing(...origins: string[]): Receivers {
  const receivers = new Receivers();
  for (const origin of origins) {
    receivers.admit(origin);
    receivers.release(origin, SOON);
  }
  return receivers;
}

/** How many more it would get. */
function room(receivers: Receivers, origin: string): number {
  let places = 0;
  while (receivers.admit(origin)) places++;
  return places;
}

const many = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `https://${name}-${i}.example`);

test('[D28] a receiver known to answer soon gets four requests at once, any other gets one', () => {
  const receivers = knowing(GOOD);
  expect([room(receivers, GOOD), room(receivers, 'https://new.example')]).toEqual([4, 1]);
  expect(receivers.full().sort()).toEqual([GOOD, 'https://new.example']);
});

test('[D28] one that hung gets one at a time until it does not', () => {
  const receivers = knowing(GOOD);
  expect(room(receivers, GOOD)).toBe(4);
  for (const tookMs of [SOON, LATE, null, null]) receivers.release(GOOD, tookMs);
  expect([room(receivers, GOOD), receivers.full()]).toEqual([1, [GOOD]]);
  receivers.release(GOOD, SOON);
  expect([receivers.full(), room(receivers, GOOD)]).toEqual([[], 4]);
});

test('[D28] any number of hung receivers leave room for the others', () => {
  const receivers = knowing(GOOD, 'https://good-too.example');
  const hung = many('hung', 1000);
  const taken = hung.filter((origin) => receivers.admit(origin));
  expect(taken).toHaveLength(192);
  expect([room(receivers, GOOD), room(receivers, 'https://good-too.example')]).toEqual([4, 4]);
  for (const origin of taken) receivers.release(origin, LATE);
  expect(hung.filter((origin) => receivers.admit(origin))).toHaveLength(192);
});

test('[D28] places come back: after all have ended there are as many as before', () => {
  const origins = many('turning', 60);
  const receivers = knowing(...origins);
  for (const origin of origins) expect(room(receivers, origin)).toBe(4);
  expect(room(receivers, 'https://new.example')).toBe(1);
  for (const origin of origins)
    for (const tookMs of [LATE, SOON, LATE, null]) receivers.release(origin, tookMs);
  receivers.release('https://new.example', LATE);
  expect(receivers.full()).toEqual([]);
  expect(many('other', 300).filter((origin) => receivers.admit(origin))).toHaveLength(192);
});
