import { type Clock, systemClock } from '../clock.ts';
import { readEndpoint } from '../http/endpoint.ts';
import { fileJournal, memoryJournal, type TaskJournal } from './journal.ts';
import { LaptopSide } from './laptop-side.ts';
import type { LinkTrouble } from './link.ts';
import { type OpenSocket, openSocket } from './socket.ts';
import type { AgentTask, Said } from './task.ts';
import { createUpload } from './upload.ts';

/** How a handler may answer: nothing and words complete the task; an object says which state. */
export type HandlerReply =
  | Said
  | {
      readonly state: 'completed' | 'failed' | 'rejected' | 'input_required' | 'auth_required';
      readonly said?: Said;
    }
  | undefined;

/** Works on one turn. What it returns is said to the caller and ends the turn; a throw fails the task. */
export type TaskHandler = (task: AgentTask) => Promise<HandlerReply> | Promise<void> | HandlerReply | void;

/** Whose agent this is, what it does, and what it remembers. */
export interface ConnectOptions {
  /** Base URL of the server. */
  readonly url: string;
  /** The agent's key. */
  readonly apiKey: string;
  /**
   * Called for each turn, four at a time, and one at a time within a context. What it returns ends the turn; when it
   * throws, the task fails and `onError` is told why. Without it, the tasks are to be had by iterating.
   */
  readonly onTask?: TaskHandler | undefined;
  /**
   * A folder in which the connection remembers what it took and said. With it a task that was begun is never begun a
   * second time, and what was said reaches the hub also after a crash. Without it both holds as long as the process
   * lives: a task that was under way when the process died comes again.
   */
  readonly state?: string | undefined;
  /** Instead of `state`: a store of your own. */
  readonly journal?: TaskJournal | undefined;
  /**
   * Called instead of `onTask` for a turn that an earlier process had begun and not ended. Without it such a task fails
   * with a sentence that says so.
   */
  readonly onInterrupted?: TaskHandler | undefined;
  /**
   * Whether a task counts as working as soon as its handler is called. Say false where the handler answers with a
   * message alone (`task.reply`) and callers stream: a stream that was told of a task ends with one.
   */
  readonly accept?: boolean | undefined;
  /** How many turns at a time: 4. */
  readonly concurrency?: number | undefined;
  /** Events of the agent's AKEP inbox on the same connection; acknowledged when the handler is done. */
  readonly onEvent?: ((event: unknown, cursor: string) => Promise<void> | void) | undefined;
  readonly onResume?: ((resume: unknown) => Promise<void> | void) | undefined;
  /** Told each time the connection stands; `agent` is `@handle/name`. */
  readonly onConnected?: ((agent: string) => void) | undefined;
  /** Told each time it is gone or could not be opened, with the pause until the next try. */
  readonly onTrouble?: ((trouble: LinkTrouble) => void) | undefined;
  /** Told what handlers throw, and what the hub refuses. */
  readonly onError?: ((error: unknown, task: AgentTask | null) => void) | undefined;
  /** Ends the connection like `stop()`. */
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: Clock | undefined;
  /** Where the package `ws` does not run. It must send the header Authorization, which browsers do not let pages do. */
  readonly openSocket?: OpenSocket | undefined;
}

/** An agent at its public address. Iterating it hands out the turns, where there is no `onTask`. */
export interface Connection extends AsyncIterable<AgentTask> {
  readonly isConnected: boolean;
  /**
   * Settles when the connection has ended: after `stop()`, or with the fault for which trying again is of no use (a
   * refused key, a state folder that somebody else uses).
   */
  readonly closed: Promise<void>;
  /**
   * Begins nothing new, lets handlers finish, waits until everything they said is acknowledged (at most 10 s), and
   * hangs up.
   */
  stop(options?: { withinMs?: number }): Promise<void>;
}

/**
 * Makes this process the agent: tasks that are sent to its public address arrive here, also those that were sent while
 * nobody was here. Reconnects by itself.
 *
 * @example
 * const connection = connect({
 *   url,
 *   apiKey,
 *   state: folder,
 *   onTask: async (task) => {
 *     await task.status('Reading…');
 *     await task.artifact({ name: 'echo.txt', parts: [{ text: task.text }] });
 *     return 'Done.';
 *   },
 * });
 * await connection.closed;
 */
export function connect(options: ConnectOptions): Connection {
  const endpoint = readEndpoint(options.url, options.apiKey);
  const clock = options.clock ?? systemClock;
  const random = Math.random;
  const side = new LaptopSide({
    endpoint,
    clock,
    random,
    apiKey: options.apiKey,
    journal: options.journal ?? (options.state === undefined ? memoryJournal() : fileJournal(options.state)),
    openSocket: options.openSocket ?? openSocket,
    upload: createUpload({
      endpoint,
      clock,
      random,
      apiKey: options.apiKey,
      fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    }),
    concurrency: options.concurrency ?? 4,
    handlers: options,
  });
  if (options.signal?.aborted) void side.stop();
  // Without an `onError`, somebody who does not look at `closed` should notice the failure.
  if (options.onError !== undefined) side.closed.catch(() => undefined);
  return side;
}
