import type { Kind, UnitOf } from '../../core/intake.ts';

/**
 * Many units on their way to another thread. Copying objects between threads is slow, because every property name is
 * copied with them and every body gets its own block of memory. So the values travel as one list, the bodies as one
 * block that is transferred and not copied, and values that many units share travel once.
 */
export type Packed = { shared: unknown[]; values: unknown[]; bodies: Uint8Array<ArrayBuffer> };

type Names<T> = { [Name in keyof T]-?: true };

/** How a field travels: as it is, once for all units that share it, in the block of bytes, or member by member. */
type Ways<T> = { [Name in keyof T]-?: 'plain' | 'shared' | 'bytes' | Names<T[Name]> };

// Typed as records, so that a field that is added to a unit and forgotten here does not compile.
const WAYS: { [K in Kind]: Ways<UnitOf<K>> } = {
  delivery: {
    identity: 'shared',
    raw: 'bytes',
    idempotencyKey: 'plain',
    contentHash: 'plain',
    bodyHash: 'plain',
    draft: {
      provider: true,
      type: true,
      headline: true,
      summary: true,
      timeoutSeconds: true,
      callback: true,
      taskId: true,
      threadId: true,
      interruptId: true,
      revises: true,
      dedupeKey: true,
    },
    shape: { parts: true, irreversible: true },
  },
  event: {
    producer: 'shared',
    rate: 'shared',
    takers: 'shared',
    kept: 'bytes',
    version: 'plain',
    bodyHash: 'plain',
    outline: {
      eventId: true,
      eventType: true,
      taskId: true,
      causationId: true,
      resumePolicy: true,
      sequence: true,
      subject: true,
      fillProducer: true,
      hasUri: true,
    },
  },
  message: {
    place: { space: true, agent: true, caller: true },
    id: 'plain',
    body: 'plain',
    dialect: 'plain',
    taskId: 'plain',
    contextId: 'plain',
    network: 'plain',
    retryKey: 'plain',
    awaitFor: 'plain',
    push: 'plain',
  },
  report: {
    space: 'plain',
    agent: 'plain',
    tier: 'plain',
    frameId: 'plain',
    taskId: 'plain',
    kind: 'plain',
    state: 'plain',
    text: 'plain',
    append: 'plain',
    lastChunk: 'plain',
    content: 'shared',
  },
  acknowledgement: { space: 'plain', agent: 'plain', places: 'plain' },
  claim: { space: 'plain', page: 'plain' },
  attempts: { space: 'plain', page: 'plain' },
};

type Fields = Record<string, unknown>;
type Way = 'plain' | 'shared' | 'bytes' | readonly string[];
type Step = { name: string; way: Way };

function stepsOf(ways: object): Step[] {
  return Object.entries(ways).map(([name, way]) => ({
    name,
    way: typeof way === 'string' ? (way as Way) : Object.keys(way),
  }));
}

export const KINDS = Object.keys(WAYS) as Kind[];

const STEPS = Object.fromEntries(KINDS.map((kind) => [kind, stepsOf(WAYS[kind])])) as Record<Kind, Step[]>;

export function pack<K extends Kind>(kind: K, units: readonly UnitOf<K>[]): Packed {
  const load = new Load();
  for (const unit of units as readonly Fields[]) {
    for (const { name, way } of STEPS[kind]) load.put(way, unit[name]);
  }
  return load.packed();
}

export function unpack<K extends Kind>(kind: K, packed: Packed): UnitOf<K>[] {
  const units: Fields[] = [];
  const load = new Unloading(packed);
  while (load.hasMore) {
    const unit: Fields = {};
    for (const { name, way } of STEPS[kind]) unit[name] = load.take(way);
    units.push(unit);
  }
  return units as UnitOf<K>[];
}

class Load {
  readonly #shared: unknown[] = [];
  readonly #values: unknown[] = [];
  readonly #bodies: Uint8Array[] = [];
  #size = 0;

  put(way: Way, value: unknown): void {
    if (way === 'plain') this.#values.push(value);
    else if (way === 'shared') this.#values.push(placeIn(this.#shared, value));
    else if (way === 'bytes') this.#values.push(this.#endOf(value as Uint8Array));
    else for (const name of way) this.#values.push((value as Fields)[name]);
  }

  packed(): Packed {
    return { shared: this.#shared, values: this.#values, bodies: inOneBlock(this.#bodies, this.#size) };
  }

  #endOf(body: Uint8Array): number {
    this.#bodies.push(body);
    this.#size += body.length;
    return this.#size;
  }
}

/** Takes everything out in the order in which it was put in. */
class Unloading {
  readonly #packed: Packed;
  #next = 0;
  #bodyStart = 0;

  constructor(packed: Packed) {
    this.#packed = packed;
  }

  get hasMore(): boolean {
    return this.#next < this.#packed.values.length;
  }

  take(way: Way): unknown {
    if (way === 'plain') return this.#value();
    if (way === 'shared') return this.#packed.shared[this.#value() as number];
    if (way === 'bytes') return this.#bodyTo(this.#value() as number);
    const fields: Fields = {};
    for (const name of way) fields[name] = this.#value();
    return fields;
  }

  #value(): unknown {
    return this.#packed.values[this.#next++];
  }

  #bodyTo(end: number): Uint8Array {
    const body = this.#packed.bodies.subarray(this.#bodyStart, end);
    this.#bodyStart = end;
    return body;
  }
}

function placeIn(shared: unknown[], value: unknown): number {
  const at = shared.indexOf(value);
  return at < 0 ? shared.push(value) - 1 : at;
}

function inOneBlock(parts: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const block = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    block.set(part, at);
    at += part.length;
  }
  return block;
}
