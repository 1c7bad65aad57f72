import { setTimeout as pause } from 'node:timers/promises';
import type { World } from './world.ts';

/** Short, but long enough that waiting is not what keeps the machine busy. */
const LOOK_MS = 5;

/** Asks again and again until it is so; the test's own time limit is the end of its patience. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await pause(LOOK_MS);
}

async function gauge(world: World, name: string): Promise<number> {
  const text = await (await world.desk('GET', '/metrics')).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
}

/** That many long-polls wait now. */
export function untilParked(world: World, count: number): Promise<void> {
  return until(async () => (await gauge(world, 'lanternroom_parked_requests')) === count);
}

/** That many live streams are open now. */
export function untilStreaming(world: World, count: number): Promise<void> {
  return until(async () => (await gauge(world, 'lanternroom_open_streams')) === count);
}

/** Some at a time: a thousand connections at once are more than a busy machine answers in time. */
export async function each<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<unknown>,
  atOnce = 50,
): Promise<void> {
  const left = [...items];
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
    }),
  );
}
