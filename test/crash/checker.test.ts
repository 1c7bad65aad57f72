import { expect, test } from 'vitest';
import type { Checker } from '../support/checker/checker.ts';
import { spy } from '../support/checker/outside.ts';
import type { Law } from '../support/checker/tally.ts';
import { Site } from '../support/faults/site.ts';
import { seededRun } from '../support/random.ts';
import { AGENT } from '../support/server.ts';
import { given, until } from '../support/until.ts';

const UNKNOWN = '0b9c4a3e-0000-4000-8000-000000000000';

/** Each makes the clients remember something that the store does not say: as if the store had broken that law. */
const LIES: readonly { law: Law; says: RegExp; tell(checker: Checker): () => void }[] = [
  {
    law: 'L1',
    says: /the event evt_never is gone/,
    tell: ({ life: { book } }) => {
      book.events.push({ id: 'evt_never', fault: 'lie', accepted: true });
      return () => book.events.pop();
    },
  },
  {
    law: 'L1',
    says: /a decision on .* is gone: never said/,
    tell: ({ life: { book } }) => {
      const { asked } = given(book.entries[0], 'entry');
      asked.push({ status: 'approved', feedback: 'never said', reply: 'held', undone: 'no' });
      return () => asked.pop();
    },
  },
  {
    law: 'L2',
    says: /was given out 2 times/,
    tell: ({ life: { book } }) => {
      const id = given(book.tasks[0]?.id, 'task');
      book.runs.set(id, 2);
      return () => book.runs.set(id, 1);
    },
  },
  {
    law: 'L3',
    says: /the loop saw \d+, a new one \d+/,
    tell: ({ life: { book } }) => {
      const [first] = book.swept.splice(0, 1);
      return () => book.swept.unshift(given(first, 'swept'));
    },
  },
  {
    law: 'L3',
    says: /showed .* at place 1, where .* is/,
    tell: ({ life: { book } }) => {
      const { seen } = given(book.followers[0], 'follower');
      const [missed = ''] = seen.splice(1, 1);
      return () => seen.splice(1, 0, missed);
    },
  },
  {
    law: 'L4',
    says: /a poll had other bytes/,
    tell: ({ life: { book } }) => {
      const answered = given(book.swept[0], 'swept').id;
      book.polled.push({ id: answered, text: '{}', fault: 'lie' });
      return () => book.polled.pop();
    },
  },
  {
    law: 'L4',
    says: /the inbox and the poll disagree|answered with/,
    tell: ({ life: { book } }) => {
      const answered = given(book.swept[0], 'swept').id;
      const entry = given(
        book.entries.find(({ id }) => id === answered),
        'entry',
      );
      const before = entry.asked.splice(0);
      return () => entry.asked.push(...before);
    },
  },
  {
    law: 'L6',
    says: /0 lines event.accepted for evt_unwritten, and 1 changes/,
    tell: ({ life: { book } }) => {
      book.events.push({ id: 'evt_unwritten', fault: 'lie', accepted: true });
      return () => book.events.pop();
    },
  },
];

test('[D26] the checker of the fault tests finds what is lost, doubled, late, different, unwritten or told to strangers', async () => {
  const site = await Site.open({ random: seededRun() });
  const { checker } = site;
  const { life, tally } = checker;
  checker.start();
  const { book } = life;
  await until('there is something of everything', () => {
    const answered = book.swept.length > 5 && book.polled.length > 2;
    return answered && book.tasks.length > 3 && book.followers.every(({ seen }) => seen.length > 5);
  });
  await checker.stop();
  await checker.verify();

  for (const { law, says, tell } of LIES) {
    const takeBack = tell(checker);
    await expect(checker.verify()).rejects.toThrow(/broken promises/);
    const found = tally.broken.filter((problem) => problem.startsWith(law));
    expect([String(says), found.some((problem) => says.test(problem))]).toEqual([String(says), true]);
    tally.broken.length = 0;
    takeBack();
  }

  // A delivery that was promised and is not there.
  const entry = given(book.entries[0], 'entry');
  const real = entry.id;
  entry.id = UNKNOWN;
  await expect(checker.verify()).rejects.toThrow(`the delivery ${UNKNOWN} is gone`);
  tally.broken.length = 0;
  entry.id = real;

  // A stranger who gets the same answer as the agent's own key.
  await expect(spy(AGENT.key)(life)).rejects.toThrow(/a foreign look: 200/);

  // Two workers with the same callback at once, and a server that does not come back.
  checker.receiver.manners = (reply) => void setTimeout(() => reply.end(), 300);
  await Promise.all([1, 2].map(() => post(checker.receiver.address)));
  expect(tally.broken.some((problem) => /^L5.*at once/.test(problem))).toBe(true);
  tally.broken.length = 0;
  await site.close();
  life.doors.urls = site.servers.map(({ url }) => url);
  await checker.healthy(1000);
  expect(tally.broken.some((problem) => /^L8.*ready: not within/.test(problem))).toBe(true);
});

function post(address: string): Promise<Response> {
  return fetch(address, { method: 'POST', headers: { 'x-wake-delivery-id': 'the same' } });
}
