import { expect, onTestFinished, test, vi } from 'vitest';
import { SERVER, type Store } from '../core/store.ts';
import { DAY, type Micros, SECOND } from '../core/time.ts';
import { openDesk } from '../testing/desk/desk.ts';
import { signal } from '../testing/network/receivers.ts';
import { until } from '../testing/waiting.ts';
import { checked } from '../testing/wake.ts';
import type { World } from '../testing/world.ts';
import { Ticker, type TickerParts } from './ticker.ts';

/** A ticker of our own on the world's store, and how often it has looked for what is due. */
function countingTicker(
  { room }: World,
  checkpoint = async () => {},
  presence: TickerParts['presence'] = [],
) {
  const seen = { rounds: 0, wake: () => {} };
  const { directory } = room.store;
  const heldDue: typeof directory.heldDue = (...asked) => {
    seen.rounds++;
    return directory.heldDue(...asked);
  };
  const store: Store = {
    directory: { ...directory, heldDue },
    isAway: false,
    read: (space, work) => room.store.read(space, work),
    write: (space, heads, work) => room.store.write(space, heads, work),
  };
  const ticker = new Ticker({
    room: { ...room, store },
    wakeups: {
      on: (_, wake) => {
        seen.wake = wake;
        return () => {};
      },
    },
    retentionDays: 365,
    checkpoint,
    presence,
    warn: () => {},
  });
  return { ticker, seen };
}

/** One that has something due which cannot be settled, and timers that wait to be told. */
async function stuckTicker() {
  const { world, clock } = await openDesk();
  const odd = await world.deliver();
  await world.running.ticker.stop();
  await world.sql('update deliveries set effect_at = ? where delivery_id = ?', clock.now() - SECOND, odd);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  return countingTicker(world);
}

/** Lets the event loop turn, so that work under way makes progress; the timers' clock moves independently. */
async function pass(wantedMillis: number, each = (_millis: number) => {}): Promise<void> {
  for (let millis = 0; millis < wantedMillis; millis += 10) {
    each(millis);
    for (let n = 0; n < TURNS; n++) await turn();
    vi.advanceTimersByTime(10);
  }
}

const TURNS = 20;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('[D13] what is due and cannot be settled is tried once a second, not all the time', async () => {
  const { ticker, seen } = await stuckTicker();
  ticker.start();
  await pass(2_500);
  vi.useRealTimers();
  await ticker.stop();
  expect(seen.rounds).toBeGreaterThan(0);
  expect(seen.rounds).toBeLessThanOrEqual(3);
});

test('[D13] news in the meantime does not put the next try off', async () => {
  const { ticker, seen } = await stuckTicker();
  ticker.start();
  await pass(3_500, (millis) => millis % 200 === 0 && seen.wake());
  vi.useRealTimers();
  await ticker.stop();
  expect(seen.rounds).toBeGreaterThanOrEqual(3);
  expect(seen.rounds).toBeLessThanOrEqual(5);
});

test('[D13][R12] a decision does not wait for the chores', async () => {
  const { world, clock } = await openDesk();
  const id = await world.deliver();
  await world.running.ticker.stop();
  const [reached, released] = [signal(), signal()];
  const { ticker } = countingTicker(world, async () => {
    reached.fire();
    await released.seen;
  });
  ticker.start();
  await reached.seen; // its chores take as long as they like
  await world.decide(id, { status: 'approved' });
  clock.turn(60 * SECOND);
  await until(async () => (await checked(world, id)).status === 'approved');
  released.fire();
  await ticker.stop();
});

test('a round that is asked for ends after the chores, including those that a concurrent round began', async () => {
  const { world } = await openDesk();
  await world.running.ticker.stop();
  const gate = () => ({ reached: signal(), released: signal() });
  const [own, asked, chores] = [gate(), gate(), gate()];
  const pass = async ({ reached, released }: ReturnType<typeof gate>) => {
    reached.fire();
    await released.seen;
  };
  const ends = [own, asked];
  const flushIfDue = async () => {
    const end = ends.shift();
    if (end !== undefined) await pass(end);
  };
  const { ticker } = countingTicker(world, () => pass(chores), [{ flushIfDue }]);
  const order: string[] = [];
  ticker.start();
  await own.reached.seen;
  const round = ticker.tick().then(() => order.push('the round that was asked for'));
  await asked.reached.seen;
  own.released.fire();
  await chores.reached.seen;
  asked.released.fire();
  for (let n = 0; n < TURNS; n++) await turn();
  order.push('the chores');
  chores.released.fire();
  await round;
  await ticker.stop();
  expect(order).toEqual(['the chores', 'the round that was asked for']);
});

test('[R12] nothing old is removed soon after a start, nor after the clock was set forward', async () => {
  const { world, clock } = await openDesk();
  await world.running.ticker.stop();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { ticker } = countingTicker(world);
  const isThere = async () => {
    const heads = await world.room.store.read(SERVER, (tx) => tx.leftovers.heads('', 100));
    return heads.some(({ name }) => name === 'login:somebody');
  };
  const remember = (at: Micros) =>
    world.room.store.write(SERVER, ['login:somebody'], async (tx) => {
      await tx.heads.get('login:somebody');
      tx.heads.set('login:somebody', { n: 1, at, text: '' });
    });
  const goOn = async (millis: number) => {
    for (const step of [millis - 2 * MINUTE_MS, MINUTE_MS, MINUTE_MS]) {
      clock.turn(step * 1000);
      vi.advanceTimersByTime(step);
      await pass(1_500);
    }
  };
  await remember(clock.now() - 90 * DAY);
  ticker.start();
  await goOn(9 * MINUTE_MS);
  expect(await isThere()).toBe(true);
  await goOn(4 * MINUTE_MS);
  expect(await isThere()).toBe(false);
  await remember(clock.now());
  clock.turn(90 * DAY);
  await goOn(5 * HOUR_MS);
  expect(await isThere()).toBe(true);
  clock.turn(-90 * DAY); // what was wrong is set right
  await goOn(3 * HOUR_MS);
  expect(await isThere()).toBe(true);
  vi.useRealTimers();
  await ticker.stop();
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
