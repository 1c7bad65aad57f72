import { onDatabase } from '../postgres.ts';
import { given, pause } from '../until.ts';
import type { Cable, Site } from './site.ts';

const wiresOf = ({ toPrimary, toStandby }: Cable) => [toPrimary, toStandby];

/** As after a crash of the database server: it is gone without a word, and recovers when it is started. */
export async function databaseGone(site: Site, millis = 3000): Promise<void> {
  await site.leader.halt('immediate');
  await pause(millis);
  await site.leader.start();
}

/**
 * A pulled cable between one replica and the database, or between it and everybody where it has a network of its own.
 * The others do not notice.
 */
export async function cutOff(site: Site, millis = 12_000): Promise<void> {
  const at = site.pick();
  const namespace = site.namespaces[at];
  const wires = namespace === undefined ? wiresOf(given(site.cables[at], 'cable')) : [namespace];
  const { receiver } = site.checker;
  const { url } = site.server(at);
  receiver.mayOverlap = true;
  if (namespace !== undefined) site.away.add(url);
  for (const wire of wires) wire.cut();
  await site.without(at, () => pause(millis));
  for (const wire of wires) wire.mend();
  site.away.delete(url);
  receiver.mayOverlap = false;
}

/** Everything to and from the database takes its time, and connections break now and then. */
export async function badNetwork(site: Site): Promise<void> {
  const wires = site.cables.flatMap(wiresOf);
  for (const wire of wires) wire.delay(20 + site.random.below(80));
  for (let times = 0; times < 4; times++) {
    await pause(700);
    site.random.pick(wires)?.reset();
  }
  for (const wire of wires) wire.mend();
}

/** An administrator ends every connection, again and again, in whatever phase each one is. */
export async function connectionsEnded(site: Site): Promise<void> {
  const { name } = given(site.databases, 'PostgreSQL here');
  const end = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`;
  for (let times = 0; times < 20; times++) {
    await pause(50 + site.random.below(150));
    await onDatabase(site.leader.url(), end);
  }
}

/** kill -9 of the primary; a moment later the standby is told to lead. Clients only retry. */
export async function failOver(site: Site): Promise<void> {
  const { primary, standby } = given(site.databases, 'PostgreSQL here');
  await pause(500 + site.random.below(1000));
  process.kill(primary.pid, 'SIGKILL');
  await pause(1000);
  await standby.promote();
  site.isFailedOver = true;
}

/** The laptop's network goes and comes while it works. */
export async function laptopAway(site: Site): Promise<void> {
  for (let times = 0; times < 3; times++) {
    await pause(300 + site.random.below(500));
    site.front.reset();
  }
  site.front.cut();
  await pause(1500);
  site.front.mend();
  site.front.reset();
}
