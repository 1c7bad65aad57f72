import type { DeliveryType } from '../api/types.ts';

/** As the server counts them (D34): an output has to be read, a question often needs only a word. */
const MINUTES: Record<DeliveryType, number> = { question: 1, alert: 1, output: 3, update: 0.5 };

export function minutesLeft(items: readonly { type: DeliveryType }[]): number {
  return Math.ceil(items.reduce((sum, { type }) => sum + MINUTES[type], 0));
}

/** "3 of 7 · about 6 minutes left" */
export function progressWords(at: number, count: number, minutes: number): [string, string] {
  return [`${at + 1} of ${count}`, `about ${longOrShort(minutes)} left`];
}

function longOrShort(minutes: number): string {
  if (minutes >= 90) return `${Math.round(minutes / 60)} hours`;
  return `${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;
}
