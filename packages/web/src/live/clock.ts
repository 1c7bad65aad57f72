/**
 * The server's time. What it says of moments (a held decision's end, an arrival's age) is meant on its clock, and the
 * browser's may be hours off. Every answer carries the server's, to the second; as long as both can be the same, the
 * browser's is taken as it is.
 */
const SLACK_MS = 2_000;
const SECOND_MS = 1_000;

let offset = 0;
const listeners = new Set<() => void>();

export const serverNow = () => Date.now() + offset;

/** An answer was given while the browser's clock went from `askedAt` to now. */
export function compareClocks(date: string | null, askedAt: number, now = Date.now()): void {
  const said = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(said)) return;
  const [least, most] = [said - SLACK_MS - now, said + SECOND_MS + SLACK_MS - askedAt];
  // The clock of the browser was set while it waited: nothing can be told from this one.
  if (least > most) return;
  if (offset >= least && offset <= most) return;
  offset = least <= 0 && most >= 0 ? 0 : Math.round((least + most) / 2);
  for (const tell of listeners) tell();
}

export const onClockChanged = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};
