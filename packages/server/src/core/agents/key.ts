import type { AgentId, Ids, KeyId, SpaceId } from '../ids.ts';
import type { Micros } from '../time.ts';

export type Tier = 'test' | 'live';

/** A key at rest: never the key itself (W4). */
export type KeyRecord = {
  space: SpaceId;
  id: KeyId;
  agent: AgentId;
  tier: Tier;
  lastFour: string;
  digest: string;
  createdAt: Micros;
  expiresAt: Micros | null;
  revokedAt: Micros | null;
};

/** Who is calling, as the key says: never the body (W3). */
export type Identity = {
  key: KeyRecord;
  /** A person has already met this agent on the desk. */
  accepted: boolean;
  callbacks: readonly string[];
};

const BODY_LENGTH = 32; // 32 of 62 letters: 190 random bits
const CHECK_LENGTH = 6;
const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY = /^wk_(test|live)_([0-9A-Za-z]{32,})$/;

/** CRC-32 as six base-62 letters: tells a typo from an unknown key, and lets secret scanners be sure. */
export function keyChecksum(text: string): string {
  let crc = 0xffffffff;
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let letters = '';
  for (let i = 0; i < CHECK_LENGTH; i++) {
    letters = LETTERS.charAt(rest % 62) + letters;
    rest = Math.floor(rest / 62);
  }
  return letters;
}

export function makeKey(tier: Tier, ids: Ids): string {
  const body = `wk_${tier}_${ids.letters(BODY_LENGTH)}`;
  return body + keyChecksum(body);
}

/** The tier of a well-formed key; null when the text is no key at all. INIT keys need no checksum (W4). */
export function tierOf(key: string): Tier | null {
  const m = KEY.exec(key);
  return m === null ? null : (m[1] as Tier);
}

/** True when the key looks like one of ours but its checksum fails: most likely a typo or a cut-off copy. */
export function looksMistyped(key: string): boolean {
  const m = KEY.exec(key);
  if (m === null) return /^wk_(test|live)_/.test(key);
  const cut = key.length - CHECK_LENGTH;
  return (
    (m[2] ?? '').length === BODY_LENGTH + CHECK_LENGTH && keyChecksum(key.slice(0, cut)) !== key.slice(cut)
  );
}

export function isActive(key: Pick<KeyRecord, 'revokedAt' | 'expiresAt'>, now: Micros): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
}
