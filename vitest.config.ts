import { defineConfig } from 'vitest/config';

// Siblings resolve from source, so unit tests need no build. The condition has a name of our own: several packages
// publish TypeScript under a plain "source", which Node cannot run.
const resolve = { conditions: ['lanternroom-source'] };
const ssr = { resolve: { conditions: ['lanternroom-source'], externalConditions: ['lanternroom-source'] } };

// A real PostgreSQL, started and stopped with the run.
const postgres = './packages/server/src/testing/postgres-server.ts';

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
          testTimeout: 30_000,
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
          // Files share a process, and with it what was imported and the databases that were made.
          isolate: false,
          globalSetup: postgres,
          testTimeout: 30_000,
        },
      },
      {
        resolve,
        ssr,
        test: {
          name: 'blackbox',
          include: ['test/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
    maxWorkers: 2,
  },
});
