import { LanternError } from '../faults.ts';

/** The text to send. A value that is not JSON, such as a cycle or a bigint, is the caller's mistake. */
export function writeJson(value: unknown): string {
  try {
    const text = JSON.stringify(value);
    // Checked only where it may have happened: a replacer function for every value is slow.
    if (text?.includes('null')) JSON.stringify(value, refuseUnwritable);
    return text;
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : 'unknown reason';
    throw new LanternError('wrong_usage', `What is to be sent is not JSON: ${why}.`, { cause });
  }
}

/** JSON has no form for these and would write null, which means something else. */
function refuseUnwritable(name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new TypeError(`${name === '' ? 'it' : JSON.stringify(name)} is ${value}`);
}
