import type { Kind, UnitOf } from '../../core/intake.ts';

/**
 * A crowd of units on its way to another thread. Objects are copied name by name, and each body with a block of
 * memory of its own; so what they hold goes as one list, the bodies as one block that changes hands, and what many
 * of them have in common goes once. A quarter of the time (bench, 2026-11).
 */
export type Packed = { shared: unknown[]; values: unknown[]; bodies: Uint8Array<ArrayBuffer> };

type Names<T> = { [Name in keyof T]-?: true };

/** How a field travels: as it is, once for all that share it, in the block of bytes, or name by name. */
type Ways<T> = { [Name in keyof T]-?: 'plain' | 'shared' | 'bytes' | Names<T[Name]> };

// As records, so that a field that is added and forgotten here does not compile.
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
    retryKey: 'plain',
    awaitFor: 'plain',
    push: 'plain',
  },
  report: {
    space: 'plain',
    agent: 'plain',
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
  const shared: unknown[] = [];
  const values: unknown[] = [];
  const bodies: Uint8Array[] = [];
  let end = 0;
  for (const unit of units as readonly Fields[]) {
    for (const { name, way } of STEPS[kind]) {
      const value = unit[name];
      if (way === 'plain') values.push(value);
      else if (way === 'shared') values.push(placeIn(shared, value));
      else if (way === 'bytes') {
        bodies.push(value as Uint8Array);
        end += (value as Uint8Array).length;
        values.push(end);
      } else for (const inner of way) values.push((value as Fields)[inner]);
    }
  }
  return { shared, values, bodies: inOneBlock(bodies, end) };
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

export function unpack<K extends Kind>(kind: K, { shared, values, bodies }: Packed): UnitOf<K>[] {
  const units: Fields[] = [];
  let start = 0;
  let next = 0;
  while (next < values.length) {
    const unit: Fields = {};
    for (const { name, way } of STEPS[kind]) {
      if (way === 'plain') unit[name] = values[next++];
      else if (way === 'shared') unit[name] = shared[values[next++] as number];
      else if (way === 'bytes') {
        const end = values[next++] as number;
        unit[name] = bodies.subarray(start, end);
        start = end;
      } else {
        const inner: Fields = {};
        for (const field of way) inner[field] = values[next++];
        unit[name] = inner;
      }
    }
    units.push(unit);
  }
  return units as UnitOf<K>[];
}
