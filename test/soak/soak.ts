import { onTestFinished, test } from 'vitest';
import { startPostgres } from '../../scripts/postgres.mjs';
import { Tally } from '../support/checker/tally.ts';
import { withStandby } from '../support/faults/databases.ts';
import { FAULTS, faultsOn, suffer } from '../support/faults/list.ts';
import { type Databases, Site, type SiteOptions } from '../support/faults/site.ts';
import { seededRun } from '../support/random.ts';
import { given } from '../support/until.ts';

/** How long one site lives, at most: everything it promised is compared at its end. */
const EPISODE_MS = 3 * 60_000;
/** Comparing takes as long again at worst. */
const ROOM_MS = 10 * 60_000;

const minutes = Number(process.env.LANTERNROOM_SOAK_MINUTES);
const random = seededRun(Date.now());
const tally = new Tally();

const STORES = {
  SQLite: () => Site.open({ random, tally }),
  PostgreSQL: async () => onPostgres({ random, tally, replicas: 2 + random.below(2) }),
} as const;

async function onPostgres(options: SiteOptions): Promise<Site> {
  const primary = await startPostgres({ settings: { synchronous_commit: 'on' } });
  const databases: Databases = await withStandby(primary);
  onTestFinished(async () => {
    await databases.standby.stop();
    await primary.stop();
  });
  return Site.open({ ...options, databases });
}

/** Faults at random until the time is up, then everything is compared. */
async function episode(store: keyof typeof STORES, until: number): Promise<void> {
  const site = await STORES[store]();
  site.checker.start();
  while (performance.now() < until) {
    const possible = faultsOn(store).filter((fault) => fault !== FAULTS.failOver || !site.isFailedOver);
    const fault = given(random.pick(possible), 'fault');
    process.stdout.write(`${new Date().toISOString()} ${store}: ${fault.name}\n`);
    await suffer(site, fault);
  }
  await site.checker.stop();
  await site.checker.verify();
  await site.close();
}

test.for(Object.keys(STORES) as (keyof typeof STORES)[])(
  '%s, faults at random',
  { timeout: (minutes * 60_000) / 2 + ROOM_MS },
  async (store) => {
    const end = performance.now() + (minutes * 60_000) / 2;
    try {
      while (performance.now() < end) await episode(store, Math.min(end, performance.now() + EPISODE_MS));
    } finally {
      process.stdout.write(`\n${tally.table()}\n\n`);
    }
  },
);
