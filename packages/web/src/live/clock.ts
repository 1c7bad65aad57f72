/**
 * The server's time. Its timestamps (the end of a held decision, the age of an arrival) are on its own clock, and the
 * browser's may be hours off. Every answer carries the server's time, to the second; as long as the two clocks may
 * agree, the browser's is used as it is.
 */
const SLACK_MS = 2_000;
const SECOND_MS = 1_000;

let offset = 0;
const listeners = new Set<() => void>();

export const serverNow = () => Date.now() + offset;

/** Compares the clocks: the answer was given while the browser's clock went from `askedAt` to `now`. */
export function compareClocks(date: string | null, askedAt: number, now = Date.now()): void {
  const said = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(said)) return;
  const [least, most] = [said - SLACK_MS - now, said + SECOND_MS + SLACK_MS - askedAt];
  // The browser's clock was set during the request, so this answer tells nothing.
  if (least > most) return;
  if (offset >= least && offset <= most) return;
  offset = least <= 0 && most >= 0 ? 0 : Math.round((least + most) / 2);
  for (const tell of listeners) tell();
}

export const onClockChanged = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};
