import { inRepo } from './repo.mjs';

/**
 * Loading fourteen hundred small files is most of a cold start, and Node 20 caches nothing of it. So the program is
 * also written as a few large files, which `lanternroom` runs; their content is the same.
 */
const FOLDER = 'packages/server/dist/bundle';

/**
 * The entry points by name: the command, its launcher, and the threads, which must lie beside the files that start
 * them.
 */
const ENTRIES = {
  run: 'packages/server/src/cli/run.ts',
  'start-memory': 'packages/server/src/cli/start-memory.ts',
  thread: 'packages/server/src/storage/intake/thread.ts',
  'folding-thread': 'packages/server/src/storage/sqlite/folding-thread.ts',
};

/** Left where npm put it: native code, and what few starts load. The package itself depends on each. */
const OUTSIDE = ['@photostructure/sqlite', '@node-rs/argon2', 'pg', 'nodemailer', '@simplewebauthn/server'];
const isOutside = (id) => OUTSIDE.some((name) => id === name || id.startsWith(`${name}/`));

/** Returns the files that it wrote, as paths from the root. */
export async function bundleServer() {
  // Imported here, so that nobody waits for it when everything is already built.
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
 * Names of files and exports stay the same from build to build: a running server loads some of them only when they
 * are needed. Nothing is minified, so that stack traces are readable; the maps name the sources.
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
