import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runNode } from './child.mjs';
import { inRepo } from './repo.mjs';

/** Runs vitest and returns `{ passed, failed, skipped, trouble }`, counted from its report and not from its text. */
export async function runVitest({ filters, folder, env }) {
  const report = join(folder, 'vitest.json');
  const { code } = await runNode(
    [
      inRepo('node_modules/vitest/vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=json',
      `--reporter=${inRepo('scripts/second-tries.mjs')}`,
      `--outputFile.json=${report}`,
      ...filters,
    ],
    { show: true, env },
  );
  return summarise(existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined, code);
}

function summarise(report, code) {
  const files = report?.testResults ?? [];
  const tests = files.flatMap((file) => file.assertionResults);
  const withStatus = (...statuses) => tests.filter((test) => statuses.includes(test.status));
  // A file that could not be loaded contains no tests and would otherwise not be counted.
  const broken = files.filter((file) => file.status === 'failed' && !file.assertionResults.some(isFailed));
  const counts = {
    passed: withStatus('passed').length,
    failed: tests.filter(isFailed).length + broken.length,
    skipped: withStatus('skipped', 'pending', 'todo', 'disabled').map((test) => test.fullName),
  };
  return { ...counts, trouble: trouble(counts, code) };
}

const isFailed = (test) => test.status === 'failed';

function trouble({ passed, failed }, code) {
  if (failed > 0) return undefined;
  if (code !== 0) return `vitest ended with code ${code} although no test failed; the reason is above.`;
  return passed === 0 ? 'vitest found no test.' : undefined;
}
