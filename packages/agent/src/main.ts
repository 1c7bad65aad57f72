import { CommanderError } from 'commander';
import { createProgram } from './program.ts';
import { EXIT, UsageError, type World } from './world.ts';

const LOOK_FOR_PARENT_MS = 500;

/** Runs one command to its end and returns the exit code. Never throws. */
export async function main(argv: readonly string[], world: World): Promise<number> {
  let code: number = EXIT.done;
  try {
    await createProgram(world, (ended) => {
      code = ended;
    }).parseAsync([...argv], { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    world.err(`lantern: ${sentenceOf(error)}\n`);
    return isUsage(error) ? EXIT.usage : EXIT.failed;
  }
}

function isUsage(error: unknown): boolean {
  if (error instanceof UsageError) return true;
  const fault = error instanceof Error && 'fault' in error ? error.fault : null;
  return fault === 'wrong_usage' || fault === 'insecure_url';
}

function sentenceOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  // Part of it may be the server's words: one line, and nothing that controls a terminal.
  return text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim();
}

/** This machine. */
export function hostWorld(): World {
  process.stdout.on('error', outputLost);
  // The reader of our notes may leave; what is under way goes on.
  process.stderr.on('error', () => undefined);
  return {
    env: process.env,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
    stdin: readStdin,
    secret: async (question) => (await import('./terminal.ts')).readSecret(question),
    confirm: async (question) => (await import('./terminal.ts')).askYesNo(question),
    stopSignal,
  };
}

/** `lantern responses | head` closes the pipe early; that is not an error. A full disk is one: what was to be kept is not. */
function outputLost(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit();
  process.stderr.write(`lantern: The output cannot be written (${error.code}).\n`);
  process.exit(process.exitCode || EXIT.failed);
}

/** The first Ctrl-C asks to stop; the second ends the process, as without a handler. */
function stopSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  if (process.env.npm_command === 'exec') whenOrphaned(() => controller.abort());
  return controller.signal;
}

/** npx passes a signal only to the shell that it started us in: the shell ends, and we are left behind. */
function whenOrphaned(stop: () => void): void {
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    stop();
  }, LOOK_FOR_PARENT_MS);
  watch.unref();
}

async function readStdin(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
