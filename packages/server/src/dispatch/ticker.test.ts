import { expect, onTestFinished, test, vi } from 'vitest';
import type { Store } from '../core/store.ts';
import { SECOND } from '../core/time.ts';
import { openDesk } from '../testing/desk.ts';
import type { World } from '../testing/world.ts';
import { Ticker } from './ticker.ts';

/** A ticker of our own on the world's store, and how often it has looked for what is due. */
function countingTicker({ room }: World) {
  const seen = { rounds: 0 };
  const { directory } = room.store;
  const heldDue: typeof directory.heldDue = (...asked) => {
    seen.rounds++;
    return directory.heldDue(...asked);
  };
  const store: Store = {
    directory: { ...directory, heldDue },
    read: (space, work) => room.store.read(space, work),
    write: (space, heads, work) => room.store.write(space, heads, work),
  };
  const ticker = new Ticker({
    room: { ...room, store },
    wakeups: { on: () => () => {} },
    retentionDays: 365,
    checkpoint: async () => {},
    presence: [],
    warn: () => {},
  });
  return { ticker, seen };
}

const TURNS = 20;
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('[D13] what is due and cannot be settled is tried once a second, not all the time', async () => {
  const { world, clock } = await openDesk();
  const odd = await world.deliver();
  await world.running.ticker.stop();
  await world.sql('update deliveries set effect_at = ? where delivery_id = ?', clock.now() - SECOND, odd);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const { ticker, seen } = countingTicker(world);
  ticker.start();
  for (let millis = 0; millis < 2_500; millis += 10) {
    for (let n = 0; n < TURNS; n++) await turn();
    vi.advanceTimersByTime(10);
  }
  vi.useRealTimers();
  await ticker.stop();
  expect(seen.rounds).toBeGreaterThan(0);
  expect(seen.rounds).toBeLessThanOrEqual(3);
});
