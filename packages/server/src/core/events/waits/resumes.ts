import type { Fault } from '../../faults.ts';
import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { expired, type Reader } from '../inbox/cursor.ts';
import type { Resume } from './wait.ts';

export type ReadResumes = { resumes: Resume[]; hasMore: boolean; after: number };

/** The agent's wake-ups after a place, or from the oldest that is kept (K21). They leave with their events. */
export function readResumes(
  room: Room,
  reader: Reader,
  after: number | null,
  limit: number,
): Promise<ReadResumes | Fault> {
  return room.store.read(reader.space, async (tx) => {
    // The end is read first: whatever it counts is visible to the read that follows, unless it was removed.
    const last = await lastResume(tx, reader);
    const rows = await tx.waits.resumes(reader.agent, after ?? 0, limit + 1);
    const resumes = rows.slice(0, limit);
    const next = resumes[0]?.offset ?? last + 1;
    if (after !== null && after !== next - 1) return expired(room, 'resumes', reader, next - 1);
    return { resumes, hasMore: rows.length > limit, after: resumes.at(-1)?.offset ?? next - 1 };
  });
}

async function lastResume(tx: Tx, { agent }: Reader): Promise<number> {
  return (await tx.heads.get(`resumes:${agent}`))?.n ?? 0;
}

/**
 * Where a live reader that stands at an entry starts reading resumes. Each resume is sent just before its event
 * (K21).
 */
export function resumesBehind(room: Room, reader: Reader, entryOffset: number): Promise<number> {
  return room.store.read(reader.space, async (tx) => {
    // The end is read first: a resume that arrives between the two reads is then sent, and not skipped.
    const last = await lastResume(tx, reader);
    const first = await tx.waits.firstResumeFrom(reader.agent, entryOffset + 1);
    return first === null ? last : first - 1;
  });
}
