/**
 * Rows keep the places where they were first seen, and change in place. New rows wait until the person asks for them,
 * except at the end, where they cannot push anything aside.
 */
export function stillRows<T extends object>(
  order: readonly string[],
  all: readonly T[],
  idOf: (row: T) => string,
): { shown: T[]; changed: number } {
  const byId = new Map(all.map((row) => [idOf(row), row]));
  const known = order.flatMap((id) => byId.get(id) ?? []);
  if (known.length === 0) return { shown: [...all], changed: 0 };
  const places = new Set(known);
  const lastKnown = all.findLastIndex((row) => places.has(row));
  const fresh = all.slice(0, lastKnown).filter((row) => !places.has(row)).length;
  const inOrder = all.filter((row) => places.has(row));
  const risen = inOrder.filter((row, at) => known.indexOf(row) > at).length;
  return { shown: [...known, ...all.slice(lastKnown + 1)], changed: fresh + risen };
}
