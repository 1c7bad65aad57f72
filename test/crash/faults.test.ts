import { expect, test } from 'vitest';
import { LAWS } from '../support/checker/tally.ts';
import { FAULTS, faultsOn, suffer } from '../support/faults/list.ts';
import { Site } from '../support/faults/site.ts';
import { seededRun } from '../support/random.ts';

const ALL = faultsOn('SQLite');

test('[D26][D28][D30][W12][K11][A13] one server on SQLite, every fault after the other under load: L1 to L8 hold', async () => {
  const site = await Site.open({ random: seededRun() });
  const { checker } = site;
  checker.start();
  for (const fault of ALL) await suffer(site, fault);
  await suffer(site, FAULTS.kill); // once more, on what the others have left behind
  await checker.stop();
  await checker.verify();
  process.stdout.write(`${checker.tally.table()}\n`);
  await site.close();
  for (const { name } of ALL) expect([name, checker.tally.lawsUnder(name)]).toEqual([name, [...LAWS]]);
}, 1_800_000);
