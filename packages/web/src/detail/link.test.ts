import { describe, expect, it } from 'vitest';
import { safeTarget } from './link.ts';

describe('links of agents', () => {
  it('show the host that will be dialled, odd ones as punycode', () => {
    expect(safeTarget('https://аpple.com/login')?.host).toBe('xn--pple-43d.com');
    expect(safeTarget('https://example.com:8443/x')?.host).toBe('example.com:8443');
  });

  it('lose a name that only serves to be mistaken for the host', () => {
    expect(safeTarget('https://bank.example@evil.example/')).toEqual({
      href: 'https://evil.example/',
      host: 'evil.example',
    });
  });

  it('lead nowhere when they are not absolute web or mail addresses', () => {
    for (const href of [
      'javascript:alert(1)',
      'data:text/html,x',
      '/desk/session',
      '//evil',
      'vbscript:x',
      undefined,
    ])
      expect(safeTarget(href)).toBeNull();
    expect(safeTarget('mailto:ada@example.com')?.host).toBe('ada@example.com');
  });
});
