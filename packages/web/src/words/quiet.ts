/** Whether a time lies in the quiet hours, which may run over midnight. */
export function isQuiet(quiet: { from: string; to: string }, at: Date, timeZone: string | null): boolean {
  const now = new Intl.DateTimeFormat('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    ...(timeZone === null ? {} : { timeZone }),
  }).format(at);
  return quiet.from <= quiet.to ? now >= quiet.from && now < quiet.to : now >= quiet.from || now < quiet.to;
}
