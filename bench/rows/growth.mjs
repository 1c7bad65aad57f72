import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { startPostgres } from '../../scripts/postgres.mjs';
import { answerOf, remove, temporaryFolder } from '../servers.mjs';

const SIZES = [1_000, 100_000, 1_000_000];
const SIZES_QUICKLY = [1_000, 10_000, 50_000];
/** A thousand times as many rows are three more levels of a tree: a cost that grows faster grows with the history. */
const GOAL = { most: 2 };
/** The page caches of two connections and a thread fill up to 64 MiB each; nothing else may grow. */
const MEMORY_GOAL = { most: 3 };

/** What each step costs as the store grows: flat, or a little more for a deeper tree. */
export const growth = {
  name: 'GROWTH',
  run: ({ quick, say }) => grow({ sizes: quick ? SIZES_QUICKLY : SIZES, say }),
};

/** The same on PostgreSQL, one replica. */
export const growthOnPostgres = {
  name: 'GROWTH-PG',
  async run({ quick, say }) {
    const postgres = await startPostgres({
      durable: true,
      settings: { shared_buffers: '256MB', max_wal_size: '4GB' },
    });
    try {
      const env = {
        DATABASE_URL: postgres.url(),
        LANTERNROOM_SECRET: 'the master key of a store that grows',
      };
      return await grow({ sizes: quick ? SIZES_QUICKLY : upTo(process.env.BENCH_ROWS), say, env });
    } finally {
      await postgres.stop();
    }
  },
};

/** A million rows take half an hour there; with less time, name a smaller end. */
function upTo(most = '1000000') {
  return [10_000, 100_000, 1_000_000].filter((size) => size < Number(most)).concat(Number(most));
}

async function grow({ sizes, say, env = {} }) {
  say(`growing a store to ${sizes.map((size) => size.toLocaleString('en')).join(', ')} rows`);
  const folder = temporaryFolder();
  const child = fork(
    fileURLToPath(new URL('../workers/growing.mjs', import.meta.url)),
    [JSON.stringify({ folder, sizes, env })],
    { execArgv: ['--expose-gc'] },
  );
  const points = await answerOf(child, 'growing the store');
  remove(folder);
  return [...Object.keys(points[0].micros).map((step) => toResult(step, points)), memoryOf(points)];
}

/** Caches are bounded, so the process must not grow with the store. */
function memoryOf(points) {
  const [first, last] = [points[0], points.at(-1)];
  const mebibytes = (point) => single(point.bytes / 2 ** 20);
  return {
    what: `memory at ${last.size.toLocaleString('en')} deliveries, events and tasks`,
    unit: 'MiB',
    ours: mebibytes(last),
    against: `${first.size.toLocaleString('en')} of each`,
    baseline: mebibytes(first),
    ratio: single(last.bytes / first.bytes),
    goal: MEMORY_GOAL,
  };
}

function toResult(step, points) {
  const [first, last] = [points[0], points.at(-1)];
  const rows = (point) => `${point.size.toLocaleString('en')} rows`;
  return {
    what: `${step} at ${rows(last)}`,
    unit: 'µs',
    ours: single(last.micros[step]),
    against: rows(first),
    baseline: single(first.micros[step]),
    ratio: single(last.micros[step] / first.micros[step]),
    goal: GOAL,
    curve: points.map(({ size, micros }) => ({ size, micros: micros[step] })),
    step,
  };
}

const single = (value) => ({ median: value, min: value, max: value, rounds: [value] });
