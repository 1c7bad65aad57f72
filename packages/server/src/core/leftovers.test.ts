import { expect, test } from 'vitest';
import { opened, openInbox } from '../testing/akep/akep.ts';
import { Browser } from '../testing/desk/browser.ts';
import { aJob, anAttempt } from '../testing/stores/things.ts';
import { ManualClock, type World } from '../testing/world.ts';
import type { Job } from './sending/job.ts';
import { type HeadName, SERVER } from './store.ts';
import { DAY, HOUR, SECOND, toIso } from './time.ts';

const REQUEST = { url: 'https://example.com/hook', body: '{}' };

async function insertJobs(world: World, ...jobs: Partial<Job>[]): Promise<void> {
  const space = world.space.id;
  await world.room.store.write(space, [], async (tx) => {
    for (const over of jobs) {
      const job = aJob({ space, createdAt: 1, dueAt: world.room.clock.now(), ...over });
      await tx.jobs.insert(job, REQUEST);
      await tx.jobs.insertAttempt(anAttempt({ space, job: job.id, delivery: job.delivery }));
    }
  });
}

const jobsLeft = (world: World, ids: readonly string[]) =>
  world.room.store.read(world.space.id, async (tx) => {
    const found = await Promise.all(ids.map((id) => tx.jobs.get(id)));
    return found.flatMap((job) => job?.id ?? []);
  });

test('[D82] ended digests, forwards and pushes leave after a month, with their attempts; nothing else does', async () => {
  const clock = new ManualClock();
  const { world } = await openInbox({ clock });
  const later = clock.now() + 400 * DAY;
  await insertJobs(
    world,
    { id: 'digest', kind: 'digest', state: 'done', delivery: 'person' },
    { id: 'forward', kind: 'forward', state: 'given_up', delivery: 'event' },
    { id: 'push', kind: 'push', state: 'gone', delivery: 'task' },
    { id: 'callback', kind: 'callback', state: 'done', delivery: 'delivery' },
    { id: 'due', kind: 'digest', state: 'due', delivery: 'person 2', dueAt: later },
  );
  const all = ['digest', 'forward', 'push', 'callback', 'due'];
  await world.tick(30 * DAY - HOUR);
  expect(await jobsLeft(world, all)).toEqual(all);
  await world.tick(2 * HOUR);
  expect(await jobsLeft(world, all)).toEqual(['callback', 'due']);
  const attempts = await world.room.store.read(world.space.id, (tx) => tx.jobs.attempts('person'));
  expect(attempts).toEqual([]);
});

test('[D82][R12] a round removes all jobs and all counted guesses that are old, in as many steps as that takes', async () => {
  const clock = new ManualClock();
  const { world } = await openInbox({ clock });
  const ids = Array.from({ length: 1_001 }, (_, i) => `forward-${i}`);
  await insertJobs(world, ...ids.map((id): Partial<Job> => ({ id, kind: 'forward', state: 'done' })));
  await world.room.store.write(
    SERVER,
    ids.map((id): HeadName => `login:${id}`),
    async (tx) => {
      for (const id of ids) {
        await tx.heads.get(`login:${id}`);
        tx.heads.set(`login:${id}`, { n: 1, at: clock.now(), text: '' });
      }
    },
  );
  await world.tick(31 * DAY);
  expect(await jobsLeft(world, ids)).toEqual([]);
  await world.tick(61 * SECOND); // heads are walked in circles: the first round began where the last one had ended
  expect(await headsIn(world)(SERVER, 'login:forward')).toBe(0);
});

test('[D82] waits that have ended, by an event, by hand or by themselves, leave after a month; open ones stay', async () => {
  const clock = new ManualClock();
  const { world, sender } = await openInbox({ clock });
  const woken = await opened(world);
  await sender.sent({ routing: { resume_policy: 'resume_if_waiting' } });
  const ended = await opened(world);
  await world.desk('DELETE', `/akep/waits/${ended}`, undefined, world.agent.key);
  const expired = await opened(world, { expires_at: toIso(clock.now() + DAY) });
  const open = await opened(world);
  const left = () =>
    world.room.store.read(world.space.id, async (tx) => {
      const found = await Promise.all([woken, ended, expired, open].map((id) => tx.waits.get(id)));
      return found.flatMap((wait) => wait?.id ?? []);
    });
  await world.tick(29 * DAY);
  expect(await left()).toEqual([woken, ended, expired, open]);
  await world.tick(2 * DAY);
  expect(await left()).toEqual([open]);
});

const headsIn = (world: World) => (space: string, kind: string) =>
  world.room.store.read(space, async (tx) => {
    const found = await tx.leftovers.heads('', 1000);
    return found.filter(({ name }) => name.startsWith(kind)).length;
  });

test('[D3][D82] where a person logged in from is known for two months after the last time', async () => {
  const { world } = await openInbox({ clock: new ManualClock() });
  const heads = headsIn(world);
  const browser = new Browser(world);
  await browser.login();
  await world.tick(40 * DAY);
  await browser.login();
  await world.tick(59 * DAY);
  expect([await heads(SERVER, 'login:known:'), await heads(SERVER, 'login:')]).toEqual([1, 1]);
  await world.tick(2 * DAY);
  expect(await heads(SERVER, 'login:')).toBe(0);
});

test('[D82] a subject that was silent for as long as data is kept is forgotten, and guesses after two days', async () => {
  const clock = new ManualClock();
  const { world, sender } = await openInbox({ clock, env: { LANTERNROOM_RETENTION_DAYS: '10' } });
  const send = (task_id: string, sequence: number) =>
    sender.sent({ subject: { task_id }, routing: { resume_policy: 'append_only', sequence } });
  const heads = headsIn(world);
  await send('silent', 1);
  await send('busy', 1);
  await world.desk('POST', '/desk/session', { email: 'owner@example.com', password: 'wrong guess' }, '');
  expect(await heads(world.space.id, 'subject:')).toBe(2);
  expect(await heads(SERVER, 'login:')).toBeGreaterThan(0);
  await world.tick(3 * DAY);
  expect(await heads(SERVER, 'login:')).toBe(0);
  await send('busy', 2);
  await world.tick(8 * DAY);
  expect(await heads(world.space.id, 'subject:')).toBe(1);
  expect(await heads(world.space.id, 'ledger')).toBe(1);
  expect(await heads(world.space.id, 'inbox:')).toBe(1);
  await world.tick(3 * DAY);
  expect(await heads(world.space.id, 'subject:')).toBe(0);
  expect(await heads(SERVER, 'vault')).toBe(1);
});
