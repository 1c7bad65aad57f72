import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import * as a2aNames from './a2a/index.ts';
import { faultOf } from './faults.ts';
import * as publicNames from './index.ts';
import { a2aExamples } from './testing/examples/a2a.example.ts';
import { akepExamples } from './testing/examples/akep.example.ts';
import { sharedExamples } from './testing/examples/shared.example.ts';
import { type Examples, openStage, SECRET } from './testing/examples/stage.ts';
import { wakeExamples } from './testing/examples/wake.example.ts';
import { TEST_KEY } from './testing/room.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const SUITES: Readonly<Record<string, Examples>> = {
  a2a: a2aExamples,
  akep: akepExamples,
  wake: wakeExamples,
  shared: sharedExamples,
};

interface Shown {
  readonly suite: string;
  readonly name: string;
  readonly text: string;
}

/** Every `@example` in the sources, with the name of what it documents. */
const shown: Shown[] = readdirSync(HERE, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.startsWith('testing'))
  .flatMap((path) => examplesIn(readFileSync(join(HERE, path), 'utf8')).map((one) => inSuite(path, one)));

function examplesIn(source: string): Omit<Shown, 'suite'>[] {
  const documented =
    /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:export |async |function |class |const |type )*(\w+)/g;
  return [...source.matchAll(documented)].flatMap(([, comment = '', name = '']) => {
    const text = comment.split('@example')[1]?.replaceAll(/^\s*\* ?/gm, '');
    return text === undefined ? [] : [{ name, text }];
  });
}

function inSuite(path: string, one: Omit<Shown, 'suite'>): Shown {
  return { suite: /^(a2a|akep|wake)\b/.exec(path)?.[0] ?? 'shared', ...one };
}

/** The code without what a formatter may change. */
function essence(code: string): string {
  return code.replaceAll(/\/\/.*$/gm, '').replaceAll(/[\s;{}]|,(?=\s*[})\]])/g, '');
}

const kept = Object.fromEntries(
  Object.keys(SUITES).map((suite) => [
    suite,
    essence(readFileSync(join(HERE, 'testing/examples', `${suite}.example.ts`), 'utf8')),
  ]),
);

describe('examples', () => {
  it('[W23] everything public has one', async () => {
    const { wake, inbox, producer } = await openStage();
    const functions = Object.entries({ ...publicNames, ...a2aNames }).filter(
      ([, value]) => typeof value === 'function',
    );
    const wanted = [
      ...functions.map(([name]) => name),
      ...[wake, inbox, producer].flatMap((client) => Object.keys(client)),
    ];
    const missing = wanted.filter((name) => !shown.some((one) => one.name === name));
    expect(missing).toEqual([]);
  });

  it.each(shown)('[W23] the comment on $suite $name is what compiles', ({ suite, name, text }) => {
    expect(SUITES[suite]).toHaveProperty(name);
    expect(kept[suite]).toContain(essence(text));
  });

  it.each(
    Object.entries(SUITES).flatMap(([suite, examples]) =>
      Object.entries(examples).map(([name, example]) => ({ suite, name, example })),
    ),
  )('[W23] $suite $name runs', async ({ example }) => {
    const env = { WAKE_API_KEY: TEST_KEY, WAKE_WEBHOOK_SECRET: SECRET, AKEP_WEBHOOK_SECRET: SECRET };
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
    onTestFinished(() => void vi.unstubAllEnvs());
    const stage = await openStage();
    // The server ends endless loops by refusing the key.
    const outcome = await example(stage).then(() => 'ended', faultOf);
    expect(['ended', 'unauthorized']).toContain(outcome);
    expect(stage.calls.flat()).not.toContain(400);
    expect(stage.calls.flat()).not.toContain(401);
  });
});
