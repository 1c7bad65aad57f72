const DAY = 86_400_000;

/** The ISO week before or after: `2026-W53` is followed by `2027-W01`. */
export function neighbourWeek(week: string, step: 1 | -1): string {
  const [, year = '1970', number = '1'] = /^(\d{4})-W(\d{2})$/.exec(week) ?? [];
  // The first week of a year is the one with 4 January in it.
  const fourth = Date.UTC(Number(year), 0, 4);
  const monday = fourth - ((new Date(fourth).getUTCDay() + 6) % 7) * DAY;
  return weekOf(monday + (Number(number) - 1 + step) * 7 * DAY);
}

export function weekOf(ms: number): string {
  const date = new Date(ms);
  const thursday = ms + (4 - (date.getUTCDay() || 7)) * DAY;
  const year = new Date(thursday).getUTCFullYear();
  const number = Math.ceil(((thursday - Date.UTC(year, 0, 1)) / DAY + 1) / 7);
  return `${year}-W${String(number).padStart(2, '0')}`;
}
