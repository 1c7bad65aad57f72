import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run } from './child.mjs';
import { inRepo } from './repo.mjs';

// unittest's own last lines count differently from release to release, and a class that fails in its set-up is not in
// "Ran N tests" at all. So we count what happens to each test ourselves.
const DRIVER = `
import json, sys, unittest

class Counted(unittest.TextTestResult):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.passed, self.failed, self.left_out = set(), set(), set()
    def addSuccess(self, test):
        super().addSuccess(test); self.passed.add(test.id())
    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err); self.passed.add(test.id())
    def addError(self, test, err):
        super().addError(test, err); self.failed.add(test.id())
    def addFailure(self, test, err):
        super().addFailure(test, err); self.failed.add(test.id())
    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test); self.failed.add(test.id())
    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None: self.failed.add(test.id())
    def addSkip(self, test, reason):
        super().addSkip(test, reason); self.left_out.add(test.id())

suite = unittest.defaultTestLoader.discover(sys.argv[1])
result = unittest.TextTestRunner(resultclass=Counted, stream=sys.stdout).run(suite)
with open(sys.argv[2], 'w') as report:
    json.dump({
        'passed': len(result.passed - result.failed),
        'failed': len(result.failed),
        'skipped': sorted(result.left_out),
    }, report)
`;

const NOTHING = { passed: 0, failed: 0, skipped: [], output: '' };
const MISSING = {
  ...NOTHING,
  output: 'The Python tests need python3, which is not here; they did not run.\n',
};

/**
 * Runs the tests of the Python SDK and returns `{ passed, failed, skipped, trouble, output }`. Other tests run beside
 * it, so the caller shows its output when they are done.
 */
export async function runPython({ folder, env }) {
  const of = (tests) => runPythonTests({ python: 'python3', tests, folder, env, show: false });
  const bare = await of('python/tests');
  // Those of the adapters need the frameworks; `node scripts/python-adapters.mjs` installs them for itself.
  if (bare === MISSING || !(await hasFrameworks(env))) return bare;
  const more = await of('python/adapter_tests');
  return {
    passed: bare.passed + more.passed,
    failed: bare.failed + more.failed,
    skipped: [...bare.skipped, ...more.skipped],
    trouble: bare.trouble ?? more.trouble,
    output: bare.output + more.output,
  };
}

/** One folder of tests, with one interpreter. */
export async function runPythonTests({ python, tests, folder, env, show = true }) {
  if (!existsSync(inRepo(tests))) return NOTHING;
  const report = join(folder, `${basename(tests)}.json`);
  const ended = await start(python, ['-c', DRIVER, inRepo(tests), report], { env, show });
  if (!ended) return MISSING;
  const { output } = ended;
  if (!existsSync(report))
    return {
      ...NOTHING,
      output,
      trouble: `${python} ended with code ${ended.code} before the tests did; the reason is above.`,
    };
  const counts = JSON.parse(readFileSync(report, 'utf8'));
  const found = counts.passed + counts.failed + counts.skipped.length > 0;
  return { ...counts, output, trouble: found ? undefined : `${tests} has no test in it.` };
}

async function hasFrameworks(env) {
  const ended = await start('python3', ['-c', 'import agents, langchain, langgraph'], { env, show: false });
  return ended?.code === 0;
}

async function start(program, args, { env, show }) {
  const path = { PYTHONPATH: inRepo('python'), PYTHONDONTWRITEBYTECODE: '1' };
  try {
    return await run(program, args, { show, env: { ...env, ...path } });
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}
