import { constants } from 'node:os';
import { pathToFileURL } from 'node:url';
import { inRepo } from './repo.mjs';

/** An expected end: its message is for the person at the terminal, so it is shown without a stack. */
export class Stop extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }

  static bySignal(signal) {
    return new Stop('', 128 + constants.signals[signal]);
  }
}

/** Arguments for the program behind a script. npm removes the `--`; `node scripts/x.mjs -- …` does not. */
export const passedOn = () => process.argv.slice(process.argv[2] === '--' ? 3 : 2);

/** Runs a script's body. The exit code is set rather than forced, so that everything printed gets out. */
export async function command(body) {
  try {
    process.exitCode = (await body()) ?? 0;
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    if (error.message) console.error(error.message);
    process.exitCode = error.exitCode;
  }
}

/**
 * Turns this process into another program of ours. No child in between: a signal reaches the program itself, its
 * exit code is ours, and a hard kill leaves no orphan behind.
 */
export async function become(path, args) {
  process.argv = [process.execPath, inRepo(path), ...args];
  await import(pathToFileURL(inRepo(path)).href);
}
