import { onTestFinished, vi } from 'vitest';

/** What the server writes from now on until the test ends, line by line. */
export function captureLog(): () => Record<string, unknown>[] {
  const written: string[] = [];
  const spy = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    written.push(String(chunk));
    return true;
  });
  onTestFinished(() => spy.mockRestore());
  return () =>
    written
      .join('')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
}
