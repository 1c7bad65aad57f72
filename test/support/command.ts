import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import { type AtEnd, inRepo } from './folder.ts';

export const LANTERNROOM = inRepo('packages/server/bin/lanternroom.js');
export const LANTERN = inRepo('packages/agent/bin/lantern.js');

export type Environment = Readonly<Record<string, string | undefined>>;
export type Ended = { code: number | null; stdout: string; stderr: string };

/** What a program needs of the machine, and none of a developer's own settings. */
export function cleanEnvironment(env: Environment = {}): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, LANG } = process.env;
  return { PATH, HOME, TMPDIR, LANG, ...env };
}

export type ChildOptions = {
  /** It starts others (a shell, npx), which are killed with it. */
  group?: boolean;
  atEnd?: AtEnd;
};

/** A program under test; killed when the test ends, if it still runs. */
export class Child {
  readonly process: ChildProcessByStdio<null, Readable, Readable>;
  stdout = '';
  stderr = '';
  readonly ended: Promise<Ended>;
  hasEnded = false;

  constructor(
    argv: readonly string[],
    env: Environment = {},
    { group = false, atEnd = onTestFinished }: ChildOptions = {},
  ) {
    const [file = '', ...args] = argv;
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe'];
    this.process = spawn(file, args, { env: cleanEnvironment(env), stdio, detached: group });
    this.process.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.process.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.ended = new Promise((resolve, reject) => {
      this.process.once('error', reject);
      this.process.once('close', (code) => {
        this.hasEnded = true;
        resolve({ code, stdout: this.stdout, stderr: this.stderr });
      });
    });
    atEnd(async () => {
      if (group) killGroup(this.process.pid);
      else this.process.kill('SIGKILL');
      await this.ended;
    });
  }
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody of it is left.
  }
}

export const node = (script: string, args: readonly string[] = []): string[] => [
  process.execPath,
  script,
  ...args,
];

/** `lanternroom …` to its end. */
export function lanternroom(args: readonly string[], env: Environment = {}): Promise<Ended> {
  return new Child(node(LANTERNROOM, args), env).ended;
}

/** `lantern …` to its end. */
export function lantern(args: readonly string[], env: Environment = {}): Promise<Ended> {
  return new Child(node(LANTERN, args), env).ended;
}
