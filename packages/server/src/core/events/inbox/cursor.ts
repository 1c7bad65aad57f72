import { Fault } from '../../faults.ts';
import type { AgentId, SpaceId } from '../../ids.ts';
import type { Room } from '../../room.ts';

/** Whose inbox is read. */
export type Reader = { space: SpaceId; agent: AgentId };

export type CursorKind = 'events' | 'resumes';

const MAC_LENGTH = 16;

function cursorMac(room: Room, kind: CursorKind, { space, agent }: Reader, offset: number): string {
  return room.vault
    .mac(`cursor\n${kind}\n${space}\n${agent}\n${offset}`)
    .replace(/[^A-Za-z0-9]/g, '')
    .slice(0, MAC_LENGTH);
}

/** A place in an inbox: opaque, signed, and worth nothing in any other inbox (K11). */
export function toCursor(room: Room, kind: CursorKind, reader: Reader, offset: number): string {
  return `${offset.toString(36)}-${cursorMac(room, kind, reader, offset)}`;
}

/** The offset that a cursor stands for; a fault when it is corrupt or somebody else's. */
export function fromCursor(room: Room, kind: CursorKind, reader: Reader, cursor: string): number | Fault {
  const m = /^([0-9a-z]{1,11})-([A-Za-z0-9]{1,32})$/.exec(cursor);
  const offset = m === null ? Number.NaN : Number.parseInt(m[1] ?? '', 36);
  const plain = Number.isSafeInteger(offset) && offset.toString(36) === m?.[1];
  if (plain && cursorMac(room, kind, reader, offset) === m?.[2]) return offset;
  return new Fault('invalid_field', 'This cursor does not belong to this inbox.', { field: 'cursor' });
}

/**
 * What followed the cursor was removed, or the cursor is ahead of everything: both are reported with a place to
 * continue from (K17).
 */
export function expired(room: Room, kind: CursorKind, reader: Reader, oldest: number): Fault {
  const message = 'What followed this cursor is no longer kept. Continue from oldest_cursor.';
  return new Fault('cursor_expired', message, {
    extra: { oldest_cursor: toCursor(room, kind, reader, oldest) },
  });
}
