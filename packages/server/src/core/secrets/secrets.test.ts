import { describe, expect, onTestFinished, test } from 'vitest';
import { SECRET_KINDS } from './kinds.ts';
import { LABELLED_KINDS } from './labels.ts';
import { findSecret } from './secrets.ts';

// Put together here, so that scanners do not take this file for a leak.
const token = `gh${'p_'}${'a1B2c3D4e5F6'.repeat(3)}`;
const key = ['AK', 'IA', 'Q3EGRTZ7MNB2XKVW'].join('');
const kind = 'GitHub token';

describe('places', () => {
  test('[W13] details that are one string are /details', () => {
    expect(findSecret(`use ${token} please`, [])).toEqual({ path: '/details', kind });
  });

  test('[W13] a place is a JSON Pointer from the body, through objects and arrays', () => {
    expect(findSecret({ a: 1, steps: [{ run: 'ls' }, { run: `curl -H ${token}` }] }, [])).toEqual({
      path: '/details/steps/1/run',
      kind,
    });
    expect(findSecret({ 'a/b': { 'c~d': { '': token } } }, [])).toEqual({
      path: '/details/a~1b/c~0d/',
      kind,
    });
  });

  test('[W13] the first one in order is named', () => {
    expect(findSecret({ one: key, two: token }, [])).toEqual({
      path: '/details/one',
      kind: 'AWS access key id',
    });
  });

  test('[W13] a key that is a credential is refused, and its place does not tell it', () => {
    expect(findSecret({ env: { ok: 1, [token]: 'x' } }, [])).toEqual({ path: '/details/env/*', kind });
    const below = findSecret({ [token]: { inner: key } }, [{ path: '/details/*', reason: 'known' }]);
    expect(below).toEqual({ path: '/details/*/inner', kind: 'AWS access key id' });
  });

  test.each([null, undefined, 1, true, '', {}, [], { a: null, b: [0, false, {}] }])(
    '[W13] %j holds nothing',
    (details) => {
      expect(findSecret(details, [])).toBeNull();
    },
  );
});

describe('what is let through', () => {
  const allow = (...paths: string[]) =>
    paths.map((path) => ({ path, reason: 'a revoked key, for the report' }));

  test('[W13] an allowed place is passed over, and only that place', () => {
    const details = { old: token, fresh: { token } };
    expect(findSecret(details, allow('/details/old'))).toEqual({ path: '/details/fresh/token', kind });
    expect(findSecret(details, allow('/details/old', '/details/fresh/token'))).toBeNull();
    expect(findSecret(token, allow('/details'))).toBeNull();
  });

  test('[W13] neither a parent, nor a child, nor another spelling allows a place', () => {
    for (const path of [
      '/details',
      '/details/a',
      '/details/a/b/c',
      'details/a/b',
      '/a/b',
      '/details/a/b/',
      '',
    ]) {
      expect(findSecret({ a: { b: token } }, allow(path))).toEqual({ path: '/details/a/b', kind });
    }
  });
});

describe('labels', () => {
  const secret = ['wJ7rXUtn', 'FEMI/K7MDENG/', 'bPxRfiCYz4Q9kLm2Tn7'].join('').slice(0, 40);
  const found = (path: string) => ({ path, kind: 'AWS secret access key' });

  test('[W13] a key of the object labels its value, directly or as a name beside a value', () => {
    expect(findSecret({ AWS_SECRET_ACCESS_KEY: secret }, [])).toEqual(
      found('/details/AWS_SECRET_ACCESS_KEY'),
    );
    expect(findSecret({ secretAccessKey: [secret] }, [])).toEqual(found('/details/secretAccessKey/0'));
    expect(findSecret({ env: [{ name: 'AWS_SECRET_ACCESS_KEY', value: secret }] }, [])).toEqual(
      found('/details/env/0/value'),
    );
  });

  test('[W13] without its label the same text is only base64', () => {
    expect(findSecret({ checksum: secret, note: `digest ${secret}` }, [])).toBeNull();
  });

  test('[W13] a service account is recognised as an object and as text', () => {
    const pem = `-----BEGIN ${'PRIVATE KEY'}-----\nMIIEvQIBADANBgkq\n-----END`;
    const account = { type: 'service_account', private_key: pem };
    expect(findSecret(account, [])).toEqual({
      path: '/details/private_key',
      kind: 'Google service account key',
    });
    expect(findSecret(JSON.stringify(account), [])?.kind).toBe('Google service account key');
    expect(findSecret({ private_key: pem }, [])?.kind).toBe('private key');
  });
});

describe('patterns stay linear', () => {
  const all = [
    ...SECRET_KINDS.map((each) => each.pattern),
    ...LABELLED_KINDS.flatMap((each) => [each.value, each.label ?? /x/]),
  ];

  test.each(all)('[W13] %s repeats single characters and never a group', (pattern) => {
    // Without a repeated group there is no repetition inside a repetition, the source of exponential backtracking.
    const bare = pattern.source.replace(/\\./g, 'a').replace(/\[[^\]]*\]/g, 'a');
    expect(bare).not.toMatch(/\)[*+{]|[*+}][*+]/);
  });

  const MIB = 1_048_576;
  const starts = [
    'AKIA-',
    'eyJ.',
    'eyJ-',
    'eyJabcdefghijk.aa.',
    '://a:b',
    '://a:@',
    'sk-ant-',
    'xoxb-',
    'glpat-',
    '%3D',
    '-----BEGIN ',
  ];
  const more = [
    'ghp_',
    '1:AA',
    'secret_key=',
    'Bearer ',
    'KEY',
    'a',
    '-',
    '/',
    '\\n',
    'hooks.slack.com/services/T',
    'é',
    ' sig=',
  ];

  test.each([...starts, ...more])('[W13] a mebibyte of %j is read to its end', (piece) => {
    const text = piece.repeat(Math.ceil(MIB / piece.length));
    expect(findSecret({ text, url: `x://a:${text}` }, [])?.path ?? '/details/url').toBe('/details/url');
    expect(findSecret(`${text} ${token}`, [])).toEqual(expect.objectContaining({ path: '/details' }));
  });

  test.each([
    'glpat-.',
    'gloas-.',
    'sntryu_/',
    'glc_eyJ+',
    'whsec_/',
    'dp.st.',
    'hvs.-',
    'eyJ0aaaaaaaaa.aa.',
  ])('[W13] a mebibyte of %j is not read again from each of its beginnings', (piece) => {
    let read = 0;
    for (const kind of SECRET_KINDS) {
      const { proof } = kind;
      onTestFinished(() => {
        kind.proof = proof;
      });
      kind.proof = (found) => {
        read += found.length;
        return proof(found);
      };
    }
    const text = piece.repeat(Math.ceil(MIB / piece.length));
    expect(findSecret(`${text} ${token}`, [])).toEqual(expect.objectContaining({ path: '/details' }));
    expect(read).toBeLessThan(4 * MIB);
  });

  test('[W13] thousands of places that were let through are looked up, not compared one by one', () => {
    const details = Array.from({ length: 3_000 }, () => token);
    let asked = 0;
    const allowed = details.map((_, i) => ({
      get path() {
        asked += 1;
        return `/details/${i}`;
      },
      reason: 'of the test',
    }));
    expect(findSecret(details, allowed)).toBeNull();
    expect(asked).toBe(details.length);
  });
});
