import { insertOf, type Session, statement } from '../../statement.ts';
import type { Sealer } from '../agents/agents.ts';

/** Where a body is stored: in which record, at which offset and with which size. */
export type Located = { segment: number; body_at: number; body_size: number };

/** When a record has this size, the next one is begun: reading one body of a record opens all of it. */
const SEGMENT_BYTES = 64 * 1024;
const COMMA = Uint8Array.of(0x2c);
const EMPTY = new Uint8Array();
/** What was opened last is read again and again, by everybody who follows the same inbox. */
const REMEMBERED_BYTES = 4 * 1024 * 1024;

const insert = insertOf('bodies', ['space_id', 'segment', 'last_seq', 'sealed']);

type Named = { space: string; segment: number };

const select = statement<Named>()((db, p) =>
  db
    .selectFrom('bodies')
    .select(['sealed', 'last_seq'])
    .where('space_id', '=', p.space)
    .where('segment', '=', p.segment),
);

const rewrite = statement<Named & { sealed: Uint8Array }>()((db, p) =>
  db
    .updateTable('bodies')
    .set({ sealed: p.sealed })
    .where('space_id', '=', p.space)
    .where('segment', '=', p.segment),
);

const remove = statement<Named>()((db, p) =>
  db.deleteFrom('bodies').where('space_id', '=', p.space).where('segment', '=', p.segment),
);

const oneLeft = statement<{ space: string; from: number; to: number }>()((db, p) =>
  db
    .selectFrom('events')
    .select('seq')
    .where('space_id', '=', p.space)
    .where('seq', '>=', p.from)
    .where('seq', '<=', p.to)
    .limit(1),
);

/** A record before it was sealed. */
export type Written = { name: string; plain: Uint8Array };

type Open = { space: string; segment: number; last: number; parts: Uint8Array[]; size: number };

/**
 * Bodies of events that commit together are sealed together: opening a record costs as much as reading three rows, so
 * a page of a thousand bodies opens a dozen records and not a thousand. They are stored as they are sent, with commas
 * between them (except in older records). A removed body is blanked at once; a record is removed with its last body.
 */
export class Bodies {
  readonly #session: Session;
  readonly #sealer: Sealer;
  /** The records of the current transaction, by space; the last of each is still being filled. */
  #open = new Map<string, Open[]>();
  #found = new Map<string, Segment>();
  #foundBytes = 0;

  constructor(session: Session, sealer: Sealer) {
    this.#session = session;
    this.#sealer = sealer;
  }

  /** Takes the body of the event at `seq`, to be written by `flush`. */
  add(space: string, seq: number, body: Uint8Array): Located {
    const all = this.#open.get(space) ?? [];
    this.#open.set(space, all);
    let last = all.at(-1);
    if (last === undefined || last.size + body.length > SEGMENT_BYTES) {
      last = { space, segment: seq, last: seq, parts: [], size: 0 };
      all.push(last);
    } else {
      last.parts.push(COMMA);
      last.size += COMMA.length;
    }
    const located = { segment: last.segment, body_at: last.size, body_size: body.length };
    last.parts.push(body);
    last.last = seq;
    last.size += body.length;
    return located;
  }

