import type { Json } from '../../canonical.ts';
import { orNull } from '../../faults.ts';
import type { SpaceId } from '../../ids.ts';
import type { LedgerLine } from '../../ledger/ledger.ts';
import type { Room } from '../../room.ts';
import type { Tx } from '../../store.ts';
import { answerIdentity, openContent, openText } from '../content/sealed.ts';
import type { Delivery } from '../delivery.ts';
import { detailsOf } from '../delivery.ts';
import { textsIn, wordsOf } from './words.ts';

/** Small, so that no request waits long behind the indexer: this much is read or written at once. */
const LINES_AT_ONCE = 50;
const BODIES_AT_ONCE = 3;
const ROWS_AT_ONCE = 120;
/** A longer delivery is found by its first words only. */
const MOST_WORDS = 5000;
const MOST_LOOKED = 200_000;
/** More than this is not held in memory. */
const MOST_ENTRIES = 50_000;

/** The lines that make a delivery's feedback final. */
const DECIDED: ReadonlySet<string> = new Set(['decision.made', 'decision.effective']);

type Entry = { word: string; seq: number };
type Found = { delivery: Delivery; line: LedgerLine | null };

/** How many lines of the ledger a step takes, and what it does between its parts to let requests through. */
export type Step = { lines: number; letOthers(): Promise<void> };

export const LARGE_STEP = 250;
/** Lines of events and tasks have no words; at most this many pages of them are skipped in one step. */
const MOST_SILENT = 40;

const AT_ONCE: Step = { lines: LARGE_STEP, letOthers: async () => {} };

/**
 * Moves the index some lines further along the ledger. True when there may be more. Safe to repeat and to interrupt:
 * the mark moves with the last rows, so a crash costs a repetition and never a word. Rows are written in the order of
 * their words, so that each page of the index is touched once per step and not once per delivery.
 */
export async function indexSome(room: Room, space: SpaceId, step: Step = AT_ONCE): Promise<boolean> {
  const { found, from, last, full } = await look(room, space, step);
  // A few lines without words are simply skipped again next time; moving the mark would cost a commit that others
  // wait for.
  if (found.length === 0 && !full && last - from < step.lines) return false;
  const { entries, done } = await gather(room, space, found, step);
  entries.sort((a, b) => (a.word < b.word ? -1 : a.word > b.word ? 1 : a.seq - b.seq));
  const to = found[done] === undefined ? last : placeOf(found[done]) - 1;
  let at = 0;
  for (; at + ROWS_AT_ONCE < entries.length; at += ROWS_AT_ONCE) {
    const some = entries.slice(at, at + ROWS_AT_ONCE);
    await room.store.write(space, [], (tx) => add(tx, some));
    await step.letOthers();
  }
  await room.store.write(space, ['indexed'], async (tx) => {
    await add(tx, entries.slice(at));
    const before = (await tx.heads.get('indexed'))?.n ?? 0;
    tx.heads.set('indexed', { n: Math.max(before, to), at: room.clock.now(), text: '' });
  });
  return full || to < last;
}

/**
 * If no more than this is missing, whoever searches indexes the rest first. It is more than the lines without words
 * that may follow the mark although nothing is missing.
 */
const FEW: Step = {
  lines: 2 * LARGE_STEP,
  letOthers: () => new Promise((resolve) => setImmediate(resolve)),
};

/** Indexes what has just happened, if it is little. False when the index stays behind for now. */
export async function indexNewest(room: Room, space: SpaceId): Promise<boolean> {
  const behind = await room.store.read(space, async (tx) => {
    const [end, mark] = [await tx.heads.get('ledger'), await tx.heads.get('indexed')];
    return (end?.n ?? 0) - (mark?.n ?? 0);
  });
  if (behind > FEW.lines) return false;
  return behind <= 0 || !(await indexSome(room, space, FEW));
}

async function add(tx: Tx, entries: readonly Entry[]): Promise<void> {
  for (const { word, seq } of entries) await tx.search.add(word, seq);
}

type Look = { found: Found[]; from: number; last: number; full: boolean };

