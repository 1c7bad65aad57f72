import type { Head, HeadName, Heads } from '../core/store.ts';
import { insertOf, type Session, statement } from './statement.ts';

/** The seal of a row that exists only to be locked: that head was never written. */
export const UNWRITTEN = '';

const select = statement<{ space: string; name: string }>()((db, p) =>
  db
    .selectFrom('heads')
    .select(['n', 'at', 'text'])
    .where('space_id', '=', p.space)
    .where('name', '=', p.name)
    .where('seal', '!=', UNWRITTEN),
);

const upsert = insertOf('heads', ['space_id', 'name', 'n', 'at', 'text', 'seal'], ['space_id', 'name']);

type Entry = { space: string; name: HeadName; head: Head | null; dirty: boolean; read: boolean };

/** A MAC over a head, so that one written without the master key is noticed. */
export type SealHead = (text: string) => string;

export function headText(space: string, name: string, head: Head): string {
  return `${space}\n${name}\n${head.n}\n${head.at}\n${head.text}`;
}

/**
 * The head rows of one batch: read once, written once, however many units pass through them. Thrown away when
 * the batch is rolled back.
 */
export class HeadCache {
  /** Heads set so far: they reach the database only with the commit, so nothing else would show them. */
  writes = 0;
  readonly #bySpace = new Map<string, Map<HeadName, Entry>>();
  readonly #session: Session;
  readonly #seal: SealHead;

  constructor(session: Session, seal: SealHead) {
    this.#session = session;
    this.#seal = seal;
  }

  forSpace(space: string, declared: readonly HeadName[]): Heads {
    const entries = this.#entriesOf(space);
    return {
      get: async (name) => {
        assertDeclared(declared, name);
        const known = entries.get(name);
        if (known === undefined) return this.#load(space, name, entries);
        known.read = true;
        return known.head;
      },
      set: (name, head) => {
        assertDeclared(declared, name);
        const known = entries.get(name);
        if (!known?.read) throw new Error(`head ${name} was set before it was read`);
        known.head = head;
        known.dirty = true;
        this.writes++;
      },
    };
  }

  /** For a unit that only runs to see what it reads: the same heads, but its changes stay private. */
  copyFor(space: string, declared: readonly HeadName[]): Heads {
    const own = new Map<HeadName, Head>();
    const real = this.forSpace(space, declared);
    return { get: async (name) => own.get(name) ?? real.get(name), set: (name, head) => own.set(name, head) };
  }

  /** The heads of one name that were set, by space. */
  written(name: HeadName): ReadonlyMap<string, number> {
    const found = new Map<string, number>();
    for (const [space, entries] of this.#bySpace) {
      const entry = entries.get(name);
      if (entry?.dirty && entry.head !== null) found.set(space, entry.head.n);
    }
    return found;
  }

  /** Heads that were read with their lock. */
  preload(space: string, name: HeadName, head: Head | null): void {
    this.#entriesOf(space).set(name, { space, name, head, dirty: false, read: false });
  }

  /** Whether it was read with its lock. */
  knows(space: string, name: HeadName): boolean {
    return this.#bySpace.get(space)?.has(name) ?? false;
  }

  #entriesOf(space: string): Map<HeadName, Entry> {
    let entries = this.#bySpace.get(space);
    if (entries === undefined) {
      entries = new Map();
      this.#bySpace.set(space, entries);
    }
    return entries;
  }

  async #load(space: string, name: HeadName, entries: Map<HeadName, Entry>): Promise<Head | null> {
    const head = await readHead(this.#session, space, name);
    // Two reads of a unit may have started together; a value that was set in the meantime wins.
    const entry = entries.get(name) ?? { space, name, head, dirty: false, read: true };
    entries.set(name, entry);
    return entry.head;
  }

  async flush(): Promise<void> {
    for (const entries of this.#bySpace.values()) {
      for (const entry of entries.values()) await this.#write(entry);
    }
  }

  async #write({ space, name, head, dirty }: Entry): Promise<void> {
    if (!dirty || head === null) return;
    const seal = this.#seal(headText(space, name, head));
    const { n, at, text } = head;
    await this.#session.run(upsert, { space_id: space, name, n, at, text, seal });
  }
}

function assertDeclared(declared: readonly HeadName[], name: HeadName): void {
  if (!declared.includes(name)) throw new Error(`head ${name} was not declared by this write`);
}

export async function readHead(session: Session, space: string, name: HeadName): Promise<Head | null> {
  const row = await session.one(select, { space, name });
  return row === undefined ? null : { n: row.n, at: row.at, text: row.text };
}

export type SealedHead = Head & { seal: string };

export async function readSealedHead(
  session: Session,
  space: string,
  name: HeadName,
): Promise<SealedHead | null> {
  return (await session.one(selectSealed, { space, name })) ?? null;
}

const selectSealed = statement<{ space: string; name: string }>()((db, p) =>
  db
    .selectFrom('heads')
    .select(['n', 'at', 'text', 'seal'])
    .where('space_id', '=', p.space)
    .where('name', '=', p.name),
);
