import type { Identity } from '../../core/agents/key.ts';
import type { Prepared } from '../../core/deliveries/accept.ts';
import type { Draft } from '../../core/deliveries/delivery.ts';
import type { Shape } from '../../core/deliveries/shape.ts';

/**
 * A crowd of deliveries on its way to another thread. Objects are copied name by name, and each body with a block of
 * memory of its own; so what they hold goes as one list, the bodies as one block that changes hands, and whoever
 * sent many of them goes once. A quarter of the time (bench, 2026-11).
 */
export type Packed = { identities: Identity[]; values: unknown[]; bodies: Uint8Array<ArrayBuffer> };

type Names<T> = { [Name in keyof T]-?: true };
const namesOf = <T>(names: Names<T>) => Object.keys(names) as (keyof T)[];

// As records, so that a field that is added and forgotten here does not compile.
const DRAFT = namesOf<Draft>({
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
});
const SHAPE = namesOf<Shape>({ parts: true, irreversible: true });
type Rest = Omit<Prepared, 'identity' | 'draft' | 'shape' | 'raw'>;
const REST = namesOf<Rest>({ idempotencyKey: true, contentHash: true });

export function pack(units: readonly Prepared[]): Packed {
  const identities: Identity[] = [];
  const values: unknown[] = [];
  const bodies = new Uint8Array(units.reduce((size, { raw }) => size + raw.length, 0));
  let end = 0;
  for (const unit of units) {
    let whose = identities.indexOf(unit.identity);
    if (whose < 0) whose = identities.push(unit.identity) - 1;
    bodies.set(unit.raw, end);
    end += unit.raw.length;
    values.push(whose, end);
    for (const name of REST) values.push(unit[name]);
    for (const name of DRAFT) values.push(unit.draft[name]);
    for (const name of SHAPE) values.push(unit.shape[name]);
  }
  return { identities, values, bodies };
}

export function unpack({ identities, values, bodies }: Packed): Prepared[] {
  const units: Prepared[] = [];
  let start = 0;
  let next = 0;
  const take = <T>(names: readonly (keyof T)[]): T => {
    const taken: Record<PropertyKey, unknown> = {};
    for (const name of names) taken[name] = values[next++];
    return taken as T;
  };
  while (next < values.length) {
    const identity = identities[values[next++] as number];
    const end = values[next++] as number;
    if (identity === undefined) throw new Error('a delivery of nobody was handed over');
    const raw = bodies.subarray(start, end);
    units.push({ identity, raw, ...take<Rest>(REST), draft: take<Draft>(DRAFT), shape: take<Shape>(SHAPE) });
    start = end;
  }
  return units;
}