/** The next lines of the ledger that the index needs; the lines skipped before them share one mark. */
async function look(room: Room, space: SpaceId, { lines, letOthers }: Step): Promise<Look> {
  const marked = await room.store.read(space, (tx) => tx.heads.get('indexed'));
  const from = marked?.n ?? 0;
  const atOnce = Math.min(lines, LINES_AT_ONCE);
  const seen = { found: [] as Found[], from, last: from, full: true };
  for (let passed = 0; seen.full && passed < (seen.found.length > 0 ? lines : lines * MOST_SILENT); ) {
    if (passed > 0) await letOthers();
    const { found, last, full } = await lookBehind(room, space, seen.last, atOnce);
    seen.found.push(...found);
    Object.assign(seen, { last, full });
    passed += atOnce;
  }
  return seen;
}

function lookBehind(room: Room, space: SpaceId, after: number, most: number): Promise<Omit<Look, 'from'>> {
  return room.store.read(space, async (tx) => {
    const lines = await tx.ledger.page(after, most);
    const last = lines.at(-1)?.seq ?? after;
    // By place and not by the line's action: a delivery has the place of its line, whichever door it came through.
    const range = { from: lines[0]?.seq ?? after, before: last + 1, limit: most };
    const delivered = lines.length === 0 ? [] : await tx.search.find({ words: [], ...range });
    const found: Found[] = delivered.map((delivery) => ({ delivery, line: null }));
    for (const line of lines.filter((l) => DECIDED.has(l.action))) {
      const delivery = await tx.deliveries.get(line.subject);
      if (delivery !== null) found.push({ delivery, line });
    }
    return { found: found.sort((a, b) => placeOf(a) - placeOf(b)), last, full: lines.length === most };
  });
}

function placeOf({ delivery, line }: Found): number {
  return line?.seq ?? delivery.seq;
}

/** The words of what was found, a few bodies at a time, and how many bodies were read. */
async function gather(room: Room, space: SpaceId, found: readonly Found[], { letOthers }: Step) {
  const keyOf = wordKeys(room, space);
  const entries: Entry[] = [];
  let done = 0;
  while (done < found.length && entries.length < MOST_ENTRIES) {
    const some = found.slice(done, done + BODIES_AT_ONCE);
    await room.store.read(space, async (tx) => {
      for (const { delivery, line } of some) {
        const texts = await (line === null ? textsOf(room, tx, delivery) : feedbackOn(room, tx, delivery));
        entries.push(...toEntries(delivery.seq, texts, keyOf));
      }
    });
    done += some.length;
    await letOthers();
  }
  return { entries, done };
}

/** Remembered, because an agent's deliveries repeat the same words and each key costs a hash. */
function wordKeys(room: Room, space: SpaceId): (word: string) => string {
  const known = new Map<string, string>();
  return (word) => {
    const key = known.get(word) ?? room.vault.wordKey(space, word);
    known.set(word, key);
    return key;
  };
}

function toEntries(seq: number, texts: Iterable<string>, keyOf: (word: string) => string): Entry[] {
  const words = new Set<string>();
  let looked = 0;
  for (const word of allWords(texts)) {
    words.add(word);
    if (words.size >= MOST_WORDS || ++looked >= MOST_LOOKED) break;
  }
  return [...words].map((word) => ({ word: keyOf(word), seq }));
}

function* allWords(texts: Iterable<string>): Generator<string> {
  for (const text of texts) yield* wordsOf(text);
}

/** A delivery that cannot be opened has no words; the ones after it still do. */
async function textsOf(room: Room, tx: Tx, delivery: Delivery): Promise<Iterable<string>> {
  const sealed = await tx.deliveries.body(delivery.id);
  const details: Json = sealed === null ? null : orNull(() => detailsOf(openContent(room, sealed, delivery)));
  return textsIn([delivery.headline, delivery.summary, details]);
}

async function feedbackOn(room: Room, tx: Tx, delivery: Delivery): Promise<string[]> {
  const decision = await tx.decisions.current(delivery.id);
  const sealed = decision === null ? null : await tx.decisions.answer(decision.seq);
  if (decision === null || sealed === null) return [];
  const answer = orNull(() => JSON.parse(openText(room, sealed, answerIdentity(decision))));
  return typeof answer?.feedback === 'string' ? [answer.feedback] : [];
}
