import { onTestFinished, vi } from 'vitest';
import { stdout } from '../log.ts';

/** What the server writes from now on until the test ends, line by line. */
export function captureLog(): () => Record<string, unknown>[] {
  const written: string[] = [];
  const spy = vi.spyOn(stdout, 'put').mockImplementation((line) => {
    written.push(String(line));
    return line.length;
  });
  onTestFinished(() => spy.mockRestore());
  return () =>
    written
      .join('')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
}
