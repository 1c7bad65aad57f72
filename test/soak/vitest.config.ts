import { defineConfig } from 'vitest/config';

/** For `npm run soak`, which `npm test` does not run. */
export default defineConfig({
  resolve: { conditions: ['lanternroom-source'] },
  ssr: { resolve: { conditions: ['lanternroom-source'], externalConditions: ['lanternroom-source'] } },
  test: { name: 'soak', include: ['test/soak/soak.ts'], hookTimeout: 120_000, fileParallelism: false },
});
