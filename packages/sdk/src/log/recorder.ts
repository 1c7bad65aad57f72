import type { Clock } from '../clock.ts';
import type { WakeLog } from './log.ts';

export interface RecorderParts {
  readonly log: WakeLog;
  readonly clock: Clock;
  readonly apiKey: string;
  /** Base URL: one file may hold the lines of several servers. */
  readonly server: string;
}

export type Recorder = (event: string, facts: Readonly<Record<string, unknown>>) => Promise<void>;

/** Writes one line for each thing that happens, never with the key in it. */
export function createRecorder(parts: RecorderParts): Recorder {
  return async (event, facts) => {
    const at = new Date(parts.clock.now()).toISOString();
    const line = JSON.stringify({ at, event, server: parts.server, ...facts });
    await parts.log.append(withoutKey(line, parts.apiKey));
  };
}

// Agents do paste their environment into `details`; whatever else they log, it must not be this key.
function withoutKey(line: string, apiKey: string): string {
  return line.replaceAll(JSON.stringify(apiKey).slice(1, -1), '[api key]');
}
