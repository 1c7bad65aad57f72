const FILLER =
  /x{5}|0{12}|\*{3}|\.{3}|…|your|example|placeholder|redacted|replace|changeme|insert|(?:key|token|secret)_?here/i;
const FILLER_PASSWORD = /^(?:pass(?:word|wd)?|pwd?|secret|token|x+|\*+|\.+)$/i;
/** `DB_PASSWORD`, the name of a variable. Bounded, because two open ends around a word would be quadratic. */
const VARIABLE = /^[A-Z_]{0,40}(?:PASS|SECRET|TOKEN|KEY)[A-Z_]{0,40}$/;
const REFERENCE = /^(?:\$|\{|\[|%s|%\()/;

/** Not the stand-in that documentation writes where a secret would be. */
export function isReal(text: string): boolean {
  return !FILLER.test(text);
}

/** Real, and made of letters and digits: for forms in which hyphenated English would fit as well. */
export function isMixed(text: string): boolean {
  return /\d/.test(text) && /[A-Za-z]/.test(text) && isReal(text);
}

/** The same, or a run of letters as long as no word is behind such a beginning: an operator may set a key without a digit (W4). */
export function isToken(text: string): boolean {
  return isMixed(text) || (/[A-Za-z0-9]{20}/.test(text) && isReal(text));
}

/** Upper case, lower case and a digit: no hash in hex and no sentence. */
export function isManyCased(text: string): boolean {
  return /[A-Z]/.test(text) && /[a-z]/.test(text) && /\d/.test(text);
}

/** A password, and neither `${PASSWORD}` nor the word "password". */
export function isRealPassword(text: string): boolean {
  return ![REFERENCE, VARIABLE, FILLER_PASSWORD, FILLER].some((standIn) => standIn.test(text));
}

/** The first part of a JWT decodes to a JSON object that names its algorithm. */
export function isJwt(token: string): boolean {
  const header = decode(token.slice(0, token.indexOf('.')));
  return header !== null && /^\{.*"alg"\s*:\s*"/s.test(header);
}

/** `user:password` in base64. */
export function isBasic(text: string): boolean {
  const pair = decode(text);
  return pair !== null && /^[\x20-\x7e]+$/.test(pair) && pair.includes(':');
}

/** The user id that starts a Discord bot token is a decimal number in base64. */
export function isDiscord(token: string): boolean {
  return /^\d{15,20}$/.test(decode(token.slice(0, token.indexOf('.'))) ?? '');
}

/** 32 bytes in base64, percent-encoded or not: the signature of an Azure shared access link. */
export function isSasSignature(text: string): boolean {
  const plain = text.replace(/%2B/gi, '+').replace(/%2F/gi, '/').replace(/%3D/gi, '');
  return /^[A-Za-z0-9+/]{43}$/.test(plain) && isReal(plain);
}

function decode(base64: string): string | null {
  try {
    return atob(base64.replaceAll('-', '+').replaceAll('_', '/'));
  } catch {
    return null;
  }
}
