type Entries<K, V> = { get(key: K): V | undefined; set(key: K, value: V): unknown };

/** The value under a key, made when it is first asked for. */
export function entry<K, V>(map: Entries<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/**
 * A cache with a fixed size, for what can be computed again at any time. When it is full it is emptied: tracking
 * which entry was used last would cost more than it saves. It is emptied by beginning a new map, because a table that
 * was cleared keeps what was in it, and the ones after it (ARCHITECTURE.md, "What ends lets go of what it held").
 */
export class ShortMemory<K, V> {
  readonly #most: number;
  #known = new Map<K, V>();

  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#known.size;
  }

  get(key: K): V | undefined {
    return this.#known.get(key);
  }

  has(key: K): boolean {
    return this.#known.has(key);
  }

  set(key: K, value: V): void {
    if (this.#known.size >= this.#most && !this.#known.has(key)) this.clear();
    this.#known.set(key, value);
  }

  delete(key: K): void {
    this.#known.delete(key);
  }

  clear(): void {
    if (this.#known.size > 0) this.#known = new Map();
  }
}
