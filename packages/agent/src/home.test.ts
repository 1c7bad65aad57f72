import { userInfo } from 'node:os';
import { expect, it, vi } from 'vitest';
import { homeOf } from './home.ts';
import { loginFile } from './login-file.ts';

it('[W23] an empty HOME is no folder: what is kept stays with the user, and does not land where one stands', () => {
  vi.stubEnv('HOME', '');
  for (const HOME of ['', ' ', undefined]) expect(homeOf({ HOME })).toBe(userInfo().homedir);
  expect(loginFile({ env: {} })).toMatch(/^\//);
  expect(homeOf({ HOME: '/somewhere' })).toBe('/somewhere');
});
