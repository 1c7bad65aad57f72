import { clock, day } from '../words/time.ts';

export type SnoozeTime = { label: string; at: string };

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/**
 * The times people usually mean: an hour, the next sitting, this morning or evening, tomorrow, Monday. Days are those
 * of this browser's time zone.
 */
export function snoozeTimes(now: number, nextSitting: string | null): SnoozeTime[] {
  const at = (days: number, hour: number) => {
    const date = new Date(now);
    date.setDate(date.getDate() + days);
    date.setHours(hour, 0, 0, 0);
    return date.getTime();
  };
  const toMonday = (8 - new Date(now).getDay()) % 7 || 7;
  const times: [string, number][] = [['In an hour', now + HOUR]];
  if (nextSitting !== null && Date.parse(nextSitting) > now)
    times.push(['Next sitting', Date.parse(nextSitting)]);
  // After midnight, the morning that people mean is that of the day that has begun.
  if (at(0, 9) - now > HOUR) times.push(['This morning', at(0, 9)]);
  if (at(0, 18) - now > HOUR) times.push(['This evening', at(0, 18)]);
  times.push(['Tomorrow morning', at(1, 9)]);
  if (toMonday > 1) times.push(['Next week', at(toMonday, 9)]);
  // The next sitting is often tomorrow morning too, and the same choice twice would only make one wonder.
  const once = times.filter(([, time], index) => times.findIndex(([, other]) => other === time) === index);
  return once.map(([name, time]) => ({
    label: `${name}, ${when(name, time, now)}`,
    at: new Date(time).toISOString(),
  }));
}

/** The next minute as a field for a time reads it, in the browser's time zone: what is past cannot be chosen. */
export function soonest(now: number): string {
  const next = new Date(now + MINUTE);
  const numbers = [next.getMonth() + 1, next.getDate(), next.getHours(), next.getMinutes()];
  const [month, date, hour, minute] = numbers.map((number) => String(number).padStart(2, '0'));
  return `${next.getFullYear()}-${month}-${date}T${hour}:${minute}`;
}

/** The day is left out when it is today, or when the name says it already. */
function when(name: string, time: number, now: number): string {
  const which = day(time, now);
  const isSaid = which === 'today' || name.toLowerCase().includes(which);
  return isSaid ? clock(time) : `${which} ${clock(time)}`;
}