  /** Called before the commit. Returns what it wrote, for those who read it next. */
  async flush(): Promise<readonly Written[]> {
    const written: Written[] = [];
    for (const { space, segment, last, parts } of [...this.#open.values()].flat()) {
      const [name, plain] = [segmentIdentity(space, segment), Buffer.concat(parts)];
      const sealed = this.#sealer.seal(plain, name);
      await this.#session.run(insert, { space_id: space, segment, last_seq: last, sealed });
      written.push({ name, plain });
    }
    if (written.length > 0) this.#open = new Map();
    return written;
  }

  /** What another session has committed is likely to be read now. */
  expect(written: readonly Written[]): void {
    for (const { name, plain } of written) this.#remember(name, new Segment(plain.length, () => plain));
  }

  /** After a rollback: nothing was written, and the places will be used again. */
  forget(): void {
    this.#open = new Map();
    this.#found = new Map();
    this.#foundBytes = 0;
  }

  /** The record that holds a body. It is opened when somebody reads from it. */
  async find(space: string, segment: number): Promise<Segment> {
    const here = this.#here(space, segment);
    if (here !== undefined) return here;
    const found = await this.#read(space, segment);
    this.#remember(segmentIdentity(space, segment), found);
    return found;
  }

  /**
   * The same for a reader who walks a whole inbox once: remembering its records would keep them alive long enough to
   * make garbage collection expensive.
   */
  async findOnce(space: string, segment: number): Promise<Segment> {
    return this.#here(space, segment) ?? this.#read(space, segment);
  }

  #here(space: string, segment: number): Segment | undefined {
    const known = this.#found.get(segmentIdentity(space, segment));
    if (known !== undefined) return known;
    const open = this.#open.get(space)?.find((one) => one.segment === segment);
    return open && new Segment(open.size, () => Buffer.concat(open.parts));
  }

  async #read(space: string, segment: number): Promise<Segment> {
    const name = segmentIdentity(space, segment);
    const row = await this.#session.one(select, { space, segment });
    if (row === undefined) throw new Error(`${name} is missing`);
    return new Segment(row.sealed.length, () => this.#sealer.open(row.sealed, name));
  }

  /** The body of a row that holds its own. */
  own(space: string, seq: number, sealed: Uint8Array): () => Uint8Array {
    return () => this.#sealer.open(sealed, ownIdentity(space, seq));
  }

  /** Blanks bodies, so that nobody with the key can read them any more. */
  async blank(space: string, gone: readonly Located[]): Promise<void> {
    const bySegment = new Map<number, Located[]>();
    for (const one of gone) bySegment.set(one.segment, [...(bySegment.get(one.segment) ?? []), one]);
    for (const [segment, ranges] of bySegment) await this.#blankIn(space, segment, ranges);
  }

  async #blankIn(space: string, segment: number, ranges: readonly Located[]): Promise<void> {
    const row = await this.#session.one(select, { space, segment });
    if (row === undefined) return;
    const left = await this.#session.one(oneLeft, { space, from: segment, to: row.last_seq });
    if (left === undefined) return void (await this.#session.run(remove, { space, segment }));
    const plain = Buffer.from(this.#sealer.open(row.sealed, segmentIdentity(space, segment)));
    for (const { body_at, body_size } of ranges) plain.fill(0, body_at, body_at + body_size);
    const sealed = this.#sealer.seal(plain, segmentIdentity(space, segment));
    await this.#session.run(rewrite, { space, segment, sealed });
  }

  #remember(name: string, found: Segment): void {
    this.#foundBytes += found.size;
    if (this.#foundBytes > REMEMBERED_BYTES) {
      this.#found = new Map();
      this.#foundBytes = found.size;
    }
    this.#found.set(name, found);
  }
}

/** Several bodies in one record, opened once. */
export class Segment {
  readonly size: number;
  #open: (() => Uint8Array) | null;
  #plain: Uint8Array = EMPTY;

  constructor(size: number, open: () => Uint8Array) {
    this.size = size;
    this.#open = open;
  }

  at(from: number, size: number): Uint8Array {
    if (this.#open !== null) {
      this.#plain = this.#open();
      this.#open = null; // and with it what was sealed
    }
    return this.#plain.subarray(from, from + size);
  }
}

/** The identity that a record of several bodies is bound to. */
export function segmentIdentity(space: string, segment: number): string {
  return `bodies:${space}:${segment}`;
}

/** The identity that the body of a row is bound to, where the row holds its own. */
export function ownIdentity(space: string, seq: number): string {
  return `event:${space}:${seq}`;
}
