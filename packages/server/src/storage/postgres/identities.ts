import { ShortMemory } from '../../core/maps.ts';
import type { Directory } from '../../core/store.ts';
import { type Session, statement } from '../statement.ts';
import type { BatchSession } from './batch.ts';
import type { PgLink } from './link.ts';

/** A change to one of these tables may change who somebody is. */
const TABLES = ['keys', 'agents', 'producers', 'producer_keys'] as const;

const BUMP = `insert into heads (space_id, name, n, at, text, seal) values ('', 'identities', 1, 0, '', 'none')
  on conflict (space_id, name) do update set n = heads.n + 1`;

/** In the transaction that changes them, so that the new number and the new identities become visible together. */
export function bumpIdentities(link: PgLink, session: BatchSession): void {
  if (!TABLES.some((table) => session.touched.has(table))) return;
  session.keep(link.query(BUMP, []));
}

const version = statement<object>()((db) =>
  db.selectFrom('heads').select('n').where('space_id', '=', '').where('name', '=', 'identities'),
);

const MOST = 10_000;

/**
 * Answers that stay right until somebody, on any replica, changes a key. One look at a version number serves all
 * requests of one turn of the event loop; it is sent after the last of them arrived, so no answer is older than its
 * request.
 */
export class Remembered {
  readonly #session: Session;
  readonly #answers = new ShortMemory<string, unknown>(MOST);
  #seen = -1;
  #look: Promise<void> | null = null;

  constructor(session: Session) {
    this.#session = session;
  }

  async get<T>(key: string, find: () => Promise<T | null>): Promise<T | null> {
    this.#look ??= new Promise<void>((resolve, reject) => {
      setImmediate(() => {
        this.#look = null;
        this.#compare().then(resolve, reject);
      });
    });
    await this.#look;
    const known = this.#answers.get(key);
    if (known !== undefined) return known as T;
    const seen = this.#seen;
    const found = await find();
    // Misses are not remembered: guesses must not fill the memory.
    if (found !== null && seen === this.#seen) this.#keep(key, found);
    return found;
  }

  async #compare(): Promise<void> {
    const now = (await this.#session.one(version, {}))?.n ?? 0;
    if (now === this.#seen) return;
    this.#answers.clear();
    this.#seen = now;
  }

  #keep(key: string, answer: unknown): void {
    this.#answers.set(key, answer);
  }
}

/** Every request of a program starts with its key, which was nearly always just seen. */
export function remembering(found: Directory, memory: Remembered): Directory {
  return {
    ...found,
    identityByDigest: (digest) => memory.get(`key ${digest}`, () => found.identityByDigest(digest)),
    producerKey: (id) => memory.get(`producer ${id}`, () => found.producerKey(id)),
  };
}
