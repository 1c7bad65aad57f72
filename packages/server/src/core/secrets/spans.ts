import { isRealPassword } from './proofs.ts';

/** Credentials that are more than one word: key blocks and addresses with a password. */

const BLOCK_START = '-----BEGIN ';
const BLOCK = /-----BEGIN ((?:RSA |EC |DSA |OPENSSH |ENCRYPTED |PGP |ANY )?)PRIVATE KEY(?: BLOCK)?-----/y;
const WRITTEN_BREAK = /\\{1,4}[rn]/g;
/** What follows the header of a key: base64 on the next line, much of it on the same one, or one line and the end. */
const KEY_BODY = [
  /^[ \t]{0,8}[\r\n]\s*(?=.{0,3}[A-Z0-9+/])[A-Za-z0-9+/]{3}/,
  /^ ?[A-Za-z0-9+/]{16}/,
  /^\s*[A-Za-z0-9+/=]+\s*-----END/,
];
const BLOCK_LOOK = 160;

const DATABASES =
  /(?:postgres|postgresql|mysql2?|mariadb|mongodb|rediss?|valkey|amqps?|mssql|sqlserver|clickhouse|cockroachdb|oracle|nats)(?:\+\w{2,12})?$/i;
const LONGEST_SCHEME = 24;
/** Neither side can run past a slash, so the next address starts where this one ends: linear over the whole text. */
const USERINFO = /:\/\/[^\s/?#:@"'<>\\]*:([^\s/?#"'<>\\]+)@(?=[A-Za-z0-9[])(?!sha256:)/y;

/** A PEM or PGP private key; a mention of the header in prose or in code is none. */
export function keyBlockIn(text: string, label: string): string | null {
  for (let at = text.indexOf(BLOCK_START); at >= 0; at = text.indexOf(BLOCK_START, at + 1)) {
    BLOCK.lastIndex = at;
    const found = BLOCK.exec(text);
    if (found !== null && holdsKey(text, at, BLOCK.lastIndex)) return blockKind(found[1] ?? '', text, label);
  }
  return null;
}

function holdsKey(text: string, start: number, end: number): boolean {
  const after = text.slice(end, end + BLOCK_LOOK).replace(WRITTEN_BREAK, '\n');
  // A text that is nothing but the header is a key that was cut off.
  if (after.trim() === '') return start === 0 || text.charAt(start - 1) === '\n';
  return KEY_BODY.some((body) => body.test(after));
}

function blockKind(type: string, text: string, label: string): string {
  if (label === 'service_account' || text.includes('"service_account"')) return 'Google service account key';
  return type === '' ? 'private key' : `${type.trim()} private key`;
}

export function urlPasswordIn(text: string): string | null {
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    USERINFO.lastIndex = at;
    const password = USERINFO.exec(text)?.[1];
    if (password !== undefined && isRealPassword(password)) {
      const scheme = text.slice(Math.max(0, at - LONGEST_SCHEME), at);
      return DATABASES.test(scheme) ? 'database URL with a password' : 'URL with a password';
    }
  }
  return null;
}
