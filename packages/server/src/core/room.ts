import type { Tier } from './agents/key.ts';
import type { Ids } from './ids.ts';
import type { Intake } from './intake.ts';
import { GENESIS, type LedgerEntry, lineHash } from './ledger/ledger.ts';
import type { Rate } from './rate.ts';
import type { Head, Store, Tx } from './store.ts';
import type { LogMemory } from './tasks/log/log-memory.ts';
import type { Clock, Micros } from './time.ts';

/** Everything that needs a key or a digest, as the core wants it. */
export interface Vault {
  sha256(text: string | Uint8Array): string;
  /** RFC 8785 canonical form. */
  canonical(value: unknown): string;
  seal(plain: string | Uint8Array, identity: string): Uint8Array;
  open(sealed: Uint8Array, identity: string): Uint8Array;
  /** A keyed hash that only this server can make, base64. */
  mac(text: string): string;
  /** Ed25519 over the text, base64. */
  sign(text: string): string;
  verify(text: string, signature: string): boolean;
  /** A keyed hash of a word of this space: the index can be searched and reveals nothing. */
  wordKey(space: string, word: string): string;
}

export type CoreSettings = {
  undoWindow: Micros;
  rates: Record<Tier, Rate>;
};

/** Everything a rule may reach for, handed in. */
export interface Room {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly vault: Vault;
  readonly settings: CoreSettings;
  /** Without it, every unit is written by the thread that took it in. */
  readonly intake?: Intake;
  /** Without it, every log is read from the store. */
  readonly logs?: LogMemory;
}

/** The place that the next line of the ledger gets. Needs the head `ledger`. */
export async function nextPlace(tx: Tx): Promise<number> {
  return placeAfter(await tx.heads.get('ledger'));
}

function placeAfter(head: Head | null): number {
  return (head?.n ?? 0) + 1;
}

/** Writes one line of the ledger and returns its place. Needs the head `ledger`. */
export async function record(room: Room, tx: Tx, at: Micros, entry: LedgerEntry): Promise<number> {
  const head = await tx.heads.get('ledger');
  const seq = placeAfter(head);
  const line = {
    seq,
    at,
    actor: entry.actor,
    action: entry.action,
    subject: entry.subject,
    data: JSON.stringify(entry.data),
  };
  const hash = lineHash(room.vault.sha256, head?.text ?? GENESIS, line);
  await tx.ledger.insert({ space: tx.space, ...line, hash });
  tx.heads.set('ledger', { n: seq, at, text: hash });
  return seq;
}

/**
 * The next change stamp of an agent: unique and increasing, whatever the clock does (W19). The head row is locked
 * for the transaction, so no smaller stamp can become visible after a larger one.
 */
export async function stamp(room: Room, tx: Tx, agent: string, text = ''): Promise<Micros> {
  const head = await tx.heads.get(`agent:${agent}`);
  const at = Math.max(room.clock.now(), (head?.n ?? 0) + 1);
  tx.heads.set(`agent:${agent}`, { n: at, at, text });
  return at;
}
