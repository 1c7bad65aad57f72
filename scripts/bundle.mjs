import { inRepo } from './repo.mjs';

/**
 * Loading fourteen hundred small files is most of a cold start, and Node 20 keeps nothing of it for the next one. So the
 * program is also written as a few large files, which is what `lanternroom` runs; what they hold is the same.
 */
const FOLDER = 'packages/server/dist/bundle';

/** By these names they are run: the command, what it runs under, and the threads beside the files that start them. */
const ENTRIES = {
  run: 'packages/server/src/cli/run.ts',
  'start-memory': 'packages/server/src/cli/start-memory.ts',
  thread: 'packages/server/src/storage/intake/thread.ts',
  'folding-thread': 'packages/server/src/storage/sqlite/folding-thread.ts',
};

/** Left where npm put it: what is native, and what few starts load. The package itself depends on each. */
const OUTSIDE = ['@photostructure/sqlite', '@node-rs/argon2', 'pg', 'nodemailer', '@simplewebauthn/server'];
const isOutside = (id) => OUTSIDE.some((name) => id === name || id.startsWith(`${name}/`));

/** Returns the files that it wrote, as paths from the root. */
export async function bundleServer() {
  // Loaded here, because whoever finds everything built should not wait for it.
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    cwd: inRepo('packages/server'),
    input: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, inRepo(path)])),
    platform: 'node',
    external: isOutside,
    resolve: { conditionNames: ['lanternroom-source', 'node'] },
    transform: { target: 'node20.19' },
  });
  try {
    const { output } = await bundle.write(OUTPUT);
    return output.map(({ fileName }) => `${FOLDER}/${fileName}`);
  } finally {
    await bundle.close();
  }
}

/**
 * Names of files and exports stay what they are from build to build: a server that runs meanwhile loads some of them
 * only when they are needed. Nothing is shortened, so that a stack trace can be read; the maps name the sources.
 */
const OUTPUT = {
  dir: inRepo(FOLDER),
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  minifyInternalExports: false,
  sourcemap: true,
  sourcemapExcludeSources: true,
};
