import { pause } from '../until.ts';
import { wrongClock } from '../wrong-clock.ts';
import type { Site } from './site.ts';

/** kill -9 at any moment; nobody is told, nothing is flushed. It comes back a little later. */
export async function kill(site: Site): Promise<void> {
  const at = site.pick();
  await pause(300 + site.random.below(1200)); // it strikes anywhere
  await site.server(at).kill();
  await site.without(at, async () => {
    await pause(site.random.below(800));
    await site.revive(at);
  });
}

export async function terminate(site: Site): Promise<void> {
  const at = site.pick();
  await pause(300 + site.random.below(1200));
  const { code, stderr } = await site.server(at).terminate();
  if (code !== 0) throw new Error(`SIGTERM ended the server with ${code}: ${stderr}`);
  await site.without(at, () => site.revive(at));
}

/** Longer than any lease lasts. */
const PAST_ITS_LEASE_MS = 33_000;

/** It stands still and does not know it, while `meanwhile` goes on; afterwards it believes that no time has passed. */
export async function freeze(site: Site, meanwhile: () => Promise<void>): Promise<void> {
  const at = site.servers.length - 1;
  const { receiver } = site.checker;
  const began = performance.now();
  receiver.mayOverlap = true;
  site.server(at).child.process.kill('SIGSTOP');
  await site.without(at, async () => {
    await meanwhile();
    await pause(Math.max(0, PAST_ITS_LEASE_MS - (performance.now() - began)));
  });
  site.server(at).child.process.kill('SIGCONT');
  await pause(500); // what it was about to send goes out now
  receiver.mayOverlap = false;
}

const TWO_HOURS_MS = 2 * 60 * 60_000;

/** One replica comes back with a wall clock that is hours off, works like the others, and comes back with a right one. */
export async function skew(site: Site): Promise<void> {
  const at = site.pick();
  const again = (env = {}) =>
    site.without(at, async () => {
      const { code, stderr } = await site.server(at).terminate();
      if (code !== 0) throw new Error(`SIGTERM ended the server with ${code}: ${stderr}`);
      await site.revive(at, env);
    });
  await again(wrongClock(site.random.below(2) === 0 ? TWO_HOURS_MS : -TWO_HOURS_MS));
  await pause(3000);
  await site.checker.healthy();
  await again();
}

/** The only one there is: everybody waits. */
export async function stall(site: Site): Promise<void> {
  const server = site.server(0);
  server.child.process.kill('SIGSTOP');
  await pause(2000);
  server.child.process.kill('SIGCONT');
}
