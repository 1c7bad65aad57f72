import { LanternError } from './faults.ts';

/** The text that travels. What is no JSON, such as a circle or a bigint, is the caller's to mend. */
export function writeJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : 'unknown reason';
    throw new LanternError('wrong_usage', `What is to be sent is not JSON: ${why}.`, { cause });
  }
}
