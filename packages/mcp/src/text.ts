import { z } from 'zod';

/** At most so many characters as the doors and JSON Schema count them: zod counts an emoji twice. */
export function text(most: number) {
  const fits = (given: string) => given.length <= most || [...given].length <= most;
  return z
    .string()
    .min(1)
    .refine(fits, { error: `at most ${most} characters` })
    .meta({ maxLength: most });
}
