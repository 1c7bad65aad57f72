import type { Room } from '../../room.ts';
import type { Decision } from '../decision/decision.ts';
import type { Content, Delivery } from '../delivery.ts';

/**
 * Sealed records are bound to the row they belong to: moved to another row, they do not open.
 */
export function bodyIdentity(d: Pick<Delivery, 'space' | 'id'>): string {
  return `delivery:${d.space}:${d.id}`;
}

export function responseIdentity(d: Pick<Delivery, 'space' | 'id'>): string {
  return `response:${d.space}:${d.id}`;
}

export function answerIdentity(d: Pick<Decision, 'space' | 'seq'>): string {
  return `answer:${d.space}:${d.seq}`;
}

const decoder = new TextDecoder();

export function openText(room: Pick<Room, 'vault'>, sealed: Uint8Array, identity: string): string {
  return decoder.decode(room.vault.open(sealed, identity));
}

export function openContent(
  room: Pick<Room, 'vault'>,
  sealed: Uint8Array,
  d: Pick<Delivery, 'space' | 'id'>,
): Content {
  return JSON.parse(openText(room, sealed, bodyIdentity(d))) as Content;
}
