import { expect, test } from 'vitest';
import { excess, explaining } from '../../testing/stores/query-plans.ts';
import { blobRows } from '../rows/tasks/blobs.ts';
import { callerRows, cardRows, taskDirectory } from '../rows/tasks/callers.ts';
import { frameRows, linkRows } from '../rows/tasks/frames.ts';
import { pushRows } from '../rows/tasks/pushes.ts';
import { taskRows } from '../rows/tasks/tasks.ts';

test('[A9] no statement of the relay reads more than it returns', async () => {
  const session = explaining();
  const tasks = taskRows(session, 'sp_1');
  const mine = { agent: 'a', caller: 'c' };
  await tasks.get('t');
  await tasks.bySeq(1);
  await tasks.newestIn('a', 'c', 'ctx');
  await tasks.hasContext('a', 'ctx');
  await tasks.list({ ...mine, limit: 50 });
  await tasks.list({ ...mine, limit: 50, before: { changedAt: 1, seq: 1 } });
  await tasks.list({ limit: 50 });
  await tasks.list({ limit: 50, before: { changedAt: 1, seq: 1 } });
  await tasks.byKey('k');
  await tasks.log(1, 0, 10);
  await tasks.entry(1, 1);
  await tasks.sizes(1, 0, 10);
  await tasks.saidSizes(1, 10, 10);
  await tasks.said(1, 1, 10);
  const frames = frameRows(session, 'sp_1');
  await frames.forLink('a', 'l', 0, 100);
  await frames.acknowledge('a', 1);
  await frames.adopt('a', 'l', 'm');
  await frames.waiting('a', 10);
  await linkRows(session, 'sp_1').of('a');
  await linkRows(session, 'sp_1').renew('a', 'l', { now: 0, until: 1 });
  await pushRows(session, 'sp_1').of(1);
  await callerRows(session, 'sp_1').list('a');
  await cardRows(session, 'sp_1').get('a');
  await blobRows(session, 'sp_1').byDigest('d');
  await blobRows(session, 'sp_1').isUsed(1, 'b');
  await blobRows(session, 'sp_1').unused(1, 10);
  await blobRows(session, 'sp_1').unnamed('a', 1);
  await taskDirectory(session).callerByDigest('d');
  await taskDirectory(session).agentAddress('home', 'a');
  await taskDirectory(session).lostLinks(1, 10);
  expect(session.plans.length).toBeGreaterThan(20);
  expect(session.plans.flatMap(excess)).toEqual([]);
});

test('[A9][A22] those in a state that few are in are found without passing the others', async () => {
  const session = explaining();
  const tasks = taskRows(session, 'sp_1');
  const mine = { agent: 'a', caller: 'c' };
  const before = { changedAt: 1, seq: 1 };
  for (const whose of [mine, { agent: 'a' }, {}]) {
    for (const more of [{}, { before }, { changedAfter: 1 }]) {
      await tasks.list({ ...whose, ...more, limit: 50 });
      await tasks.list({ ...whose, ...more, limit: 50, state: 'failed' });
    }
    await tasks.count(whose, 50);
    await tasks.count({ ...whose, state: 'failed' }, 50);
  }
  await tasks.deleteEndedBefore(1, 10);
  const reading = session.plans.flatMap(({ steps }) => steps).filter((step) => / tasks /.test(step));
  expect(reading.length).toBeGreaterThan(50);
  expect(reading.filter((step) => !step.includes('is_direct=? AND state=?'))).toEqual([]);
  const ofOne = reading.filter((step) => step.includes('agent_id=?'));
  expect(ofOne.length).toBeGreaterThan(reading.length / 2);
  expect(session.plans.flatMap(excess)).toEqual([]);
});
