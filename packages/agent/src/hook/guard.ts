import { writeSync } from 'node:fs';
import { HOOK_HELP } from './help.ts';

/**
 * The hook as a process. Whatever happens in it, the tool runs only when a person said so: hosts let a tool run when
 * its hook crashes, is late or ends with a code they do not know, so every way out of here but one is exit code 2 with
 * a reason on standard error. This file imports next to nothing, and everything else from inside its own fence.
 */

const DENIED = 2;
const LONGEST_INPUT = 8 * 1024 * 1024;
const LONGEST_REASON = 8_000;
// The host writes its input at once; input that does not end is not a call.
const INPUT_MS = 5_000;

let isSettled = false;

export async function guardedHook(argv: readonly string[]): Promise<void> {
  if (argv.includes('--help') || argv.includes('-h')) return showHelp();
  fence();
  try {
    const [{ runHook }, { ownDeadlineMs, readFlags }] = await Promise.all([
      import('./run.ts'),
      import('./flags.ts'),
    ]);
    const flags = readFlags(argv);
    const deadlineMs = 'wrong' in flags ? INPUT_MS : ownDeadlineMs(flags.hostTimeoutSeconds);
    setTimeout(() => deny('No answer in time.'), Math.max(deadlineMs - process.uptime() * 1_000, 0)).unref();
    const said = await runHook(argv, {
      env: process.env,
      out: () => undefined,
      err: () => undefined,
      stdin: readInput,
    });
    if (said.mayRun) letThrough(said.out);
    else deny(said.reason);
  } catch (error) {
    deny(sentenceOf(error));
  }
}

function fence(): void {
  process.exitCode = DENIED;
  process.on('uncaughtException', (error) => deny(sentenceOf(error)));
  process.on('unhandledRejection', (error) => deny(sentenceOf(error)));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => deny(`The hook was stopped by ${signal} before a person answered.`));
  }
  // The last resort: nothing left to do and nothing decided. Some hosts need a reason to take code 2 for a no.
  process.on('exit', () => {
    if (isSettled) return;
    say('The hook ended without an answer.');
    process.exitCode = DENIED;
  });
  process.stdout.on('error', () => deny('The host does not read what the hook says.'));
}

function letThrough(out: string): void {
  const end = () => {
    isSettled = true;
    process.exit(0);
  };
  if (out === '') end();
  else process.stdout.write(`${out}\n`, (error) => (error ? deny('The host has gone.') : end()));
}

function deny(reason: string): never {
  if (!isSettled) say(reason);
  isSettled = true;
  process.exit(DENIED);
}

function say(reason: string): void {
  const text = reason.replaceAll(/(?![\n\t])\p{Cc}/gu, ' ').slice(0, LONGEST_REASON);
  try {
    writeSync(2, `Lanternroom did not let this run. ${text}\n`);
  } catch {
    // Nobody reads it, but the exit code still says no.
  }
}

async function readInput(): Promise<string> {
  const late = setTimeout(() => deny('The host did not finish saying what would run.'), INPUT_MS);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    size += chunk.length;
    if (size > LONGEST_INPUT) deny('The call is larger than 8 MiB, so nobody can look at it.');
    chunks.push(chunk);
  }
  clearTimeout(late);
  return Buffer.concat(chunks).toString('utf8');
}

function sentenceOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.trim() === '' ? 'The hook failed.' : text;
}

function showHelp(): void {
  process.stdout.write(HOOK_HELP);
}
