import { expect, onTestFinished, test } from 'vitest';
import { startPostgres } from '../../scripts/postgres.mjs';
import { LAWS } from '../support/checker/tally.ts';
import { withStandby } from '../support/faults/databases.ts';
import { FAULTS, faultsOn, isOver, suffer } from '../support/faults/list.ts';
import { freeze } from '../support/faults/processes.ts';
import { Site } from '../support/faults/site.ts';
import { seededRun } from '../support/random.ts';

const ALL = faultsOn('PostgreSQL');

test('[R2][R4][R5][R6][R7] three replicas on PostgreSQL, every fault under load: L1 to L8 hold', async () => {
  // Of its own for each try: one that was cut off leaves a primary that waits for a standby, or none.
  const primary = await startPostgres({ settings: { synchronous_commit: 'on' } });
  onTestFinished(() => primary.stop());
  const databases = await withStandby(primary);
  onTestFinished(() => databases.standby.stop());
  const site = await Site.open({ random: seededRun(), databases, replicas: 3 });
  const { checker } = site;
  checker.start();
  // The third replica stands still for longer than any lease; the other faults strike the two that are left.
  checker.under(FAULTS.freeze.name);
  await freeze(site, async () => {
    const others = ALL.filter((fault) => fault !== FAULTS.freeze && fault !== FAULTS.failOver);
    for (const fault of others) await suffer(site, fault);
    checker.under(FAULTS.freeze.name);
  });
  await isOver(site);
  await suffer(site, FAULTS.failOver);
  await suffer(site, FAULTS.kill); // on the database that leads now
  await checker.stop();
  await checker.verify();
  process.stdout.write(`${checker.tally.table()}\n`);
  await site.close();
  for (const { name } of ALL) expect([name, checker.tally.lawsUnder(name)]).toEqual([name, [...LAWS]]);
}, 1_800_000);
