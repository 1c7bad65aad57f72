import { LanternError } from './faults.ts';

/** The text that travels. What is no JSON, such as a circle or a bigint, is the caller's to mend. */
export function writeJson(value: unknown): string {
  try {
    const text = JSON.stringify(value);
    // Looked at a second time only where it may have happened: a function that is asked for every value takes long.
    if (text?.includes('null')) JSON.stringify(value, refuseUnwritable);
    return text;
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : 'unknown reason';
    throw new LanternError('wrong_usage', `What is to be sent is not JSON: ${why}.`, { cause });
  }
}

/** JSON has no word for these and would say null, which is something else. */
function refuseUnwritable(name: string, value: unknown): unknown {
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new TypeError(`${name === '' ? 'it' : JSON.stringify(name)} is ${value}`);
}
