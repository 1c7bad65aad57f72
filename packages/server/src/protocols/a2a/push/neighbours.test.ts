import { expect, test } from 'vitest';
import { localTarget } from './neighbours.ts';

const BASE = 'https://desk.example.com/room';

test('[A19] an agent of ours is known by its address, with or without a slash at its end, and with an escaped @', () => {
  for (const path of ['/@home/a', '/@home/a/', '/%40home/a', '/%40home/a/']) {
    expect(localTarget(BASE, `${BASE}${path}`)).toEqual({ handle: 'home', agent: 'a' });
  }
  for (const url of [`${BASE}/%2540home/a`, `${BASE}/@home/a/b`, 'https://desk.example.com/@home/a']) {
    expect(localTarget(BASE, url)).toBeNull();
  }
});

test('[A19] a server on this machine is meant by either name', () => {
  const named = (base: string, url: string) => localTarget(base, url)?.agent ?? null;
  expect(named('http://127.0.0.1:8787', 'http://localhost:8787/@home/a')).toBe('a');
  expect(named('http://localhost', 'http://127.0.0.1/@home/a')).toBe('a');
  for (const url of [
    'http://localhost:8788/@home/a',
    'https://localhost:8787/@home/a',
    'http://localhost.example:8787/@home/a',
  ])
    expect(named('http://127.0.0.1:8787', url)).toBeNull();
});
