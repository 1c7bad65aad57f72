import { describe, expect, test } from 'vitest';
import { findSecret } from './secrets.ts';

const x = (count: number): string => 'x'.repeat(count);
const hex = (count: number): string => '9f2c1e7ab3d4c5e6f708192a3b4c5d6e'.repeat(5).slice(0, count);
const base64 = (count: number): string =>
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ+/8Qz4'.repeat(Math.ceil(count / 50)).slice(0, count);

const PROSE = [
  'Send the March invoices to 214 customers. All totals match the ledger; nothing is sent before you answer.',
  'Wir haben die Rechtsschutzversicherungsgesellschaften und das Donaudampfschifffahrtskapitänspatent geprüft.',
  'Vérifiez l’anticonstitutionnellement long paragraphe avant l’envoi, s’il vous plaît : « mot de passe » oublié.',
  'La contraseña caducó; el agente pidió otra clave, pero no la escribió aquí.',
  '请审核三月份的发票。所有总额与账本一致,密码不会写在这里。',
  '三月の請求書を確認してください。トークンは環境変数から読み込みます。',
  'يرجى مراجعة الفواتير قبل الإرسال، ولا تكتب كلمة المرور هنا.',
  'אנא בדקו את החשבוניות לפני השליחה. הסיסמה אינה כתובה כאן.',
  'Проверьте счета перед отправкой; секретный ключ хранится в хранилище.',
  'मार्च के चालान भेजने से पहले जाँच लें।',
  'Lütfen göndermeden önce kontrol edin: çekoslovakyalılaştıramadıklarımızdanmışsınız.',
  'The secret key to good bread is patience; the token gesture was a bearer of bad news; basic authentication is basic.',
  'Bearer tokens expire after 15 minutes. Bearer authentication/authorization is described in RFC 6750 section 2.1.',
  'Basic authentication-and-authorization middleware was replaced. Basic internationalization works.',
  'pneumonoultramicroscopicsilicovolcanoconiosis and floccinaucinihilipilification are words.',
  'A well-known, state-of-the-art, once-in-a-lifetime, not-to-be-missed, end-of-quarter offer.',
  'sk-learn, task-force-commander-in-chief, risk-adjusted-return-on-capital-2026, desk-side-support-level-2',
  'Call +49 (0)30 1234567-89 or +1-202-555-0143, or write to first.last+billing@mail.example.co.uk.',
  'IBAN DE89 3704 0044 0532 0130 00, ISBN 978-3-16-148410-0, order 2026-03-000123456789.',
  'Total: 184.223,50 € (VAT 19 %), due 2026-04-01T00:00:00.000000Z.',
];

