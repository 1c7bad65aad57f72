const FIRST_MS = 500;
const LONGEST_MS = 15_000;

/**
 * How long to wait before the next attempt to connect: it doubles up to 15 s, and half of it is random, so that a
 * thousand agents do not come back in the same instant after a restart.
 */
export function pauseBefore(attempt: number, random: number): number {
  const most = Math.min(FIRST_MS * 2 ** Math.min(attempt, 10), LONGEST_MS);
  return Math.round(most * (0.5 + 0.5 * random));
}
