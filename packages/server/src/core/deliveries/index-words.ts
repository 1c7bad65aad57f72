import type { Json } from '../canonical.ts';
import type { SpaceId } from '../ids.ts';
import type { LedgerLine } from '../ledger/ledger.ts';
import type { Room } from '../room.ts';
import type { Tx } from '../store.ts';
import type { Delivery } from './delivery.ts';
import { detailsOf } from './delivery.ts';
import { answerIdentity, openContent, openText } from './sealed.ts';
import { textsIn, wordsOf } from './words.ts';

/** Small, so that no delivery ever waits long behind the index. */
const LINES = 50;
const ROWS = 400;
/** A delivery that holds more different words is found by its first ones. */
const MOST_WORDS = 5000;

/** The lines that make a delivery's feedback final. */
const DECIDED: ReadonlySet<string> = new Set(['decision.made', 'decision.effective']);

type Entry = { word: string; seq: number };

/**
 * Brings the index some lines further along the ledger. True when there may be more. Safe to repeat and to interrupt:
 * rows are written first and the mark moves last, so that a crash costs a repetition and never a word.
 */
export async function indexSome(room: Room, space: SpaceId): Promise<boolean> {
  const { entries, from, to } = await room.store.read(space, async (tx) => {
    const after = (await tx.heads.get('indexed'))?.n ?? 0;
    const lines = await tx.ledger.page(after, LINES);
    const last = lines.at(-1)?.seq ?? after;
    return { entries: await entriesOf(room, tx, lines), from: after, to: last };
  });
  if (to === from) return false;
  for (let at = 0; at < entries.length; at += ROWS) {
    await room.store.write(space, [], async (tx) => {
      for (const { word, seq } of entries.slice(at, at + ROWS)) await tx.search.add(word, seq);
    });
  }
  await room.store.write(space, ['indexed'], async (tx) => {
    const before = (await tx.heads.get('indexed'))?.n ?? 0;
    tx.heads.set('indexed', { n: Math.max(before, to), at: room.clock.now(), text: '' });
  });
  return to - from === LINES;
}

async function entriesOf(room: Room, tx: Tx, lines: readonly LedgerLine[]): Promise<Entry[]> {
  const [first, last] = [lines[0], lines.at(-1)];
  if (first === undefined || last === undefined) return [];
  const entries: Entry[] = [];
  // By place and not by the line's action: whichever door it came through, a delivery has its line's place.
  const range = { from: first.seq, before: last.seq + 1, limit: LINES };
  for (const delivery of await tx.search.find({ words: [], ...range })) {
    entries.push(...toEntries(room, delivery, await textsOf(room, tx, delivery)));
  }
  for (const line of lines.filter((l) => DECIDED.has(l.action))) {
    const delivery = await tx.deliveries.get(line.subject);
    if (delivery !== null) entries.push(...toEntries(room, delivery, await feedbackOn(room, tx, delivery)));
  }
  return entries;
}

function toEntries(room: Room, { space, seq }: Delivery, texts: Iterable<string>): Entry[] {
  const words = new Set<string>();
  for (const text of texts) {
    for (const word of wordsOf(text)) words.add(word);
    if (words.size >= MOST_WORDS) break;
  }
  return [...words].slice(0, MOST_WORDS).map((word) => ({ word: room.vault.wordKey(space, word), seq }));
}

async function textsOf(room: Room, tx: Tx, delivery: Delivery): Promise<Iterable<string>> {
  const sealed = await tx.deliveries.body(delivery.id);
  const details: Json = sealed === null ? null : detailsOf(openContent(room, sealed, delivery));
  return textsIn([delivery.headline, delivery.summary, details]);
}

async function feedbackOn(room: Room, tx: Tx, delivery: Delivery): Promise<string[]> {
  const decision = await tx.decisions.current(delivery.id);
  const sealed = decision === null ? null : await tx.decisions.answer(decision.seq);
  if (decision === null || sealed === null) return [];
  const { feedback } = JSON.parse(openText(room, sealed, answerIdentity(decision)));
  return typeof feedback === 'string' ? [feedback] : [];
}
