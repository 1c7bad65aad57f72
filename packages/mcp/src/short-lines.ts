import { Transform } from 'node:stream';

/** A line that was passed by, as far as it was kept. */
export interface LongLine {
  readonly bytes: number;
  readonly head: string;
  readonly tail: string;
}

const LINE_BREAK = 0x0a;
/** Enough to find the id of a request, which comes either before everything else or after it. */
const EDGE_BYTES = 1_024;

/** Lets whole lines through, each in one piece, and tells of those that are longer than `most` instead. */
export function shortLines(most: number, onLong: (line: LongLine) => void): Transform {
  let line = new Line(most);
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      for (let rest = chunk; rest.length > 0; ) {
        const end = rest.indexOf(LINE_BREAK) + 1;
        const piece = end === 0 ? rest : rest.subarray(0, end);
        rest = rest.subarray(piece.length);
        line.add(piece);
        if (end === 0) break;
        if (line.long === null) this.push(line.whole);
        else onLong(line.long);
        line = new Line(most);
      }
      done();
    },
  });
}

class Line {
  readonly #most: number;
  #bytes = 0;
  #pieces: Buffer[] = [];
  #head: Buffer | null = null;

  constructor(most: number) {
    this.#most = most;
  }

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    this.#pieces.push(piece);
    if (this.#bytes <= this.#most) return;
    const kept = this.whole;
    this.#head ??= kept.subarray(0, EDGE_BYTES);
    this.#pieces = [kept.subarray(-EDGE_BYTES)];
  }

  get whole(): Buffer {
    return Buffer.concat(this.#pieces);
  }

  get long(): LongLine | null {
    return this.#head && { bytes: this.#bytes, head: String(this.#head), tail: String(this.whole) };
  }
}

const FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*("[^"\\]*"|-?\d+)\s*,/;
const LAST = /,\s*"id"\s*:\s*("[^"\\]*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/;

/** The id by which somebody waits for an answer; null where none is to be found. */
export function idIn({ head, tail }: LongLine): string | number | null {
  const found = FIRST.exec(head) ?? LAST.exec(tail);
  return found?.[1] === undefined ? null : JSON.parse(found[1]);
}
