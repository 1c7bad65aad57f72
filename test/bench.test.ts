import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { inRepo, temporaryFolder } from './support/folder.ts';
import { usePostgres } from './support/postgres.ts';

const cluster = usePostgres();

/** The one message of a program of the bench. */
async function answerOf(program: string, wanted: object): Promise<unknown> {
  const path = inRepo(`bench/${program}`);
  const args = [JSON.stringify({ folder: temporaryFolder(), ...wanted })];
  // Without the options of the tests' own process, which runs the sources.
  const child = fork(path, args, { silent: true, execArgv: [] });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    said += chunk.toString();
  });
  const failed = once(child, 'exit').then(() => {
    throw new Error(`${program} ended without an answer: ${said}`);
  });
  const [message] = await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => {});
  return message;
}

/** They call the core directly, beside the types: a change there must not wait for the next long run to be noticed. */
test('the programs of the bench that fill a store, and time its steps, fit the core as it is', async () => {
  const callbacks = ['http://127.0.0.1:9/hook'];
  expect(await answerOf('stores/seed.mjs', { total: 20, fresh: 5, open: 3, callbacks })).toMatchObject({
    token: expect.any(String),
    waiting: { length: 3 },
  });
  expect(await answerOf('stores/seed-agents.mjs', { count: 3 })).toMatchObject({ keys: { length: 3 } });
  const [point] = (await answerOf('workers/growing.mjs', { sizes: [256], groups: 1, looks: 2 })) as [
    { micros: Record<string, number> },
  ];
  expect(Object.values(point.micros)).toEqual(Array(9).fill(expect.any(Number)));
});

test('the programs of the bench that work on PostgreSQL fit the store and the dispatcher as they are', async () => {
  const env = {
    DATABASE_URL: await cluster.database(),
    LANTERNROOM_SECRET: 'a secret of the bench '.repeat(3),
  };
  const folder = temporaryFolder();
  await answerOf('stores/seed.mjs', {
    folder,
    total: 0,
    fresh: 3,
    callbacks: ['http://127.0.0.1:9/hook'],
    env,
  });
  const rate = { perSecond: expect.any(Number) };
  expect(await answerOf('workers/queues.mjs', { folder, kind: 'ours', total: 3, env })).toEqual(rate);
  const times = { warmupMs: 1, measureMs: 1 };
  for (const kind of ['store', 'raw', 'least'])
    expect(await answerOf('workers/replica.mjs', { folder, kind, n: 1, env, times })).toMatchObject(rate);
});
