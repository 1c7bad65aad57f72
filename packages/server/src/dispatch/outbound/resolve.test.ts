import { expect, test } from 'vitest';
import { judgeAddress } from './addresses.ts';
import { resolveChecked } from './resolve.ts';

/** A resolver that answers the same to everything, and what it was asked. */
function world(answer: readonly string[]) {
  const asked: string[] = [];
  const lookup = async (name: string) => {
    asked.push(name);
    return answer;
  };
  const resolve = (host: string, loopback = false) =>
    resolveChecked(new URL(`https://${host}/`).hostname, { loopback, lookup, judge: judgeAddress });
  return { asked, resolve };
}

test.each([
  [['127.0.0.1']],
  [['8.8.8.8', '127.0.0.1']],
  [['8.8.8.8', '2606:4700::1', '10.0.0.1']],
  [['2606:4700::1', '::1']],
  [['8.8.8.8', '::ffff:127.0.0.1']],
  [['8.8.8.8', 'fe80::1%eth0']],
  [['8.8.8.8', '64:ff9b::7f00:1']],
  [['8.8.8.8', 'fd00:ec2::254']],
  [['8.8.8.8', 'not an address']],
  [[...Array<string>(20).fill('8.8.8.8'), '127.0.0.1']],
])('[W21] one bad address in the answer refuses all of it: %j', async (answer) => {
  const { resolve } = world(answer);
  expect(await resolve('receiver.example')).toEqual({ ok: false, kind: 'refused_address' });
});

test.each([
  'localhost',
  'LOCALHOST',
  'localhost.',
  'api.localhost',
  'a.b.localhost.',
  '127.0.0.1',
  '2130706433',
  '[::1]',
  '[::ffff:7f00:1]',
  '0.0.0.0',
  '169.254.169.254',
  '10.0.0.1',
])('[W21] %s is refused without asking DNS, whatever DNS would say', async (host) => {
  const { asked, resolve } = world(['8.8.8.8']);
  expect(await resolve(host)).toEqual({ ok: false, kind: 'refused_address' });
  expect(asked).toEqual([]);
});

test('[W21] a literal passes through the same judge, and no lookup', async () => {
  const { asked, resolve } = world(['127.0.0.1']);
  expect(await resolve('[::ffff:8.8.8.8]')).toEqual({
    ok: true,
    addresses: [{ address: '8.8.8.8', family: 4 }],
  });
  expect(asked).toEqual([]);
});

test('[W21] names are asked for as new URL() spells them', async () => {
  const { asked, resolve } = world(['8.8.8.8']);
  await resolve('BÜCHER.example');
  await resolve('receiver。example');
  await resolve('receiver.example.');
  expect(asked).toEqual(['xn--bcher-kva.example', 'receiver.example', 'receiver.example.']);
});

test('[W21] localhost for a test key is loopback by definition, and other spellings stay refused', async () => {
  const { asked, resolve } = world(['8.8.8.8']);
  expect(await resolve('localhost', true)).toEqual({
    ok: true,
    addresses: [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ],
  });
  expect(await resolve('x.localhost', true)).toEqual({ ok: false, kind: 'refused_address' });
  expect(asked).toEqual([]);
});

test('[W21] no answer and a failing resolver are the same', async () => {
  expect(await world([]).resolve('receiver.example')).toEqual({ ok: false, kind: 'dns' });
  const lookup = () => Promise.reject(new Error('SERVFAIL'));
  const rule = { loopback: false, lookup, judge: judgeAddress };
  expect(await resolveChecked('receiver.example', rule)).toEqual({ ok: false, kind: 'dns' });
});

test('[W21] of a long answer only the first eight are ever dialled', async () => {
  const answer = Array.from({ length: 40 }, (_, i) => `8.8.8.${i}`);
  const resolution = await world(answer).resolve('receiver.example');
  expect(resolution).toMatchObject({ ok: true, addresses: { length: 8 } });
});
