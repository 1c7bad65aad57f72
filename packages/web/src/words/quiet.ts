type Hours = { from: string; to: string };

/** Whether a time of day lies in the quiet hours, which may run over midnight. */
export const isWithin = ({ from, to }: Hours, clock: string) =>
  from <= to ? clock >= from && clock < to : clock >= from || clock < to;

/** Whether a moment lies in them, on the clock of the time zone. */
export function isQuiet(quiet: Hours, at: Date, timeZone: string | null): boolean {
  const now = new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(timeZone === null ? {} : { timeZone }),
  }).format(at);
  return isWithin(quiet, now);
}
