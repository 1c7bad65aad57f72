import type { SpaceId } from '../ids.ts';
import type { Micros } from '../time.ts';

/** What changed, by whom. `data` is JSON text: hashes and ids, never content. */
export type LedgerEntry = { actor: string; action: string; subject: string; data: Record<string, unknown> };

export type LedgerLine = {
  space: SpaceId;
  seq: number;
  at: Micros;
  actor: string;
  action: string;
  subject: string;
  data: string;
  hash: string;
};

export type Checkpoint = { space: SpaceId; seq: number; hash: string; at: Micros; signature: string };

/** What the first line of every ledger says. */
export const SPACE_ADDED = 'space.added';

/** The hash in front of the first line. */
export const GENESIS = '0'.repeat(64);

type Sha256 = (text: string) => string;

/** Each line's hash covers its place, its words and the hash before it. */
export function lineHash(sha256: Sha256, before: string, line: Omit<LedgerLine, 'space' | 'hash'>): string {
  return sha256(
    `${before}\n${JSON.stringify([line.seq, line.at, line.actor, line.action, line.subject, line.data])}`,
  );
}

/** What a checkpoint's signature covers. */
export function checkpointText(c: Omit<Checkpoint, 'signature'>): string {
  return `lanternroom checkpoint\n${c.space}\n${c.seq}\n${c.hash}\n${c.at}`;
}

export type ChainFault = { seq: number; problem: string };

/** Follows the chain line by line; `next` returns what is wrong with a line, or null. */
export class ChainReader {
  seq = 0;
  hash = GENESIS;
  readonly #sha256: Sha256;

  constructor(sha256: Sha256) {
    this.#sha256 = sha256;
  }

  next(line: LedgerLine): ChainFault | null {
    const expected = this.seq + 1;
    if (line.seq !== expected) {
      return { seq: expected, problem: `line ${expected} is missing (found ${line.seq} in its place)` };
    }
    const hash = lineHash(this.#sha256, this.hash, line);
    if (hash !== line.hash) {
      return { seq: line.seq, problem: `line ${line.seq} is not what was written: its hash does not match` };
    }
    this.seq = line.seq;
    this.hash = hash;
    return null;
  }
}
