import { execFile } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { cleanEnvironment, LANTERN } from '../support/command.ts';
import { inRepo, temporaryFolder } from '../support/folder.ts';
import { pause } from '../support/until.ts';
import { sharedWorkplaces, type Workplace } from './desk.ts';

const openWorkplace = sharedWorkplaces();

const run = promisify(execFile);
const SKILL = inRepo('skills/lanternroom');

const FILES = readdirSync(SKILL, { recursive: true, encoding: 'utf8' })
  .filter((path) => statSync(join(SKILL, path)).isFile())
  .sort();

/** The fenced blocks of a language, in their order. */
function blocksIn(path: string, language: string): string[] {
  const text = readFileSync(join(SKILL, path), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code]) => code ?? '',
  );
}

/** A person who approves everything on the desk until the test ends. */
function approveAll(place: Workplace): void {
  let isOver = false;
  const work = (async () => {
    while (!isOver) {
      for (const { delivery_id } of await place.waiting())
        await place.desk.decide(delivery_id, { status: 'approved' });
      await pause(50);
    }
  })();
  onTestFinished(async () => {
    isOver = true;
    await work;
  });
}

/** A machine where `lantern` is on the PATH and the SDK is installed. */
async function machine() {
  const place = await openWorkplace();
  approveAll(place);
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/lantern'), `#!/bin/sh\nexec "${process.execPath}" "${LANTERN}" "$@"\n`);
  chmodSync(join(folder, 'bin/lantern'), 0o755);
  symlinkSync(inRepo('node_modules'), join(folder, 'node_modules'));
  const env = cleanEnvironment({ ...place.env, PATH: `${join(folder, 'bin')}:${process.env.PATH}` });
  return { folder, env };
}

test('[W23] every command in the skill does what the skill says', async () => {
  const { folder, env } = await machine();
  let ran = 0;
  for (const path of FILES) {
    for (const code of blocksIn(path, 'sh')) {
      const ended = await run('sh', ['-euc', code], { cwd: folder, env }).catch((error: Error) => error);
      expect(ended, `${path}:\n${code}`).not.toBeInstanceOf(Error);
      ran += 1;
    }
  }
  expect(ran).toBeGreaterThan(9);
});

test('[W20] every program in the skill runs', async () => {
  const { folder, env } = await machine();
  const programs = FILES.flatMap((path) => blocksIn(path, 'js'));
  expect(programs).toHaveLength(1);
  for (const [at, code] of programs.entries()) {
    const file = join(folder, `program-${at}.mjs`);
    writeFileSync(file, code);
    expect((await run(process.execPath, [file], { cwd: folder, env })).stdout).toBe(
      'refused, as it should be\n',
    );
  }
});
