import { onTestFinished, test } from 'vitest';
import { startPostgres } from '../../scripts/postgres.mjs';
import { Tally } from '../support/checker/tally.ts';
import { multitude } from '../support/faults/clients.ts';
import { withStandby } from '../support/faults/databases.ts';
import { FAULTS, type Fault, faultsOn, suffer } from '../support/faults/list.ts';
import { mayMakeNamespaces } from '../support/faults/namespace.ts';
import { databaseGone } from '../support/faults/network.ts';
import { type Databases, Site, type SiteOptions } from '../support/faults/site.ts';
import { seededRun } from '../support/random.ts';
import { given } from '../support/until.ts';

/** How long one site lives, at most: everything it promised is compared at its end. */
const EPISODE_MS = 3 * 60_000;
/** Comparing takes as long again at worst. */
const ROOM_MS = 10 * 60_000;

const minutes = Number(process.env.LANTERNROOM_SOAK_MINUTES);
/** One fault and no other, by a part of its name. */
const wanted = process.env.LANTERNROOM_SOAK_FAULT;
/** Fewer for a machine that is too small or too busy to have them all parked within their minute. */
const readers = Number(process.env.LANTERNROOM_SOAK_READERS ?? 10_000);
const random = seededRun(Date.now());
const isolated = mayMakeNamespaces();
const tally = new Tally();

const STORES = {
  SQLite: () => Site.open({ random, tally }),
  PostgreSQL: async () => onPostgres({ random, tally, isolated, replicas: 2 + random.below(2) }),
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

/** In the sizes of the contract, which take longer than a test should. */
const GREAT: readonly Fault[] = [
  {
    name: `${readers} long-polls, all woken`,
    on: FAULTS.crowd.on,
    strike: (site) => multitude(site, readers),
  },
  {
    name: 'the database gone for 30 s, then back',
    on: FAULTS.databaseGone.on,
    strike: (site) => databaseGone(site, 30_000),
  },
];

function possibleOn(store: keyof typeof STORES): Fault[] {
  const small = [FAULTS.crowd, FAULTS.databaseGone].map(({ name }) => name);
  const others = faultsOn(store).filter(({ name }) => !small.includes(name));
  return [...others, ...GREAT.filter(({ on }) => on.includes(store))];
}

/** Faults at random until the time is up, one at least, then everything is compared. */
async function episode(store: keyof typeof STORES, until: number): Promise<void> {
  const site = await STORES[store]();
  const named =
    wanted === undefined ? undefined : possibleOn(store).find(({ name }) => name.includes(wanted));
  site.checker.start();
  do {
    const possible = possibleOn(store).filter(
      ({ name }) => name !== FAULTS.failOver.name || !site.isFailedOver,
    );
    const fault = named ?? given(random.pick(possible), 'fault');
    const where = site.namespaces.length === 0 ? '' : ' (replicas in network namespaces)';
    process.stdout.write(`${new Date().toISOString()} ${store}${where}: ${fault.name}\n`);
    await suffer(site, fault);
  } while (performance.now() < until);
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
