import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { command, passedOn } from './command.mjs';
import { runPython } from './python-tests.mjs';
import { ensureBuilt, ensureInstalled } from './setup.mjs';
import { ensureTestTools } from './test-tools.mjs';
import { runVitest } from './vitest.mjs';

await command(async () => {
  await ensureInstalled();
  await ensureBuilt(); // The black-box tests run what is built.
  await ensureTestTools();
  return report(await runAll(passedOn()));
});

async function runAll(filters) {
  const folder = mkdtempSync(join(tmpdir(), 'lanternroom-test-'));
  const env = testEnvironment();
  try {
    const vitest = runVitest({ filters, folder, env });
    // Filters are vitest's own; with filters, only those tests run.
    if (filters.length > 0) return [await vitest];
    const [results, python] = await Promise.all([vitest, runPython({ folder, env })]);
    process.stdout.write(python.output);
    return [results, python];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The tests' own settings only: a developer's `LANTERNROOM_PORT` or `DATABASE_URL` must not reach them. */
function testEnvironment() {
  const ours = /^(LANTERNROOM_(?!SEED$)|LANTERN_|WAKE_|AKEP_|DATABASE_URL$)/;
  const kept = Object.entries(process.env).filter(([name]) => !ours.test(name));
  const colour = process.stdout.isTTY ? { FORCE_COLOR: '1' } : { NO_COLOR: '1' };
  return { ...Object.fromEntries(kept), ...colour };
}

/** Prints the totals. Other programs read this line, so it stays the very last one. */
function report(results) {
  const sum = (pick) => results.reduce((total, result) => total + pick(result), 0);
  const troubles = results.flatMap((result) => result.trouble ?? []);
  const skipped = results.flatMap((result) => result.skipped);
  for (const trouble of troubles) console.log(trouble);
  // A name filter (-t) skips all other tests, so the names are worth printing only when everything was run.
  if (passedOn().length === 0 && skipped.length > 0) console.log(`Skipped: ${skipped.join(' · ')}`);
  const failed = sum((result) => result.failed) + troubles.length;
  console.log(`${sum((result) => result.passed)} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}
