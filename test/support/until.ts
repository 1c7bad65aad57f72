/** Thrown when something did not come about in time; says what, and what was seen instead. */
class NotInTime extends Error {}

const LOOK_MS = 20;
/** Only what hangs should meet this: on a busy machine a server alone may take half a minute to start. */
const PATIENCE_MS = 240_000;

/**
 * Looks again and again until `look` gives something other than undefined or false. For what another process does in
 * its own time: a deadline, and no assertion about how long it took.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  withinMs = PATIENCE_MS,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > deadline) throw new NotInTime(`${what}: not within ${withinMs / 1000} s`);
    await pause(LOOK_MS);
  }
}

export function pause(millis: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, millis));
}

/** The value, or an error that names what is missing. */
export function given<T>(value: T | undefined | null, what: string): T {
  if (value === undefined || value === null) throw new Error(`there is no ${what}`);
  return value;
}

/** Several at a time, in order: enough to be quick, not so many that it becomes a load of its own. */
export async function each<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  atOnce = 16,
): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
    }),
  );
}
