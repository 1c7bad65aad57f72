import type { Clock } from '@lanternroom/sdk/wake';

/** Everything a command touches outside itself, so that a test can stand in for the machine. */
export interface World {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly stdin: () => Promise<string>;
  /** One line from a person, not shown while it is typed; all of standard input when there is no terminal. */
  readonly secret?: (question: string) => Promise<string>;
  /** Yes or no from a person; null when there is nobody to ask. */
  readonly confirm?: (question: string) => Promise<boolean | null>;
  readonly clock?: Clock;
  /** Fires when the system asks us to stop. Only for commands that finish what they have begun. */
  readonly stopSignal?: () => AbortSignal;
}

/** The exit codes of the commands. 0, 1 and 2 are common to all; the others are answers. */
export const EXIT = { done: 0, failed: 1, usage: 2, rejected: 3, redirected: 4, timedOut: 5 } as const;

/** Wrong usage that was found after the arguments were read. */
export class UsageError extends Error {}