const PLACEHOLDERS = [
  'Set WAKE_API_KEY to wk_live_… or wk_test_..., as shown on the desk.',
  'curl -H "Authorization: Bearer wk_live_a1b2c3d4e5f6..." https://example.com',
  'wk_live_a1b2c3d4e5f6g7h8i9j0..., sk-proj-a1b2c3d4e5f6g7h8i9j0k1l2…, sk_live_4eC39HqLyjWDarjtT1...',
  'whsec_x9y8z7... and whsec_… and whsec_<base64>',
  'sk-... , sk-proj-..., sk-ant-api03-..., sk-your-api-key-goes-right-here',
  'Authorization: Bearer YOUR_API_KEY',
  'Authorization: Bearer <token-from-the-console-page>',
  `Authorization: Bearer \${process.env.WAKE_API_KEY}`,
  'Authorization: Bearer $WAKE_API_KEY_FOR_PRODUCTION',
  'Authorization: Bearer {WAKE_API_KEY}',
  'Authorization: Bearer your-long-access-token-1234567890',
  'Authorization: Basic <base64 of user:password>',
  `ghp_${x(36)} and gho_${x(36).toUpperCase()}`,
  `AKIA${'X'.repeat(16)} and npm_${x(36)}`,
  `sk_live_${x(24)} or sk_test_YourTestKeyGoesHere123`,
  `xoxb-your-bot-token-goes-here, xoxb-not-a-real-token-this-will-not-work`,
  `https://hooks.slack.com/services/T00000000/B00000000/${'X'.repeat(24)}`,
  `glpat-${x(20)} and glpat-your_access_token_2026`,
  `hf_${x(34)} / AIza${x(35)} / r8_${x(37)}`,
  'ghp_****************************** (hidden), AKIA************WXYZ, sk-ant-***',
  'github_pat_REDACTED_REDACTED_REDACTED_REDACTED_1',
  'eyJhbGciOi... (a JWT, cut), eyJhbGciOiJIUzI1NiJ9.[payload].[signature]',
  'postgres://user:password@localhost:5432/db',
  'postgres://USER:DB_PASSWORD@HOST/NAME',
  `postgres://\${DB_USER}:\${DB_PASSWORD}@\${DB_HOST}/app`,
  'postgres://app:$PGPASSWORD@db/app and mysql://root:%s@%s/db',
  'mongodb+srv://<user>:<password>@cluster0.example.net',
  'redis://:****@cache:6379 and amqp://user:xxxxxxxx@mq',
  'https://username:your-token@github.com/org/repo.git',
  'AccountKey=<your-account-key>;EndpointSuffix=core.windows.net',
  'aws_secret_access_key = YOUR_SECRET_ACCESS_KEY',
  'A private key file starts with "-----BEGIN PRIVATE KEY-----" and ends with an END line.',
  'The file starts with -----BEGIN PRIVATE KEY-----\nand ends with -----END PRIVATE KEY-----, on lines of their own.',
  '-----BEGIN PRIVATE KEY----- and then a good many words follow on the same line without any stop',
  '```\n-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----\n```',
  '-----BEGIN OPENSSH PRIVATE KEY-----\n<paste here>\n-----END OPENSSH PRIVATE KEY-----',
];

const PUBLIC = [
  `-----BEGIN CERTIFICATE-----\n${base64(64)}\n${base64(64)}\n-----END CERTIFICATE-----`,
  `-----BEGIN PUBLIC KEY-----\n${base64(64)}\n-----END PUBLIC KEY-----`,
  `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${base64(64)}\n-----END PGP PUBLIC KEY BLOCK-----`,
  `-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nhello`,
  `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${base64(43)} me@laptop`,
  `ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ${base64(300)} deploy@host`,
  'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kudn57n8q8c4h0x',
  'pk_live_51H8xQ2eZvKYlo2C0aBcDeFgHiJkLmNoP is a publishable key',
  `AC${hex(32)} is an account, and PN${hex(32)} a number`,
];

const HASHES = [
  hex(40),
  hex(64),
  hex(128),
  `commit ${hex(40)}\nAuthor: A <a@b.example>`,
  `Merge ${hex(7)} into ${hex(12)}`,
  `sha256:${hex(64)}`,
  `docker://alpine:3.19@sha256:${hex(64)}`,
  `ghcr.io/org/app:1.2.3@sha256:${hex(64)}`,
  `sha512-${base64(86)}==`,
  `"integrity": "sha512-${base64(86)}=="`,
  `md5 d41d8cd98f00b204e9800998ecf8427e, etag W/"${hex(32)}"`,
  '550e8400-e29b-41d4-a716-446655440000',
  'urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8, {7c9e6679-7425-40de-944b-e07fc1f90ae7}',
  '01ARZ3NDEKTSV4RRFFQ69G5FAV (a ULID), ckopqwooh000001la8mbi2im9 (a cuid), V1StGXR8_Z5jdHi6B-myT (a nanoid)',
  'arn:aws:iam::123456789012:role/service-role/AWSLambdaBasicExecutionRole-AROAEXAMPLEID1234',
  'projects/my-project-123456/locations/europe-west1/keyRings/main/cryptoKeys/app/cryptoKeyVersions/1',
  '/subscriptions/550e8400-e29b-41d4-a716-446655440000/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/a',
  'cus_NffrFeUfNV2Hib, pi_3MtwBwLkdIwHu7ix28a3tqPa, evt_1NG8Du2eZvKYlo2CUI79vXWy, in_1MtHbELkdIwHu7ixl4OzzPMv',
  'C024BE91L, U012A3CDE, T0123ABCD/B0123ABCD, 1234567890.123456',
  '0x71C7656EC7ab88b098defB751B7401B5f6d8976F and bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  'trace 4bf92f3577b34da6a3ce929d0e0e4736 span 00f067aa0ba902b7, traceparent 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  `secret_key_fingerprint: ${hex(40)}`,
  `public_key: ${base64(43)}=`,
  `idempotency_key: ${hex(32)}, dedupe_key: invoices-2026-03-for-all-customers`,
  `cache key: ${hex(40)}; sort key: user#2026-03-01T00:00:00Z#${hex(12)}`,
];

