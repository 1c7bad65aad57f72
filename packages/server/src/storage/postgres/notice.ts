import type { Topic } from '../../core/store.ts';

type Told = [Topic, string[]][];
type Ends = [string, number][];

/** `ledgers` says where the ledgers end, so that news which did arrive does not count as missed. */
export type Notice = { from: string; told?: Told; ledgers?: Ends; test?: string };

/** PostgreSQL takes at most 8000 bytes. */
export const MOST_BYTES = 7_500;
const PIECE = 50;

/** As few notices as the limit allows. A single topic that is too long is sent without its details. */
export function writeNotices(from: string, told: Told, ledgers: Ends): string[] {
  const whole = { from, told, ledgers };
  if (fits(whole)) return [JSON.stringify(whole)];
  const notices: Notice[] = [];
  let open: Notice = { from };
  for (const piece of piecesOf(from, told, ledgers)) {
    const longer = joined(open, piece);
    if (!fits(longer)) notices.push(open);
    open = fits(longer) ? longer : piece;
  }
  return [...notices, open].map((notice) => JSON.stringify(notice));
}

/** Pieces that each fit by themselves. The ends of the ledgers come last: by then everything in them was told. */
function piecesOf(from: string, told: Told, ledgers: Ends): Notice[] {
  const news = told.flatMap(([topic, about]) =>
    inPieces(about).map((some): Notice => {
      const piece: Notice = { from, told: [[topic, some]] };
      return fits(piece) ? piece : { from, told: [[topic, ['']]] };
    }),
  );
  return [...news, ...inPieces(ledgers).map((some): Notice => ({ from, ledgers: some }))];
}

function inPieces<T>(list: readonly T[]): T[][] {
  const pieces: T[][] = [];
  for (let at = 0; at < list.length; at += PIECE) pieces.push(list.slice(at, at + PIECE));
  return pieces;
}

function joined(one: Notice, other: Notice): Notice {
  const { from, told = [], ledgers = [] } = one;
  return {
    from,
    told: [...told, ...(other.told ?? [])],
    ledgers: [...ledgers, ...(other.ledgers ?? [])],
  };
}

function fits(notice: Notice): boolean {
  return Buffer.byteLength(JSON.stringify(notice)) <= MOST_BYTES;
}

/**
 * Null for anything that is not ours: whoever may connect may also notify. Unreadable news is found by the regular
 * look.
 */
export function readNotice(text: string): Notice | null {
  try {
    const value = JSON.parse(text) as Partial<Record<keyof Notice, unknown>> | null;
    if (typeof value?.from !== 'string') return null;
    const { told = [], ledgers: ends = [] } = value;
    return isListOf(told, Array.isArray) && isListOf(ends, Number.isInteger) ? (value as Notice) : null;
  } catch {
    return null;
  }
}

/** Names, each with a valid value. */
function isListOf(list: unknown, fits: (value: unknown) => boolean): boolean {
  const isPair = (pair: unknown) => Array.isArray(pair) && typeof pair[0] === 'string' && fits(pair[1]);
  return Array.isArray(list) && list.every(isPair);
}
