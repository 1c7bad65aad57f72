import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { isAway } from '../core/faults.ts';
import type { SpaceId } from '../core/ids.ts';
import { makeCheckpoint, type SealedEnd, type Verdict, verifyLedger } from '../core/ledger/audit.ts';
import { type Checkpoint, checkpointText } from '../core/ledger/ledger.ts';
import type { Room } from '../core/room.ts';
import { replaceFile } from './folder/folder.ts';
import { headText, readSealedHead } from './heads.ts';
import type { Session } from './statement.ts';
import type { MasterVault } from './vault.ts';

export interface AuditorParts {
  room: Room;
  session: Session;
  /**
   * Checkpoints are also written here, outside the database: somebody who truncates the ledger would have to find
   * both.
   */
  file: string;
  vault: Pick<MasterVault, 'headMatches' | 'isSignatureCurrent'>;
}

const SIGNED_AT_ONCE = 20;

export class Auditor {
  readonly #parts: AuditorParts;
  /** In memory only: a finding from before a restart says nothing about the files of today. */
  readonly #last = new Map<SpaceId, Verdict>();
  readonly #underWay = new Map<SpaceId, Promise<Verdict>>();

  constructor(parts: AuditorParts) {
    this.#parts = parts;
  }

  /**
   * Callers who ask while the same ledger is being verified share that verdict: verifying takes time in proportion to
   * the ledger's length.
   */
  verify(space: SpaceId, progress?: (entries: number) => void): Promise<Verdict> {
    const underWay = this.#underWay.get(space);
    if (underWay !== undefined) return underWay;
    const verdict = this.#follow(space, progress).finally(() => this.#underWay.delete(space));
    this.#underWay.set(space, verdict);
    return verdict;
  }

  async #follow(space: SpaceId, progress?: (entries: number) => void): Promise<Verdict> {
    const ends = { head: () => this.#head(space), kept: this.#kept() };
    const verdict = await verifyLedger(this.#parts.room, space, ends, async (entries) => {
      progress?.(entries);
      await nextTurn();
    });
    this.#last.set(space, verdict);
    return verdict;
  }

  /** What the last verification found; null when there was none yet. */
  last(space: SpaceId): Verdict | null {
    return this.#last.get(space) ?? null;
  }

  async #head(space: SpaceId): Promise<SealedEnd> {
    const { session, vault } = this.#parts;
    const head = await readSealedHead(session, space, 'ledger');
    return { head, sealed: head !== null && vault.headMatches(headText(space, 'ledger', head), head.seal) };
  }

  /** All spaces, and those that have signed checkpoints but are missing: we never remove a space. */
  async spaces(): Promise<{ id: SpaceId; handle: string }[]> {
    const { room } = this.#parts;
    const found = await room.store.directory.spaces();
    const there = new Set(found.map(({ id }) => id));
    const missing = this.#kept().filter((c) => !there.has(c.space));
    const signed = missing.filter((c) => room.vault.verify(checkpointText(c), c.signature));
    const gone = [...new Set(signed.map(({ space }) => space))];
    return [...found, ...gone.map((id) => ({ id, handle: id }))];
  }

  /** Signs the end of every ledger that has grown since its last checkpoint. A failure stops none of the others. */
  async checkpointAll(): Promise<void> {
    const troubles: unknown[] = [];
    for (const { id } of await this.#parts.room.store.directory.spaces()) {
      await this.#checkpoint(id).catch((reason: unknown) => troubles.push(reason));
      if (troubles.some(isAway)) break;
    }
    if (troubles.length > 0) throw troubles[0];
  }

  async #checkpoint(space: SpaceId): Promise<void> {
    const { room, file } = this.#parts;
    const made = await makeCheckpoint(room, space, room.clock.now());
    // The line break comes first: it ends a line that a crash left half-written, so that it spoils no other.
    if (made !== null) appendFileSync(file, `\n${JSON.stringify(made)}`, { mode: 0o600 });
  }

  /**
   * Signs anew, with the current key, what an earlier key has signed. A signature that matches no key stays, and is
   * reported.
   */
  async signAnew(): Promise<void> {
    const { room, file } = this.#parts;
    const anew = new Map<string, string>();
    for (const { id } of await room.store.directory.spaces()) await this.#signStored(id, anew);
    if (!existsSync(file)) return;
    const before = readFileSync(file, 'utf8');
    const text = await this.#linesAnew(before, anew);
    // Checkpoints that were added meanwhile carry the current key's signature.
    replaceFile(file, text + readFileSync(file, 'utf8').slice(before.length));
  }

  /** Whether an earlier key has signed what is in the file. All of it is renewed at once, so the first one tells. */
  isFileOlder(): boolean {
    const [first] = this.#kept();
    return first !== undefined && this.#isOlder(first);
  }

  /** A few at a time, each in its own commit: a year has half a million, and everybody else would wait. */
  async #signStored(space: SpaceId, anew: Map<string, string>): Promise<void> {
    const { room } = this.#parts;
    const stored = await room.store.read(space, (tx) => tx.ledger.checkpoints());
    for (let at = 0; at < stored.length; at += SIGNED_AT_ONCE) {
      const older = stored.slice(at, at + SIGNED_AT_ONCE).filter((c) => this.#isOlder(c));
      for (const c of older) anew.set(c.signature, room.vault.sign(checkpointText(c)));
      if (older.length > 0)
        await room.store.write(space, [], async (tx) => {
          for (const { seq, signature } of older)
            await tx.ledger.setSignature(seq, anew.get(signature) ?? signature);
        });
      await nextTurn();
    }
  }

  /**
   * A few at a time as well: another replica, or a try that was interrupted, may have renewed all of them in the
   * database before.
   */
  async #linesAnew(text: string, known: ReadonlyMap<string, string>): Promise<string> {
    const lines = text.split('\n');
    for (const [at, line] of lines.entries()) {
      lines[at] = this.#lineAnew(line, known);
      if ((at + 1) % SIGNED_AT_ONCE === 0) await nextTurn();
    }
    return lines.join('\n');
  }

  /** The new signatures of those that the database had as well are known. */
  #lineAnew(line: string, known: ReadonlyMap<string, string>): string {
    const kept = toCheckpoint(line);
    if (kept === null) return line;
    const signature = known.get(kept.signature);
    if (signature !== undefined) return JSON.stringify({ ...kept, signature });
    if (!this.#isOlder(kept)) return line;
    return JSON.stringify({ ...kept, signature: this.#parts.room.vault.sign(checkpointText(kept)) });
  }

  #isOlder(checkpoint: Checkpoint): boolean {
    const { room, vault } = this.#parts;
    const text = checkpointText(checkpoint);
    return (
      !vault.isSignatureCurrent(text, checkpoint.signature) && room.vault.verify(text, checkpoint.signature)
    );
  }

  #kept(): Checkpoint[] {
    const { file } = this.#parts;
    if (!existsSync(file)) return [];
    const lines = readFileSync(file, 'utf8').split('\n');
    // A crash can leave half of the last line; the database has the same checkpoint.
    return lines.flatMap((line) => toCheckpoint(line) ?? []);
  }
}

function toCheckpoint(line: string): Checkpoint | null {
  try {
    const value: unknown = JSON.parse(line);
    return isCheckpoint(value) ? value : null;
  } catch {
    return null;
  }
}

function isCheckpoint(value: unknown): value is Checkpoint {
  if (typeof value !== 'object' || value === null) return false;
  const { space, seq, hash, at, signature } = value as Record<string, unknown>;
  const texts = [space, hash, signature].every((part) => typeof part === 'string');
  return texts && typeof seq === 'number' && typeof at === 'number';
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
