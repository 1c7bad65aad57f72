import type { Head, HeadName, Heads } from '../core/store.ts';
import { type Session, statement } from './statement.ts';

const select = statement<{ space: string; name: string }>()((db, p) =>
  db
    .selectFrom('heads')
    .select(['n', 'at', 'text'])
    .where('space_id', '=', p.space)
    .where('name', '=', p.name),
);

const upsert = statement<{
  space: string;
  name: string;
  n: number;
  at: number;
  text: string;
  seal: string;
}>()((db, p) =>
  db
    .insertInto('heads')
    .values({ space_id: p.space, name: p.name, n: p.n, at: p.at, text: p.text, seal: p.seal })
    .onConflict((oc) =>
      oc.columns(['space_id', 'name']).doUpdateSet({ n: p.n, at: p.at, text: p.text, seal: p.seal }),
    ),
);

type Entry = { space: string; name: HeadName; head: Head | null; dirty: boolean };

/** A mac over a head, so that one written by somebody without the master key is noticed. */
export type SealHead = (text: string) => string;

export function headText(space: string, name: string, head: Head): string {
  return `${space}\n${name}\n${head.n}\n${head.at}\n${head.text}`;
}

/**
 * The head rows of one batch: read once, written once, however many units pass through them. Thrown away when
 * the batch is rolled back.
 */
export class HeadCache {
  /** Heads set so far: they reach the database with the commit, so nothing else would show it. */
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
        return known === undefined ? this.#load(space, name, entries) : known.head;
      },
      set: (name, head) => {
        assertDeclared(declared, name);
        const known = entries.get(name);
        if (known === undefined) throw new Error(`head ${name} was set before it was read`);
        known.head = head;
        known.dirty = true;
        this.writes++;
      },
    };
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
    // Two reads of a unit may have started together; what was set meanwhile stands.
    const entry = entries.get(name) ?? { space, name, head, dirty: false };
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
    await this.#session.run(upsert, { space, name, n: head.n, at: head.at, text: head.text, seal });
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
