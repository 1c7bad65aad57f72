import { writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { rolldown } from 'rolldown';
import { noticesOf } from './notices.mjs';
import { inRepo, readJson } from './repo.mjs';

/**
 * Loading fourteen hundred small files is most of a cold start, and Node 20 caches nothing of it. So the program is
 * also written as a few large files, which `lanternroom` runs; their content is the same.
 *
 * A program of its own: `npm start` becomes the server, which would keep the half gigabyte that the bundler takes.
 */
const FOLDER = 'packages/server/dist/bundle';
/** The licences of what the bundle contains. */
const NOTICES = 'third-party.txt';

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

/**
 * Left where npm puts it: native code, and what few starts load. These are all that the package depends on; everything
 * else is inside the bundle, so whoever installs the package downloads nothing twice.
 */
const OUTSIDE = Object.keys(readJson('packages/server/package.json').dependencies);
const isOutside = (id) => OUTSIDE.some((name) => id === name || id.startsWith(`${name}/`));

/** Prints the files that it wrote, as paths from the root. */
async function bundleServer() {
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
    refuseStrays(output);
    writeFileSync(inRepo(FOLDER, NOTICES), noticesOf(output.flatMap(({ moduleIds }) => moduleIds ?? [])));
    for (const name of [NOTICES, ...output.map(({ fileName }) => fileName)]) console.log(`${FOLDER}/${name}`);
  } finally {
    await bundle.close();
  }
}

/** An import that was not found stays as it is, and would fail only where the package is installed. */
function refuseStrays(output) {
  const files = new Set(output.map(({ fileName }) => fileName));
  const strays = output
    .flatMap(({ imports = [], dynamicImports = [] }) => [...imports, ...dynamicImports])
    .filter((id) => !files.has(id) && !isBuiltin(id) && !isOutside(id));
  if (strays.length > 0) throw new Error(`The bundle would need ${strays.join(', ')} beside it.`);
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

await bundleServer();
