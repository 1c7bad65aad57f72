import { existsSync } from 'node:fs';
import { runNode } from './child.mjs';
import { command } from './command.mjs';
import { filesUnder, inRepo, workspaceDirs } from './repo.mjs';
import { ensureInstalled } from './setup.mjs';

const tool = (path) => inRepo('node_modules', path);
// The tools write into a pipe, so they cannot tell whether a person is looking.
const colour = Boolean(process.stdout.isTTY);
const env = colour ? { ...process.env, FORCE_COLOR: '1' } : process.env;

const CHECKS = {
  'format and lint': () => [
    [tool('@biomejs/biome/bin/biome'), 'ci', '.', `--colors=${colour ? 'force' : 'off'}`],
  ],
  types: () =>
    workspaceDirs()
      .filter(hasTypes)
      .map((dir) => [tool('typescript/bin/tsc'), '-p', dir, '--pretty', String(colour)]),
  'dead code': () => [[tool('knip/bin/knip.js'), '--no-progress']],
};

await command(async () => {
  await ensureInstalled();
  // All at once: each is mostly one thread, and the longest decides how long this takes.
  const results = await Promise.all(Object.entries(CHECKS).map(([name, calls]) => check(name, calls())));
  return results.every(Boolean) ? 0 : 1;
});

async function check(name, calls) {
  const failures = [];
  // One after the other within a check: the compiler uses the second core by itself.
  for (const args of calls) {
    const { code, output } = await runNode(args, { env });
    if (code !== 0) failures.push(output.trim());
  }
  console.log(failures.length === 0 ? `${name} ok` : `${failures.join('\n')}\n${name} FAILED`);
  return failures.length === 0;
}

/** The compiler takes an empty package for an error. */
function hasTypes(dir) {
  return existsSync(inRepo(dir, 'tsconfig.json')) && filesUnder(dir).some((path) => /\.tsx?$/.test(path));
}
