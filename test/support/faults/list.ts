import { LAWS } from '../checker/tally.ts';
import { crowd, deadWeight, flood, poison, together } from './clients.ts';
import { badNetwork, connectionsEnded, cutOff, databaseGone, failOver, laptopAway } from './network.ts';
import { freeze, kill, skew, stall, terminate } from './processes.ts';
import { badReceivers } from './receivers.ts';
import type { Site } from './site.ts';

type Store = 'SQLite' | 'PostgreSQL';

export type Fault = {
  readonly name: string;
  readonly on: readonly Store[];
  /** Begins the fault and ends it. */
  strike(site: Site): Promise<void>;
};

const BOTH: readonly Store[] = ['SQLite', 'PostgreSQL'];

/** Every fault that a site can be struck by while its clients go on; docs/reliability.md shows this list. */
export const FAULTS = {
  kill: { name: 'kill -9 under load, all doors at once', on: BOTH, strike: kill },
  terminate: { name: 'SIGTERM under load', on: BOTH, strike: terminate },
  stall: { name: 'the only server stands still', on: ['SQLite'], strike: stall },
  freeze: {
    name: 'one of three replicas frozen past its lease',
    on: ['PostgreSQL'],
    strike: (site) => freeze(site, async () => {}),
  },
  skew: { name: 'a replica whose clock is two hours off', on: ['PostgreSQL'], strike: skew },
  databaseGone: {
    name: 'the database gone, then back',
    on: ['PostgreSQL'],
    strike: (site) => databaseGone(site),
  },
  cutOff: { name: 'a replica cut off from the database', on: ['PostgreSQL'], strike: (site) => cutOff(site) },
  badNetwork: { name: 'a slow network that loses connections', on: ['PostgreSQL'], strike: badNetwork },
  connectionsEnded: {
    name: 'connections ended by the database, again and again',
    on: ['PostgreSQL'],
    strike: connectionsEnded,
  },
  failOver: { name: 'the primary killed, the standby promoted', on: ['PostgreSQL'], strike: failOver },
  badReceivers: {
    name: 'receivers that hang, drip, reset, babble, redirect',
    on: BOTH,
    strike: badReceivers,
  },
  laptopAway: { name: 'the laptop away in the middle of a task', on: BOTH, strike: laptopAway },
  flood: { name: 'a flood of duplicates', on: BOTH, strike: flood },
  poison: { name: 'poison events and deliveries', on: BOTH, strike: poison },
  together: { name: 'the same decision by two people at once', on: BOTH, strike: together },
  deadWeight: { name: 'slow readers and half-open sockets', on: BOTH, strike: deadWeight },
  crowd: { name: 'a crowd of long-polls, all woken', on: BOTH, strike: (site) => crowd(site) },
} satisfies Record<string, Fault>;

export async function suffer(site: Site, { name, strike }: Fault): Promise<void> {
  site.checker.under(name);
  await strike(site);
  await isOver(site);
}

export function faultsOn(store: Store): Fault[] {
  return Object.values<Fault>(FAULTS).filter(({ on }) => on.includes(store));
}

/** L8, and what can be said at once, under load, about the promises that were made meanwhile. */
export async function isOver({ checker, servers }: Site): Promise<void> {
  await checker.healthy();
  for (const { url, child } of servers) {
    if (child.hasEnded) throw new Error(`the server at ${url} ended by itself: ${child.stderr}`);
  }
  await checker.glance();
}

/** The table of docs/reliability.md. Every law is looked at under every fault; the tests of both stores hold that. */
export function faultTable(): string[] {
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  const cell = (is: boolean) => (is ? 'yes' : '–');
  const head = ['fault, while clients are at every door', 'SQLite', 'PostgreSQL', ...LAWS];
  const rows = Object.values<Fault>(FAULTS).map(({ name, on }) => [
    name,
    cell(on.includes('SQLite')),
    cell(on.includes('PostgreSQL')),
    ...LAWS.map(() => 'held'),
  ]);
  return [row(head), row(head.map(() => '---')), ...rows.map(row)];
}
