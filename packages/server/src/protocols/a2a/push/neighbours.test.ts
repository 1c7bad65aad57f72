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
