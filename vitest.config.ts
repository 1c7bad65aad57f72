import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/longest-first.mjs';

// Siblings resolve from source, so unit tests need no build. The condition has a name of our own: several packages
// publish TypeScript under a plain "source", which Node cannot run.
const resolve = { conditions: ['lanternroom-source'] };
const ssr = { resolve: { conditions: ['lanternroom-source'], externalConditions: ['lanternroom-source'] } };

// A real PostgreSQL, started and stopped with the run.
const postgres = './packages/server/src/testing/postgres/postgres-server.ts';

// A time limit is there to end what hangs, and says nothing about speed: it must hold on a machine that has ten times
// as much to do.
// What fails among real processes, browsers and databases is tried once more; the run ends with the names of those
// that needed it (scripts/second-tries.mjs).
const patience = { retry: 1, testTimeout: 900_000, hookTimeout: 900_000, teardownTimeout: 60_000 };

// Files share a process, and with it what was imported (the whole server, for most of them) and the databases that
// were made. What a test changes of the process is put back after it.
const shared = {
  isolate: false,
  restoreMocks: true,
  unstubEnvs: true,
  unstubGlobals: true,
  setupFiles: ['./packages/server/src/testing/seed.ts'],
};

// The same for all projects, so that they are one queue: what computes runs beside what waits, and no core is idle
// before the last file. Unit tests wait for a quarter of the time, black-box tests for half of it.
const workers = { maxWorkers: availableParallelism() * 2 };

export default defineConfig({
  test: {
    projects: [
      {
        resolve,
        ssr,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'packages/*/src/**/*.test.tsx'],
          globalSetup: postgres,
          ...shared,
          ...workers,
          ...patience,
        },
      },
      {
        // The doors once more, on the other database.
        resolve,
        ssr,
        test: {
          name: 'postgres',
          include: ['packages/server/src/{protocols,desk}/**/*.test.ts'],
          env: { LANTERNROOM_TEST_STORE: 'postgres' },
          globalSetup: postgres,
          ...shared,
          ...workers,
          ...patience,
        },
      },
      {
        resolve,
        ssr,
        test: {
          name: 'blackbox',
          include: ['test/**/*.test.ts'],
          ...workers,
          ...patience,
        },
      },
    ],
    sequence: { sequencer: LongestFirst },
  },
});
