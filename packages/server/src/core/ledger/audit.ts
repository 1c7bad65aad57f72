import { counted } from '../counted.ts';
import type { SpaceId } from '../ids.ts';
import type { Room } from '../room.ts';
import type { Head } from '../store.ts';
import { type Micros, toIso } from '../time.ts';
import {
  type ChainFault,
  ChainReader,
  type Checkpoint,
  checkpointText,
  GENESIS,
  SPACE_ADDED,
} from './ledger.ts';

export type Verdict = {
  ok: boolean;
  entries: number;
  head: string;
  checkpoints: number;
  verifiedAt: string;
  problems: ChainFault[];
};

/** The head row, and whether its seal is ours. */
export type SealedEnd = { head: Head | null; sealed: boolean };

/** What is known of the ledger's end from outside the ledger table. */
export type Ends = {
  /** Read after the lines, because others may be writing meanwhile. */
  head(): Promise<SealedEnd>;
  /** Checkpoints kept elsewhere (the file beside the database, or one that an auditor holds). */
  kept: readonly Checkpoint[];
};

/** Called after every page and awaited: a running server serves others in between. */
export type Progress = (entries: number) => void | Promise<void>;

const PAGE = 2000;
const MOST_PROBLEMS = 20;

/**
 * Reads the whole chain. Alteration and reordering break a hash, deletion leaves a gap, truncation disagrees with
 * the sealed head and with every checkpoint that was signed beyond the end.
 */
export async function verifyLedger(
  room: Room,
  space: SpaceId,
  ends: Ends,
  progress: Progress = () => {},
): Promise<Verdict> {
  const chain = new ChainReader(room.vault.sha256);
  const problems: ChainFault[] = [];
  const stored = await room.store.read(space, (tx) => tx.ledger.checkpoints());
  const kept = ends.kept.filter((k) => k.space === space);
  const signed = await readSigned(room, [...stored, ...kept], { problems, progress });
  const end = await followToHead(room, space, { chain, signed, problems, progress }, ends);
  judgeEnd(chain, end, signed, problems);
  if (problems.length === 0) problems.push(...(await judgeBeginning(room, space)));
  return {
    ok: problems.length === 0,
    entries: chain.seq,
    head: chain.hash,
    checkpoints: signed.size,
    verifiedAt: toIso(room.clock.now()),
    problems: problems.slice(0, MOST_PROBLEMS),
  };
}

/** There is one for every minute in which something happened, and a signature takes as long as fifty lines. */
const SIGNATURES_AT_ONCE = 20;

/** Those that carry our signature. Most are known twice, from the database and from the file beside it. */
async function readSigned(
  room: Room,
  checkpoints: readonly Checkpoint[],
  { problems, progress }: { problems: ChainFault[]; progress: Progress },
): Promise<ReadonlyMap<number, Checkpoint>> {
  const signed = new Map<number, Checkpoint>();
  let looked = 0;
  for (const c of checkpoints) {
    const known = signed.get(c.seq);
    if (known !== undefined && isSame(known, c)) continue;
    const problem = problemWith(room, c, known);
    if (problem === null) signed.set(c.seq, c);
    else problems.push({ seq: c.seq, problem });
    if (++looked % SIGNATURES_AT_ONCE === 0) await progress(0);
  }
  return signed;
}

function isSame(one: Checkpoint, other: Checkpoint): boolean {
  return one.signature === other.signature && checkpointText(one) === checkpointText(other);
}

/** Two different signatures of ours for one place: somebody restored an older copy and wrote on from there. */
function problemWith(room: Room, c: Checkpoint, known: Checkpoint | undefined): string | null {
  if (!room.vault.verify(checkpointText(c), c.signature))
    return `the checkpoint at line ${c.seq} does not carry our signature`;
  if (known === undefined || known.hash === c.hash) return null;
  return `line ${c.seq} was signed in two checkpoints that differ: an older copy of the data was put back`;
}

type Walk = {
  chain: ChainReader;
  signed: ReadonlyMap<number, Checkpoint>;
  problems: ChainFault[];
  progress: Progress;
};

/** Lines that were written meanwhile are followed too; lines that the head counts but nobody finds were deleted. */
async function followToHead(room: Room, space: SpaceId, walk: Walk, ends: Ends): Promise<SealedEnd> {
  let end: SealedEnd = { head: null, sealed: false };
  for (;;) {
    const whole = await follow(room, space, walk);
    const gone = (end.head?.n ?? 0) > walk.chain.seq;
    if (!whole || gone) return end;
    end = await ends.head();
    if ((end.head?.n ?? 0) <= walk.chain.seq) return end;
  }
}

/** False when the chain is broken. */
async function follow(room: Room, space: SpaceId, walk: Walk): Promise<boolean> {
  for (;;) {
    const lines = await room.store.read(space, (tx) => tx.ledger.page(walk.chain.seq, PAGE));
    for (const line of lines) {
      const fault = walk.chain.next(line);
      // After the first break every hash differs: one finding says more than thousands.
      if (fault !== null) {
        walk.problems.push(fault);
        return false;
      }
      const checkpoint = walk.signed.get(line.seq);
      if (checkpoint !== undefined && checkpoint.hash !== line.hash) {
        walk.problems.push({ seq: line.seq, problem: `line ${line.seq} differs from its signed checkpoint` });
      }
    }
    await walk.progress(walk.chain.seq);
    if (lines.length < PAGE) return true;
  }
}

function judgeEnd(
  chain: ChainReader,
  { head, sealed }: SealedEnd,
  signed: ReadonlyMap<number, Checkpoint>,
  problems: ChainFault[],
): void {
  if (problems.length > 0) return;
  const expected = { n: head?.n ?? 0, text: head?.text ?? GENESIS };
  if (head !== null && !sealed) {
    problems.push({ seq: head.n, problem: 'the record of the last line was not written by this server' });
  }
  if (chain.seq !== expected.n || chain.hash !== expected.text) {
    problems.push({
      seq: chain.seq,
      problem: `the ledger ends at line ${chain.seq}, but it had ${counted(expected.n, 'line')}`,
    });
  }
  for (const seq of signed.keys()) {
    if (seq > chain.seq)
      problems.push({ seq, problem: `line ${seq} was signed in a checkpoint and is gone` });
  }
}

/** The first line says that the space was made: one that was wiped whole, heads and all, begins with something else. */
async function judgeBeginning({ store }: Room, space: SpaceId): Promise<ChainFault[]> {
  const { first, known } = await store.read(space, async (tx) => {
    const [line] = await tx.ledger.page(0, 1);
    return { first: line, known: await tx.spaces.get() };
  });
  if (first === undefined && known === null) return [];
  if (first?.action === SPACE_ADDED && first.subject === space) return [];
  return [{ seq: 1, problem: 'line 1 is not the making of this space: what the ledger held before is gone' }];
}

/** Signs the ledger's end, unless the last checkpoint already stands there. */
export async function makeCheckpoint(room: Room, space: SpaceId, now: Micros): Promise<Checkpoint | null> {
  return room.store.write(space, ['ledger'], async (tx) => {
    const head = await tx.heads.get('ledger');
    if (head === null) return null;
    const last = await tx.ledger.lastCheckpoint();
    if (last !== null && last.seq >= head.n) return null;
    const unsigned = { space, seq: head.n, hash: head.text, at: now };
    const checkpoint = { ...unsigned, signature: room.vault.sign(checkpointText(unsigned)) };
    await tx.ledger.insertCheckpoint(checkpoint);
    return checkpoint;
  });
}
