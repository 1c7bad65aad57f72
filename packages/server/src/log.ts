import { writeSync } from 'node:fs';
import pino, { type Logger } from 'pino';

/** Returns how many bytes were taken; throws when none can be. */
type Put = (line: Buffer) => number;

/** Where the lines go. Tests read them there. */
export const stdout = { put: (line: Buffer): number => writeSync(1, line) };

/**
 * JSON lines on stdout. A log that cannot be written, because its disk is full or its reader is gone, costs lines and
 * nothing else: what the logging library does by itself then is to try for ever, and the whole server stands still.
 */
export function openLog(level: string, put: Put = (line) => stdout.put(line)): Logger {
  let missing = 0;
  let isCut = false;
  const write = (text: string): void => {
    const line = Buffer.from(isCut ? `\n${text}` : text);
    try {
      isCut = put(line) < line.length;
    } catch {
      missing++;
      return;
    }
    if (isCut) missing++;
    else tellMissing();
  };
  // Times that a person can read; programs read them as well as numbers.
  const log = pino({ level, timestamp: pino.stdTimeFunctions.isoTime }, { write });
  const tellMissing = () => {
    if (missing === 0) return;
    const lines = missing;
    missing = 0;
    log.warn({ lines }, 'the log could not be written; lines are missing');
    if (missing > 0) missing += lines - 1; // nor could this
  };
  return log;
}
