// The adapters for Mastra and Google ADK against the real packages. Apart from `npm test`: together they bring more
// than 550 packages and 400 MB, some with install scripts, which a fresh machine should not have to load.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { runNode, runNpm } from './child.mjs';
import { command, Stop } from './command.mjs';
import { inRepo, readText } from './repo.mjs';
import { ensureBuilt, ensureInstalled } from './setup.mjs';

const FOLDER = '.cache/extra-adapters';
// Mastra 1 needs Node 22; 0.24 is the last line that accepts Node 20. ADK accepts both.
const MASTRA = Number(process.versions.node.split('.')[0]) < 22 ? '0.24.9' : '1.71.0';
const WANTED = ['@google/adk@2.0.0', `@mastra/core@${MASTRA}`, 'zod@4.6.7'];

await command(async () => {
  await ensureInstalled();
  await ensureBuilt();
  await ensureFrameworks();
  const env = { ...process.env, EXTRA_FRAMEWORKS: inRepo(FOLDER) };
  const tests = ['adk', 'mastra'].map((name) => inRepo(`test/extra/${name}.test.mjs`));
  const { code } = await runNode(['--test', ...tests], { show: true, env });
  return code;
});

async function ensureFrameworks() {
  const done = `${FOLDER}/installed.txt`;
  if (existsSync(inRepo(done)) && readText(done) === WANTED.join('\n')) return;
  rmSync(inRepo(FOLDER), { recursive: true, force: true });
  mkdirSync(inRepo(FOLDER), { recursive: true });
  writeFileSync(inRepo(FOLDER, 'package.json'), '{ "private": true }\n');
  console.error('Installing Mastra and Google ADK…');
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', inRepo(FOLDER)];
  const { code, output } = await runNpm(['install', ...flags, ...WANTED]);
  if (code !== 0)
    throw new Stop(`${output.trim()}\n\nThe frameworks could not be installed; the reasons are above.`);
  writeFileSync(inRepo(done), WANTED.join('\n'));
}
