import { describe, expect, test } from 'vitest';
import { isLoopbackAlias, isLoopbackHost, judgeEntry, judgeTarget } from './allowlist.ts';

const LIST = ['https://hooks.example.com/agents/one', 'https://example.org:8443', 'http://localhost:3000/cb'];

function reasonFor(url: string, allowlist: readonly string[] = LIST, tier: 'test' | 'live' = 'live'): string {
  const verdict = judgeTarget(url, allowlist, tier);
  return verdict.allowed ? verdict.url : verdict.reason;
}

describe('targets', () => {
  test.each([
    'https://hooks.example.com/agents/one',
    'https://hooks.example.com/agents/one/',
    'https://hooks.example.com/agents/one/two?x=../..',
    'https://hooks.example.com/agents/one/a%20b',
    'https://hooks.example.com/agents/one/a%2Fb',
    'https://example.org:8443/',
    'https://example.org:8443/any/where',
  ])('[W21] a listed target is allowed: %s', (url) => {
    expect(reasonFor(url)).toBe(url);
  });

  test.each([
    ['HTTPS://HOOKS.Example.COM:443/agents/one', 'https://hooks.example.com/agents/one'],
    ['https://hooks.example.com/x/../agents/one', 'https://hooks.example.com/agents/one'],
    ['https:\\\\hooks.example.com\\agents\\one', 'https://hooks.example.com/agents/one'],
    ['https://hooks。example。com/agents/one', 'https://hooks.example.com/agents/one'],
  ])('[W21] the host is judged, and the target returned, after new URL(): %s', (url, normalised) => {
    expect(reasonFor(url)).toBe(normalised);
  });

  test.each([
    'https://hooks.example.com/',
    'https://hooks.example.com/agents',
    'https://hooks.example.com/agents/onez',
    'https://hooks.example.com/agents/one%2fx',
    'https://hooks.example.com/Agents/one',
    'https://hooks.example.com/agents/one/../two',
    'https://hooks.example.com/agents/one/%2e%2e/two',
    'https://hooks.example.com/agents/one/.%2E/two',
    'https://hooks.example.com/agents/one\\..\\two',
    'https://hooks.example.com:8443/agents/one',
    'https://hooks.example.com./agents/one',
    'https://example.com/agents/one',
    'https://evil.hooks.example.com/agents/one',
    'https://hooks.example.com.evil.test/agents/one',
    'https://hooks.example.comx/agents/one',
    'https://example.org/',
    'https://example.org:8444/',
    'https://hooks.exаmple.com/agents/one', // a Cyrillic a
  ])('[W21] exact origin and whole segments, so this is not listed: %s', (url) => {
    expect(reasonFor(url)).toBe('not_listed');
  });

  test.each([
    'https://hooks.example.com/agents/one/..%2ftwo',
    'https://hooks.example.com/agents/one/..%5Ctwo',
    'https://hooks.example.com/agents/one/%2e%2e%2ftwo',
    'https://hooks.example.com/agents/one/x%2f..%2f..%2ftwo',
    'https://hooks.example.com/agents/one/%252e%252e/two',
    'https://hooks.example.com/agents/one/%25252e%25252e%25252ftwo',
    'https://hooks.example.com/agents/one/..;/two',
    'https://hooks.example.com/agents/one/..;a=b/two',
    'https://hooks.example.com/agents/one/%2e%2e%3b/two',
    'https://hooks.example.com/agents/one/.%2f',
  ])('[W21] nothing a receiver might decode leaves the prefix: %s', (url) => {
    expect(reasonFor(url)).toBe('path_escapes');
  });

  test.each([
    ['https://user@hooks.example.com/agents/one', 'userinfo'],
    ['https://user:pw@hooks.example.com/agents/one', 'userinfo'],
    ['https://@hooks.example.com/agents/one', 'userinfo'],
    ['https://hooks.example.com@evil.test/agents/one', 'userinfo'],
    ['https://hooks.example.com/agents/one#x', 'fragment'],
    ['https://hooks.example.com/agents/one#', 'fragment'],
    ['https://hooks.example.com/agents/one\r\nX: y', 'control_characters'],
    ['https://hooks.example.com/agents/one\n', 'control_characters'],
    ['\thttps://hooks.example.com/agents/one', 'control_characters'],
    [' https://hooks.example.com/agents/one', 'control_characters'],
    ['https://hooks.exam\u0000ple.com/agents/one', 'control_characters'],
    ['https://hooks.exam\u200bple.com/agents/one', 'control_characters'],
    ['https://hooks.example.com/agents/one\u2028', 'control_characters'],
    [`https://hooks.example.com/agents/one/${'x'.repeat(2048)}`, 'too_long'],
    [`https://hooks.example.com/agents/one/${'é'.repeat(400)}`, 'too_long'],
    ['', 'not_a_url'],
    ['hooks.example.com/agents/one', 'not_a_url'],
    ['//hooks.example.com/agents/one', 'not_a_url'],
    ['https://', 'not_a_url'],
    ['https://256.1.1.1/', 'not_a_url'],
    ['https://[fe80::1%25eth0]/', 'not_a_url'],
    ['ftp://hooks.example.com/agents/one', 'not_https'],
    ['javascript:alert(1)', 'not_https'],
    ['file:///etc/passwd', 'not_https'],
    ['wss://hooks.example.com/agents/one', 'not_https'],
    ['http://hooks.example.com/agents/one', 'not_https'],
    ['http://10.0.0.1/', 'not_https'],
  ])('[W21] %j is refused: %s', (url, reason) => {
    expect(reasonFor(url)).toBe(reason);
  });

  test('[W21] an empty allowlist allows nothing, and every refusal is a sentence', () => {
    const verdict = judgeTarget('https://example.com/', [], 'live');
    expect(verdict).toMatchObject({ allowed: false, reason: 'not_listed' });
    expect(verdict).toHaveProperty('message', expect.stringMatching(/^[A-Z].+\.$/));
  });

  test('[W21] an entry that is not valid covers nothing and spoils nothing', () => {
    const list = ['*', 'https://*.example.com', 'nonsense', 'https://example.com/ok'];
    expect(reasonFor('https://a.example.com/', list)).toBe('not_listed');
    expect(reasonFor('https://example.com/ok/x', list)).toBe('https://example.com/ok/x');
  });
});