const BASE64 = [
  `data:image/png;base64,${base64(20_000)}`,
  `![logo](data:image/svg+xml;base64,${base64(5_000)}==)`,
  base64(100_000),
  `${base64(76)}\r\n${base64(76)}\r\n${base64(40)}==`,
  'SGVsbG8sIHdvcmxkISBUaGlzIGlzIG9ubHkgdGV4dC4=',
  `d09GMgABAAAAA${base64(2_000)}`,
  '{"alg":"none"} is eyJhbGciOiJub25lIn0 in base64url',
  'eyJmb28iOiJiYXIifQ.eyJmb28iOiJiYXIifQ.c2lnbmF0dXJl has no algorithm',
];

const URLS = [
  'https://example.com/a/b?c=d&e=f#g',
  'https://example.com:8443/@user/post?mail=a@b.example',
  'http://localhost:5173/@vite/client, http://[::1]:8787/@id/x',
  'https://medium.com/@someone/a-very-long-title-with-many-words-1a2b3c4d5e6f',
  'ssh://git@github.com:22/org/repo.git and git@github.com:org/repo.git',
  'postgres://app@db.internal/app, mongodb://db1:27017,db2:27017/app, redis://cache:6379',
  'file:///home/me/project/node_modules/.pnpm/@scope+pkg@1.2.3/index.js:12:34',
  'https://github.com/org/repo/commit/9f2c1e7ab3d4c5e6f708192a3b4c5d6e7f809112#diff-0123456789abcdef',
  'https://www.google.com/search?q=how+to+rotate+an+aws+secret+access+key&sourceid=chrome&ie=UTF-8',
  'https://ja.wikipedia.org/wiki/%E3%83%91%E3%82%B9%E3%83%AF%E3%83%BC%E3%83%89%E3%81%AE%E5%BC%B7%E5%BA%A6',
  'https://api.slack.com/messaging/webhooks and https://hooks.slack.com/services/',
  'https://discord.com/api/webhooks/ID/TOKEN',
  'https://cdn.example/video.m3u8?sig=short&expires=1767225600',
  's3://bucket/path/to/AKIA-report-2026.csv and gs://bucket/service_account/list.txt',
  'jdbc:postgresql://db.internal:5432/app?ssl=true',
  'mailto:a@b.example?subject=token:%20please',
  'see :// and a://b and ://:@ and http://@host and http://user:@host/',
];

