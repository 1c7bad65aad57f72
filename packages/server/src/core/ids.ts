import type { Micros } from './time.ts';

/** Branded ids: a delivery id cannot be passed where an agent id is wanted. */
type Brand<T, Name extends string> = T & { readonly __brand?: Name };

export type SpaceId = Brand<string, 'space'>;
export type PersonId = Brand<string, 'person'>;
export type AgentId = Brand<string, 'agent'>;
export type KeyId = Brand<string, 'key'>;
export type DeliveryId = Brand<string, 'delivery'>;
export type JobId = Brand<string, 'job'>;

/** Everything random comes from here, so that tests can make a repeatable world. */
export interface Ids {
  /** UUID v4 from a cryptographic source (W6). */
  uuid(): string;
  /** UUID v7, with 74 random bits after the time: ids that are made together lie together in an index. */
  timed(at: Micros): string;
  /** Letters and digits only, about 5.95 bits each. */
  letters(count: number): string;
  /** Standard base64 of `bytes` random bytes. */
  base64(bytes: number): string;
  /** A number in [0, 1), for jitter only. */
  fraction(): number;
}

const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export function isUuid(text: string): boolean {
  return UUID_V4.test(text);
}

/** Accepts capitals, because some clients write UUIDs that way; ours are in small letters. Null for anything else. */
export function toUuid(text: string): string | null {
  const small = text.toLowerCase();
  return isUuid(small) ? small : null;
}
