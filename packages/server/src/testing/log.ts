import { onTestFinished, vi } from 'vitest';
import { stdout } from '../log.ts';

/** Everything that the server writes from now on until the test ends. */
export function captureLogText(): () => string {
  const written: string[] = [];
  const spy = vi.spyOn(stdout, 'put').mockImplementation((line) => {
    written.push(String(line));
    return line.length;
  });
  onTestFinished(() => spy.mockRestore());
  return () => written.join('');
}

/** The same, line by line. */
export function captureLog(): () => Record<string, unknown>[] {
  const text = captureLogText();
  return () =>
    text()
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
}