const CODE = [
  'const key = process.env.OPENAI_API_KEY ?? "";\nif (!key.startsWith("sk-")) throw new Error("OPENAI_API_KEY must start with sk-");',
  'token = os.environ["GITHUB_TOKEN"]\nheaders = {"Authorization": f"Bearer {token}"}',
  `headers: { Authorization: \`Bearer \${await getAccessToken2(tenantId1)}\` }`,
  'aws_secret_access_key=os.getenv("AWS_SECRET_ACCESS_KEY"), aws_access_key_id=os.getenv("AWS_ACCESS_KEY_ID")',
  'secretAccessKey: config.get("aws.credentials.secretAccessKeyForProduction")',
  'const GITHUB = /\\bgh[pousr]_[A-Za-z0-9]{36}\\b/; const AWS = /AKIA[0-9A-Z]{16}/;',
  'if (pem.includes("-----BEGIN RSA PRIVATE KEY-----")) return "rsa";',
  'lr_scheduler_cosine_annealing_warm_restarts_v2, ct_image_reconstruction_2026, hf_model_name_or_path, npm_config_registry',
  'npm_package_dependencies_typescript, r8_optimizer_configuration_file, gsk_renderer_new_for_surface',
  'export AWS_PROFILE=prod; aws sts assume-role --role-arn arn:aws:iam::123456789012:role/x',
  'kubectl create secret generic app --from-literal=token="$TOKEN"',
  'SELECT api_key_id, last_four FROM keys WHERE digest = $1 AND revoked_at IS NULL;',
  '<input type="password" name="password" autocomplete="current-password" placeholder="your password">',
  '.sk-circle-fade-dot:nth-child(12):before{animation-delay:-.1s}.sk-chase-dot{width:100%}',
  "import { DiscordGatewayAdapterCreator } from '@discordjs/voice'; // MTIzNDU2",
  'public class AbstractSingletonProxyFactoryBeanTokenSecretKeyProvider2 extends Base {}',
  `secrets: inherit\nwith:\n  token: \${{ secrets.GITHUB_TOKEN }}`,
  `git clone https://x-access-token:\${GITHUB_TOKEN}@github.com/org/repo.git`,
  'password_hash = "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b27Lq"',
  'function isKey(text) { return /^wk_(test|live)_[0-9A-Za-z]{32,}$/.test(text); }',
  'data: { id: "chatcmpl-9f2c1e7ab3d4c5e6f708192a3b4c5d6e", model: "gpt-x-2026-01-01" }',
  'msg_01XFDUDYJgAACzvnptvVoYEL toolu_01A09q90qw90lq917835lq9 req_011CSHoEeqs5C35K2UUqR7Fy',
  'bearer: packages/server/src/v2/handlers/bearer-2.ts',
];

const LOGS = [
  '2026-03-01T10:00:00.000Z INFO request 550e8400-e29b-41d4-a716-446655440000 GET https://api.example/v1/items/42 200 12ms',
  'Mar  1 10:00:00 host sshd[1234]: Accepted publickey for me from 203.0.113.7 port 50022 ssh2: ED25519 SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8',
  '10.0.0.1 - - [01/Mar/2026:10:00:00 +0000] "POST /wake/v1/deliver HTTP/1.1" 201 94 "-" "curl/8.5.0"',
  'Error: connect ECONNREFUSED 127.0.0.1:5432\n    at TCPConnectWrap.afterConnect [as oncomplete] (node:net:1555:16)',
  'npm warn deprecated inflight@1.0.6: This module is not supported\nadded 412 packages in 9s',
  '+ export const LIMIT = 64;\n- export const LIMIT = 32;\n@@ -12,7 +12,7 @@ index 9f2c1e7..ab3d4c5 100644',
  '[################----] 80% 1.2GiB/1.5GiB eta 00:12 ====================>',
  '| name | value |\n|------|-------|\n| total | 184223.50 |\n\n---\n\n**Done** ~~not~~ `code`',
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA and 1234567890:AAAA',
  'GET /health 200; token=ok; key: value; secret = none; sig=0',
];

const CORPUS = { PROSE, PLACEHOLDERS, PUBLIC, HASHES, BASE64, URLS, CODE, LOGS };

describe.each(Object.entries(CORPUS))('%s', (_, texts) => {
  test.each(texts.map((text) => [text.slice(0, 60), text] as const))(
    '[W13] %j is no credential',
    (_, text) => {
      expect(findSecret(text, [])).toBeNull();
      expect(findSecret({ note: `${text}\n`, [text]: [text] }, [])).toBeNull();
    },
  );
});

test('[W13] the corpus holds at least 120 harmless texts, and they stay harmless side by side', () => {
  const all = Object.values(CORPUS).flat();
  expect(all.length).toBeGreaterThanOrEqual(120);
  expect(findSecret(all.join('\n\n'), [])).toBeNull();
});

test('[W13] ordinary labels do not make a secret of an ordinary value', () => {
  const details = {
    secret: hex(40),
    token: '550e8400-e29b-41d4-a716-446655440000',
    key: 'a-slug-with-many-words-in-it-2026',
    sig: hex(64),
  };
  expect(
    findSecret(
      {
        ...details,
        secret_key: hex(40),
        bearer: false,
        env: [{ name: 'PATH', value: '/usr/local/bin:/usr/bin' }],
      },
      [],
    ),
  ).toBeNull();
});
