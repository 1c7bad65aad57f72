import { expect, test } from 'vitest';
import { partyOf } from './passkey.ts';

test.each([
  ['https://desk.example.com', { id: 'desk.example.com', origin: 'https://desk.example.com' }],
  ['https://desk.example.com:8443/', { id: 'desk.example.com', origin: 'https://desk.example.com:8443' }],
  ['http://127.0.0.1:8787', { id: 'localhost', origin: 'http://localhost:8787' }],
  ['http://[::1]:8787', { id: 'localhost', origin: 'http://localhost:8787' }],
  ['http://localhost', { id: 'localhost', origin: 'http://localhost' }],
  ['https://192.0.2.7', null],
  ['https://[2001:db8::7]', null],
  ['http://desk.example.com', null],
])('[D54] passkeys of %s are bound to its name, and none are made without one', (url, party) => {
  expect(partyOf(url)).toEqual(party);
});