describe('loopback', () => {
  const everyLoopback = [
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'http://[::1]:3000',
    'https://localhost',
  ];

  test.each([
    'http://localhost:3000/x',
    'http://127.0.0.1:3000/x',
    'http://[::1]:3000/x',
    'https://localhost/x',
  ])('[W21] a test key may call %s when it is listed, a live key never', (url) => {
    expect(reasonFor(url, everyLoopback, 'test')).toBe(url);
    expect(reasonFor(url, everyLoopback, 'live')).toBe('loopback');
    expect(reasonFor(url, [], 'test')).toBe('not_listed');
  });

  test('[W21] the listed loopback origin is exact: scheme, spelling, port', () => {
    expect(reasonFor('http://localhost:3001/', everyLoopback, 'test')).toBe('not_listed');
    expect(reasonFor('http://127.0.0.2:3000/', everyLoopback, 'test')).toBe('not_listed');
    expect(reasonFor('https://localhost:3000/', everyLoopback, 'test')).toBe('not_listed');
    expect(reasonFor('http://localhost/', everyLoopback, 'test')).toBe('not_listed');
    expect(reasonFor('http://2130706433:3000/', everyLoopback, 'test')).toBe('http://127.0.0.1:3000/');
  });

  test.each([
    'https://localhost.:3000/',
    'https://api.localhost/',
    'https://a.b.LOCALHOST./',
    'https://0.0.0.0/',
    'https://0/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::127.0.0.1]/',
    'https://[::ffff:0:127.0.0.1]/',
  ])('[W21] another spelling of loopback is refused for every key: %s', (url) => {
    const list = [url];
    expect(reasonFor(url, list, 'test')).toBe('loopback');
    expect(reasonFor(url, list, 'live')).toBe('loopback');
  });

  test('[W21] names that only look like loopback are ordinary names', () => {
    for (const host of [
      'localhost.example.com',
      'notlocalhost',
      '127.0.0.1.example.com',
      '[::2]',
      '128.0.0.1',
    ]) {
      expect([isLoopbackHost(host), isLoopbackAlias(host)]).toEqual([false, false]);
    }
  });
});

describe('entries', () => {
  test.each([
    ['https://example.com', 'https://example.com', ''],
    ['https://EXAMPLE.com:443/hooks/', 'https://example.com', '/hooks'],
    ['https://example.com:8443/a/b', 'https://example.com:8443', '/a/b'],
    ['https://bücher.example/x', 'https://xn--bcher-kva.example', '/x'],
    ['http://127.0.0.1:9/cb', 'http://127.0.0.1:9', '/cb'],
  ])('[W21] %s is a valid entry', (entry, origin, prefix) => {
    expect(judgeEntry(entry)).toEqual({ allowed: true, origin, prefix });
  });

  test.each([
    ['https://*.example.com', 'wildcard'],
    ['https://example.com/?', 'query'],
    ['https://example.com/hooks?a=b', 'query'],
    ['https://example.com/#', 'fragment'],
    ['https://me@example.com/', 'userinfo'],
    ['http://example.com/', 'not_https'],
    ['example.com', 'not_a_url'],
    ['*', 'not_a_url'],
    ['https://example.com/a/..%2f', 'path_escapes'],
    ['https://foo.localhost', 'loopback'],
    ['https://exa mple.com', 'control_characters'],
    [`https://example.com/${'a'.repeat(2048)}`, 'too_long'],
  ])('[W21] %s is no valid entry: %s', (entry, reason) => {
    expect(judgeEntry(entry)).toMatchObject({ allowed: false, reason });
    expect(judgeEntry(entry)).toHaveProperty('message', expect.stringMatching(/^[A-Z].+\.$/));
  });
});
