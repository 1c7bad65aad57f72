import type { z } from 'zod';

/**
 * Only with numbers that are certain to be the ones that were written. The library has read the message by then, and
 * JavaScript rounds an integer beyond 2^53: the person would be shown other digits, and a filter would never match.
 */
export function exact<Schema extends z.ZodType>(schema: Schema): Schema {
  return schema.refine((given) => roundedIn(given) === null, {
    error: ({ input }) =>
      `holds ${roundedIn(input)}, which may not be the number that you wrote: write integers beyond ${Number.MAX_SAFE_INTEGER} as texts`,
  });
}

/** With a list instead of recursion: over stdio, content may be nested deeper than the stack is. */
function roundedIn(given: unknown): number | null {
  const left = [given];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value)) return value;
    if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) left.push(inner);
  }
  return null;
}
