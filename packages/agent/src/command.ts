import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import type { Socket } from 'node:net';
import type { World } from './world.ts';

/** How a command ended; `code` is null when a signal ended it. */
export interface Ended {
  readonly code: number | null;
  /** The last of what it said on standard error. */
  readonly tail: string;
}

const TAIL_LENGTH = 1_000;
const NOT_FOUND = 127;
/** For what is still in the pipes when the command has ended. */
const LAST_WORDS_MS = 1_000;

/** The end of a text, and not from the middle of a character on: half of one is refused wherever it is sent to. */
export function endOf(text: string, length: number): string {
  return text.slice(-length).replace(/^[\udc00-\udfff]/, '');
}

/** Runs a command line in the shell, with `input` on its standard input and its output passed on. */
export function runCommand(
  command: string,
  input: string,
  world: Pick<World, 'env' | 'out' | 'err'>,
): Promise<Ended> {
  return new Promise((resolve) => {
    // In its own process group: Ctrl-C then reaches us and not the command, which may finish.
    const detached = process.platform !== 'win32';
    const child = spawn(command, { shell: true, stdio: 'pipe', env: { ...world.env }, detached });
    let tail = '';
    child.stdout.setEncoding('utf8').on('data', world.out);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      tail = endOf(tail + text, TAIL_LENGTH);
      world.err(text);
    });
    child.on('error', (error) => resolve({ code: NOT_FOUND, tail: error.message }));
    whenEnded(child, (code) => resolve({ code, tail: tail.trim() }));
    // A command that does not read its input closes the pipe early; that is its own business.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
  });
}

/** The command's own end counts. What it has started and left behind may hold its pipes for days, and goes on by itself. */
function whenEnded(child: ChildProcessWithoutNullStreams, tell: (code: number | null) => void): void {
  let waiting: NodeJS.Timeout | undefined;
  child.once('exit', (code) => {
    waiting = setTimeout(() => {
      child.stdin.destroy();
      for (const pipe of [child.stdout, child.stderr]) (pipe as Socket).unref();
      tell(code);
    }, LAST_WORDS_MS);
  });
  child.once('close', (code) => {
    clearTimeout(waiting);
    tell(code);
  });
}
