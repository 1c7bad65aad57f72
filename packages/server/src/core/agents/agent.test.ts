import { expect, test } from 'vitest';
import { randomIds } from '../../storage/ids.ts';
import {
  activeSecrets,
  type CallbackSecret,
  isAgentId,
  isHandle,
  makeCallbackSecret,
  rotateSecrets,
} from './agent.ts';
import { refuseAgent } from './found.ts';

test.each(['a', 'agent-01', 'A.b_c-9', '7', 'x'.repeat(128)])('[W8] %s is an agent id', (id) => {
  expect(isAgentId(id)).toBe(true);
});

test.each(['', '-a', '.a', '_a', 'a b', 'a/b', 'ä', 'a\n', 'x'.repeat(129)])(
  '[W8] %j is no agent id',
  (id) => {
    expect(isAgentId(id)).toBe(false);
  },
);

test('[D29] a handle has 1 to 39 lower-case letters, digits and inner hyphens', () => {
  for (const handle of ['a', '7', 'home', 'a-b', 'x'.repeat(39)]) expect(isHandle(handle)).toBe(true);
  for (const handle of ['', 'Home', '-a', 'a-', 'a_b', 'a.b', 'x'.repeat(40)])
    expect(isHandle(handle)).toBe(false);
});

test('[W20] a callback secret is whsec_ and the base64 of 32 random bytes', () => {
  const secret = makeCallbackSecret(randomIds);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
  expect(makeCallbackSecret(randomIds)).not.toBe(secret);
});

test('[W20] one that an operator sets is taken as it is, unless it is too short or not in this form', () => {
  const refusal = (callbackSecret: string) => refuseAgent({ id: 'a', tier: 'test', callbackSecret });
  for (const own of ['whsec_dGVzdC1zZWNyZXQ=', 'whsec_my-own-callback-secret'])
    expect(refusal(own)).toBeNull();
  for (const odd of [
    'whsec_short',
    'whsec_',
    'my-own-callback-secret-without-it',
    'whsec_with a space inside it',
  ])
    expect(refusal(odd)?.fault).toBe('invalid_field');
});

function secret(name: string, createdAt: number, expiresAt: number | null = null): CallbackSecret {
  return { secret: name, createdAt, expiresAt };
}

test('[W20] during the overlap both sign, the new one first; then the new one alone', () => {
  const rotated = rotateSecrets([secret('old', 0)], secret('new', 100), 500);
  expect(rotated).toEqual([secret('new', 100), secret('old', 0, 500)]);
  expect(activeSecrets(rotated, 100)).toEqual(['new', 'old']);
  expect(activeSecrets(rotated, 499)).toEqual(['new', 'old']);
  expect(activeSecrets(rotated, 500)).toEqual(['new']);
});

test('[W20] a further rotation lengthens no life, and drops what has ended', () => {
  const once = rotateSecrets([secret('a', 0)], secret('b', 100), 500);
  const twice = rotateSecrets(once, secret('c', 200), 600);
  expect(activeSecrets(twice, 499)).toEqual(['c', 'b', 'a']);
  expect(activeSecrets(twice, 500)).toEqual(['c', 'b']);
  expect(rotateSecrets(twice, secret('d', 550), 900).map((s) => s.secret)).toEqual(['d', 'c', 'b']);
});
