// The Python adapters against the real LangGraph, LangChain, OpenAI Agents, Pydantic AI and Google ADK: in a virtual environment of its own
// under .cache, because the SDK itself needs nothing and a fresh machine may not reach PyPI.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './child.mjs';
import { command, Stop } from './command.mjs';
import { runPythonTests } from './python-tests.mjs';
import { inRepo, readText } from './repo.mjs';
import { ensureBuilt, ensureInstalled } from './setup.mjs';

const FOLDER = inRepo('.cache/python-adapters');
const WANTED = 'python/adapter_tests/requirements.txt';

await command(async () => {
  await ensureInstalled();
  await ensureBuilt();
  const python = await ensureEnvironment();
  const folder = mkdtempSync(join(tmpdir(), 'lanternroom-python-'));
  try {
    const { passed, failed, trouble } = await runPythonTests({
      python,
      tests: 'python/adapter_tests',
      folder,
      env: process.env,
    });
    if (trouble) throw new Stop(trouble);
    console.log(`${passed} passed, ${failed} failed`);
    return failed === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

async function ensureEnvironment() {
  const python = join(FOLDER, 'bin/python');
  if (existsSync(python) && readText('.cache/python-adapters/installed.txt') === readText(WANTED))
    return python;
  rmSync(FOLDER, { recursive: true, force: true });
  await must('python3', ['-m', 'venv', FOLDER], 'python3 -m venv does not work here');
  await must(python, ['-m', 'pip', 'install', '--quiet', '-r', inRepo(WANTED)], 'PyPI cannot be reached');
  await must(
    python,
    [
      '-c',
      `import shutil; shutil.copy(${JSON.stringify(inRepo(WANTED))}, ${JSON.stringify(join(FOLDER, 'installed.txt'))})`,
    ],
    'the folder cannot be written',
  );
  return python;
}

async function must(program, args, reason) {
  const { code } = await run(program, args, { show: true, env: process.env });
  if (code !== 0) throw new Stop(`The frameworks could not be installed (${reason}); the details are above.`);
}
