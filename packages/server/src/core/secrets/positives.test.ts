import { describe, expect, test } from 'vitest';
import { findSecret } from './secrets.ts';

/**
 * Every credential is put together while the test runs, from a repeatable drawing of letters, so that no scanner takes
 * this file for a leak and no value in it was ever anybody's.
 */
const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const DIGITS = '0123456789';
const HEX = `${DIGITS}abcdef`;
const ALNUM = LOWER.toUpperCase() + LOWER + DIGITS;
const URL64 = `${ALNUM}_-`;
const BASE64 = `${ALNUM}+/`;

let state = 20_261_103;
function draw(count: number, letters = ALNUM): string {
  let text = '';
  for (let i = 0; i < count; i++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    text += letters.charAt(Math.floor((state / 2 ** 32) * letters.length));
  }
  return text;
}

const b64 = (text: string): string => btoa(text);
const b64url = (text: string): string =>
  b64(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
const glue = (...parts: string[]): string => parts.join('');
const pem = (type: string, body = `\n${draw(64, BASE64)}\n`): string =>
  glue('-----BEGIN ', type, '-----', body, '-----END ', type, '-----');
const jwt = (header: object): string =>
  `${b64url(JSON.stringify(header))}.${b64url('{"sub":"1234"}')}.${draw(43, URL64)}`;

const TOKENS: readonly (readonly [kind: string, value: string])[] = [
  ['Lanternroom agent key', glue('wk_', 'test_', draw(38))],
  ['Lanternroom agent key', glue('wk_', 'live_', draw(38))],
  ['Lanternroom agent key', glue('wk_', 'live_', LOWER, LOWER)],
  ['GitLab token', glue('gl', 'pat-', LOWER)],
  ['Lanternroom person token', glue('lr', '_', draw(38))],
  ['Lanternroom caller token', glue('ct', '_', draw(38))],
  ['webhook signing secret', glue('wh', 'sec_', draw(43, BASE64), '=')],
  ['AWS access key id', glue('AK', 'IA', draw(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'))],
  ['AWS access key id', glue('AS', 'IA', draw(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'))],
  ['AWS access key id', glue('AK', 'IAIOSFODNN7', 'EXAMPLE')],
  ['Google API key', glue('AI', 'za', draw(35, ALNUM))],
  ['Google OAuth client secret', glue('GOC', 'SPX-', draw(28))],
  ['Google OAuth access token', glue('ya', '29.', draw(120, URL64), draw(1))],
  ['DigitalOcean token', glue('dop', '_v1_', draw(64, HEX))],
  ['Heroku API key', glue('HR', 'KU-AA', draw(58))],
  ['Cloudflare origin CA key', glue('v1', '.0-', draw(24, HEX), '-', draw(146, HEX))],
  ['Databricks token', glue('da', 'pi', draw(32, HEX))],
  ['Databricks token', glue('da', 'pi', draw(32, HEX), '-2')],
  ['Supabase token', glue('sb', 'p_', draw(40, HEX))],
  ['PlanetScale token', glue('pscale', '_tkn_', draw(43))],
  ...['p', 'o', 'u', 's', 'r'].map((letter) => ['GitHub token', glue('gh', letter, '_', draw(36))] as const),
  ['GitHub token', glue('gh', 'p_', DIGITS, LOWER)],
  ['GitHub fine-grained token', glue('github', '_pat_', draw(22), '_', draw(59))],
  ...['pat', 'dt', 'rt', 'cbt', 'ptt', 'ft'].map(
    (word) => ['GitLab token', glue('gl', word, '-', draw(20))] as const,
  ),
  ['Bitbucket app password', glue('AT', 'BB', draw(32))],
  ['Atlassian token', glue('ATA', 'TT3xFfG', 'F0', draw(180))],
  ['npm token', glue('np', 'm_', draw(36))],
  ['PyPI token', glue('py', 'pi-AgEI', draw(120))],
  ['RubyGems key', glue('ruby', 'gems_', draw(48, HEX))],
  ['Docker Hub token', glue('dckr', '_pat_', draw(27))],
  ['HashiCorp Vault token', glue('hv', 's.', draw(24))],
  ['Pulumi token', glue('pu', 'l-', draw(40, HEX))],
  ['Doppler token', glue('dp', '.pt.', draw(43))],
  ['Slack token', glue('xo', 'xb-', draw(11, DIGITS), '-', draw(12, DIGITS), '-', draw(24))],
  ['Slack token', glue('xo', 'xp-', draw(11, DIGITS), '-', draw(12, DIGITS), '-', draw(32, HEX))],
  ['Slack token', glue('xa', 'pp-1-', draw(11).toUpperCase(), '-', draw(13, DIGITS), '-', draw(64, HEX))],
  [
    'Slack webhook',
    glue(
      'https://hooks.',
      'slack.com/services/T',
      draw(8).toUpperCase(),
      '/B',
      draw(8).toUpperCase(),
      '/',
      draw(24),
    ),
  ],
  ['Discord webhook', glue('https://discord', '.com/api/webhooks/', draw(18, DIGITS), '/', draw(68))],
  ['Discord bot token', glue(b64url('192837465012345678'), '.', draw(6), '.', draw(38))],
  ['Telegram bot token', glue('110201543', ':AA', draw(33))],
  ['Twilio API key', glue('S', 'K', draw(32, HEX))],
  ['Twilio account with auth token', glue('A', 'C', draw(32, HEX), ':', draw(32, HEX))],
  ['SendGrid key', glue('S', 'G.', draw(22), '.', draw(43))],
  ['Stripe key', glue('sk_', 'live_', draw(24))],
  ['Stripe key', glue('rk_', 'live_', draw(99))],
  ['Stripe key', glue('sk_', 'test_', draw(24))],
  ['Square token', glue('sq0', 'atp-', draw(22))],
  ['Shopify token', glue('shp', 'at_', draw(32, HEX))],
  ['Anthropic key', glue('sk-', 'ant-api03-', draw(93, URL64), 'AA')],
  ['OpenAI key', glue('sk-', 'proj-', draw(74), 'T3Blbk', 'FJ', draw(74))],
  ['OpenRouter key', glue('sk-', 'or-v1-', draw(64, HEX))],
  ['API key in the sk- form', glue('sk', '-', draw(48))],
  ['API key in the sk- form', glue('sk', '-', draw(32, HEX))],
  ['Hugging Face token', glue('h', 'f_', draw(34))],
  ['Replicate token', glue('r', '8_', draw(37))],
  ['Groq key', glue('gs', 'k_', draw(52))],
  ['xAI key', glue('xa', 'i-', draw(80))],
  ['Perplexity key', glue('pp', 'lx-', draw(48))],
  ['Linear key', glue('lin', '_api_', draw(40))],
  ['Notion token', glue('nt', 'n_', draw(11, DIGITS), draw(35))],
  ['Figma token', glue('fig', 'd_', draw(40))],
  ['Postman key', glue('PM', 'AK-', draw(24, HEX), '-', draw(34, HEX))],
  ['New Relic key', glue('NR', 'AK-', draw(27).toUpperCase())],
  ['Grafana token', glue('gl', 'sa_', draw(32), '_', draw(8, HEX))],
  [
    'Grafana Cloud token',
    glue('gl', 'c_', b64('{"o":"12","n":"stack-1","k":"x1"}').replaceAll('=', ''), draw(20)),
  ],
  ['Sentry token', glue('sn', 'tryu_', draw(64, HEX))],
  ['Tailscale key', glue('ts', 'key-auth-', draw(12), '-', draw(32))],
  ['age secret key', glue('AGE-', 'SECRET-KEY-1', draw(58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L'))],
  ['JSON Web Token', jwt({ alg: 'HS256', typ: 'JWT' })],
  ['JSON Web Token', jwt({ typ: 'JWT', kid: 'k-1', alg: 'RS256' })],
  ['Azure client secret', glue(draw(3), '8', 'Q~', draw(34))],
];

describe('tokens by their own form', () => {
  test.each(TOKENS)('[W13] %s', (kind, value) => {
    const ways = [
      value,
      `{"x":"${value}"}`,
      `X=${value}\n`,
      `see ${value}, then`,
      `'${value}'.`,
      `密钥：${value}。`,
      `a\\"${value}\\"`,
    ];
    for (const text of ways) expect(findSecret({ text }, [])).toEqual({ path: '/details/text', kind });
  });

  test.each(TOKENS)('[W13] %s as the name of a key', (kind, value) => {
    expect(findSecret({ [value]: true }, [])).toEqual({ path: '/details/*', kind });
  });

  test('[W13] behind a written escape a token still begins', () => {
    const value = glue('gh', 'p_', draw(36));
    for (const text of [
      `line\\n${value}`,
      `?t%3D${value}`,
      `%20${value}`,
      `x_${value}`,
      `https://e.example/${value}/x`,
    ]) {
      expect(findSecret(text, [])?.kind).toBe('GitHub token');
    }
  });
});

const LABELLED: readonly (readonly [kind: string, text: string])[] = [
  ['AWS secret access key', glue('aws_secret_', 'access_key = ', draw(40, BASE64))],
  ['AWS secret access key', glue('export AWS_SECRET_', 'ACCESS_KEY="', draw(40, BASE64), '"')],
  ['AWS secret access key', glue('{\\"SecretAccess', 'Key\\": \\"', draw(40, BASE64), '\\"}')],
  ['AWS secret access key', glue('aws_secret_', 'access_key=wJalrXUtnFEMI/K7MDENG/', 'bPxRfiCYEXAMPLEKEY')],
  ['Azure account key', glue('AccountName=a;Account', 'Key=', draw(86, BASE64), '==;EndpointSuffix=core')],
  ['Azure account key', glue('SharedAccessKeyName=x;SharedAccess', 'Key=', draw(43, BASE64), '=')],
  [
    'Azure shared access signature',
    glue('https://a.blob.example/c?sv=2024-11-04&se=2026&sp=r&si', 'g=', draw(20), '%2B', draw(22), '%3D'),
  ],
  ['Twilio auth token', glue('TWILIO_AUTH', '_TOKEN=', draw(32, HEX))],
  ['Heroku API key', glue('HEROKU_API', '_KEY=', '01234567-89ab-cdef-', '0123-456789abcdef')],
  ['Cloudflare token', glue('CLOUDFLARE_API', '_TOKEN: ', draw(40))],
  ['Datadog key', glue('DD_API', '_KEY=', draw(32, HEX))],
  ['bearer token', glue('Authorization: Bear', 'er ', draw(40))],
  ['bearer token', glue("headers: { authorization: 'bear", 'er ', draw(32, HEX), "' }")],
  ['basic credentials', glue('Authorization: Bas', 'ic ', b64('robot:correct horse battery'))],
  ['PuTTY private key', glue('PuTTY-User-', 'Key-File-3: ssh-ed25519\nEncryption: none')],
  ['private key', pem('PRIVATE KEY')],
  ['RSA private key', pem('RSA PRIVATE KEY')],
  ['RSA private key', pem('RSA PRIVATE KEY', '\nProc-Type: 4,ENCRYPTED\n')],
  ['EC private key', pem('EC PRIVATE KEY', `\\n${draw(64, BASE64)}\\n`)],
  ['DSA private key', pem('DSA PRIVATE KEY', ` ${draw(64, BASE64)} `)],
  ['OPENSSH private key', pem('OPENSSH PRIVATE KEY', '\r\nb3BlbnNzaC1rZXktdjEA\r\n')],
  ['ENCRYPTED private key', pem('ENCRYPTED PRIVATE KEY')],
  ['PGP private key', pem('PGP PRIVATE KEY BLOCK', `\n\n${draw(64, BASE64)}\n`)],
  ['database URL with a password', glue('postgres://app:', 'hunter2', '@db.internal:5432/app')],
  ['database URL with a password', glue('postgresql+asyncpg://app:', 'p%40ss9', '@10.0.0.5/app')],
  ['database URL with a password', glue('mongodb+srv://root:', 'monkey', '@cluster0.mongodb.example')],
  ['database URL with a password', glue('redis://:', 's3cr3t', '@cache:6379/0')],
  ['database URL with a password', glue('DATABASE_URL="mysql://u:', 'a@b@c', '@h/db"')],
  ['URL with a password', glue('https://deploy:', 'Zt9!k', '@git.example/repo.git')],
  ['URL with a password', glue('ftp://me:', '1234', '@files.example')],
];

describe('credentials known by what stands beside them', () => {
  test.each(LABELLED)('[W13] %s, case %#', (kind, text) => {
    for (const whole of [text, `before\n${text}\nafter`])
      expect(findSecret(whole, [])).toEqual({ path: '/details', kind });
  });

  test('[W13] a key block may be cut off after its header, or be one short line', () => {
    const header = glue('-----BEGIN ', 'PRIVATE KEY-----');
    for (const text of [
      header,
      `see below\n${header}\n`,
      pem('PRIVATE KEY', '\nabc\n'),
      pem('PRIVATE KEY', draw(30, BASE64)),
    ]) {
      expect(findSecret(text, [])?.kind).toBe('private key');
    }
  });

  test('[W13] the answer never holds the value', () => {
    for (const [, value] of [...TOKENS, ...LABELLED]) {
      expect(JSON.stringify(findSecret({ [value]: value, x: [value] }, []))).not.toContain(value.slice(-12));
    }
  });
});
