import { expect } from 'vitest';
import { lanternroom } from '../support/command.ts';

/** Runs a command that must succeed, for programs: exactly one JSON object and no other word. */
export async function run<T = Record<string, unknown>>(folder: string, ...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await lanternroom([...args, '--json', '--data', folder]);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

/** Runs one that must fail with this code and one sentence. */
export async function refused(code: number, says: RegExp, args: string[]): Promise<void> {
  const ended = await lanternroom(args);
  expect({ args, code: ended.code, stdout: ended.stdout }).toEqual({ args, code, stdout: '' });
  expect(ended.stderr).toMatch(says);
  expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1);
}
