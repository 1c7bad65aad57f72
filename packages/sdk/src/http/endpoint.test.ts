import { describe, expect, it } from 'vitest';
import { faultOf } from '../faults.ts';
import { readEndpoint } from './endpoint.ts';

const TEST = 'wk_test_abc';
const LIVE = 'wk_live_abc';

function faultFor(url: string, key: string) {
  try {
    readEndpoint(url, key);
    return null;
  } catch (error) {
    return faultOf(error);
  }
}

describe('the address of the server', () => {
  it.each([
    ['https://desk.example.com', 'https://desk.example.com'],
    ['https://desk.example.com/', 'https://desk.example.com'],
    ['https://desk.example.com/wake/v1', 'https://desk.example.com'],
    ['https://desk.example.com/wake/v1/', 'https://desk.example.com'],
    ['https://example.com/lantern', 'https://example.com/lantern'],
  ])('[W23] %s is taken as %s', (url, base) => {
    expect(readEndpoint(url, LIVE).base).toBe(base);
  });

  it.each([
    'http://127.0.0.1:8787',
    'http://localhost:8787',
    'http://[::1]:8787',
    'http://127.1',
    'http://agent.localhost',
  ])('[W23] plain http to %s is for test keys only', (url) => {
    expect(faultFor(url, TEST)).toBeNull();
    expect(faultFor(url, LIVE)).toBe('insecure_url');
  });

  it.each([
    'http://example.com',
    'http://localhost.example.com',
    'http://127.0.0.1.example.com',
    'http://10.0.0.1',
    'http://0.0.0.0',
    'http://[::ffff:10.0.0.1]',
    'ws://127.0.0.1',
    'ftp://127.0.0.1',
  ])('[W23] %s is refused even with a test key', (url) => {
    expect(faultFor(url, TEST)).toBe('insecure_url');
  });

  it.each([
    'nonsense',
    '',
    'localhost:8787',
    'desk.example.com:443',
    'C:\\lanternroom',
    'https://user:pass@example.com',
    'https://example.com?key=1',
    'https://example.com#x',
  ])('[W23] %j is not an address', (url) => {
    expect(faultFor(url, TEST)).toBe('wrong_usage');
  });

  it.each(['lr_abc', 'ct_abc', 'whsec_abc'])('[W23] %s is told to be something else than a key', (secret) => {
    for (const url of ['http://127.0.0.1:8787', 'https://example.com']) {
      expect(() => readEndpoint(url, secret)).toThrow(/^This is .* and not the key of an agent: .* wk_/);
      expect(faultFor(url, secret)).toBe('wrong_usage');
    }
  });

  it.each(['', 'wk_test_a b', 'wk_test_a\n', 'wk_test_ä'])('[W23] %j is not a key', (key) => {
    expect(faultFor('https://example.com', key)).toBe('wrong_usage');
  });
});
