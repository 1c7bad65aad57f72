import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import type { SpaceId } from '../core/ids.ts';
import { makeCheckpoint, type SealedEnd, type Verdict, verifyLedger } from '../core/ledger/audit.ts';
import type { Checkpoint } from '../core/ledger/ledger.ts';
import type { Room } from '../core/room.ts';
import { headText, readSealedHead } from './heads.ts';
import type { Session } from './statement.ts';

export interface AuditorParts {
  room: Room;
  session: Session;
  /** Checkpoints are also kept here, outside the database: whoever cuts the ledger would have to find both. */
  file: string;
  macMatches(text: string, mac: string): boolean;
}

export class Auditor {
  readonly #parts: AuditorParts;
  /** In memory only: what was found before a restart says nothing about the files of today. */
  readonly #last = new Map<SpaceId, Verdict>();

  constructor(parts: AuditorParts) {
    this.#parts = parts;
  }

  async verify(space: SpaceId, progress?: (entries: number) => void): Promise<Verdict> {
    const ends = { head: () => this.#head(space), kept: this.#kept() };
    const verdict = await verifyLedger(this.#parts.room, space, ends, async (entries) => {
      progress?.(entries);
      await new Promise((resolve) => setImmediate(resolve));
    });
    this.#last.set(space, verdict);
    return verdict;
  }

  /** What the last verification found; null when there was none yet. */
  last(space: SpaceId): Verdict | null {
    return this.#last.get(space) ?? null;
  }

  async #head(space: SpaceId): Promise<SealedEnd> {
    const { session, macMatches } = this.#parts;
    const head = await readSealedHead(session, space, 'ledger');
    return { head, sealed: head !== null && macMatches(headText(space, 'ledger', head), head.seal) };
  }

  /** Signs the end of every ledger that has grown since its last checkpoint. */
  async checkpointAll(): Promise<void> {
    const { room, file } = this.#parts;
    for (const { id } of await room.store.directory.spaces()) {
      const made = await makeCheckpoint(room, id, room.clock.now());
      // The line break comes first: what a crash left behind half-written ends there, and spoils no other line.
      if (made !== null) appendFileSync(file, `\n${JSON.stringify(made)}`, { mode: 0o600 });
    }
  }

  #kept(): Checkpoint[] {
    const { file } = this.#parts;
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n');
    // A crash can leave half of the last line behind; the database has the same checkpoint.
    return lines.flatMap((line) => {
      try {
        const value: unknown = JSON.parse(line);
        return isCheckpoint(value) ? [value] : [];
      } catch {
        return [];
      }
    });
  }
}

function isCheckpoint(value: unknown): value is Checkpoint {
  if (typeof value !== 'object' || value === null) return false;
  const { space, seq, hash, at, signature } = value as Record<string, unknown>;
  const texts = [space, hash, signature].every((part) => typeof part === 'string');
  return texts && typeof seq === 'number' && typeof at === 'number';
}
