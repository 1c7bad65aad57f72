/**
 * The agent's own append-only record (W23). Two methods, so that any store can be one; lines are JSON objects
 * without a line break.
 */
export interface WakeLog {
  append(line: string): Promise<void>;
  /** Lines that were appended since the last call, by anyone; at first all of them. */
  newLines(): Promise<string[]>;
  /** The same line by line, for a log that may not fit into memory. Used instead of `newLines` where it exists. */
  eachNewLine?(take: (line: string) => void): Promise<void>;
}

/**
 * A log that lives as long as the page or worker. On Node the default is a file instead.
 *
 * @example
 * const wake = createWake({ url, apiKey, log: memoryLog() });
 */
export function memoryLog(): WakeLog & { readonly lines: readonly string[] } {
  const lines: string[] = [];
  let seen = 0;
  return {
    lines,
    append: async (line) => {
      lines.push(line);
    },
    newLines: async () => {
      const fresh = lines.slice(seen);
      seen = lines.length;
      return fresh;
    },
  };
}
