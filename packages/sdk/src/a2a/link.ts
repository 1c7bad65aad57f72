import { aborted, type Clock } from '../clock.ts';
import { faultOf, LanternError } from '../faults.ts';
import { pauseBefore } from './backoff.ts';
import { type Hello, type HubFrame, readHubFrame, writeFrame } from './frames.ts';
import type { OpenSocket, Socket, SocketTarget } from './socket.ts';

export interface LinkParts {
  readonly open: OpenSocket;
  readonly target: () => SocketTarget;
  readonly clock: Clock;
  readonly random: () => number;
  /** The hub has greeted us: everything that waits may be sent. */
  readonly onHello: (hello: Hello) => void;
  readonly onFrame: (frame: Exclude<HubFrame, Hello>) => void;
  readonly onTrouble: (trouble: LinkTrouble) => void;
}

/** Why there is no connection now, and when the next attempt is. */
export interface LinkTrouble {
  readonly error: LanternError;
  readonly retryInMs: number;
}

const KEY_REVOKED = 1008;
const HELLO_WITHIN_MS = 15_000;

/** Keeps one socket to the hub open, and opens the next when it ends. */
export class Link {
  readonly #parts: LinkParts;
  #socket: Socket | null = null;
  #isGreeted = false;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  get isUp(): boolean {
    return this.#isGreeted;
  }

  /** False when there is no connection. */
  send(frame: object): boolean {
    if (this.#socket === null || !this.#isGreeted) return false;
    this.#socket.send(writeFrame(frame));
    return true;
  }

  /** Rejects with fault `aborted` when the signal fires, and with another one when a further attempt is of no use. */
  async run(signal: AbortSignal): Promise<never> {
    let attempt = 0;
    for (;;) {
      if (signal.aborted) throw aborted(signal);
      const error = await this.#once(signal, () => {
        attempt = 0;
      });
      if (signal.aborted) throw aborted(signal);
      if (isFinal(error)) throw error;
      const retryInMs = pauseBefore(attempt, this.#parts.random());
      attempt += 1;
      this.#parts.onTrouble({ error, retryInMs });
      await this.#parts.clock.sleep(retryInMs, signal);
    }
  }

  /** One connection, from its opening to its end. */
  async #once(signal: AbortSignal, greeted: () => void): Promise<LanternError> {
    let ended: (error: LanternError) => void = () => undefined;
    const end = new Promise<LanternError>((resolve) => {
      ended = resolve;
    });
    // The greeting may arrive in the same packet as the opening, before the opener continues.
    const early: string[] = [];
    const ears = {
      text: (text: string) => void (this.#socket === null ? early.push(text) : this.#hear(text, greeted)),
      closed: (why: { code: number; reason: string }) => ended(closedBy(why)),
    };
    const stop = () => this.#socket?.close();
    let isLate: NodeJS.Timeout | undefined;
    try {
      this.#socket = await this.#parts.open(this.#parts.target(), ears);
      for (const text of early) this.#hear(text, greeted);
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      isLate = setTimeout(() => this.#isGreeted || this.#socket?.cut(), HELLO_WITHIN_MS);
      return await end;
    } catch (error) {
      if (error instanceof LanternError) return error;
      return new LanternError('unreachable', 'The connection could not be opened.', { cause: error });
    } finally {
      clearTimeout(isLate);
      signal.removeEventListener('abort', stop);
      this.#socket = null;
      this.#isGreeted = false;
    }
  }

  #hear(text: string, greeted: () => void): void {
    const frame = readHubFrame(text);
    if (frame.type === 'hello') {
      this.#isGreeted = true;
      greeted();
      this.#parts.onHello(frame);
    } else {
      this.#parts.onFrame(frame);
    }
  }
}

function isFinal(error: LanternError): boolean {
  const fault = faultOf(error);
  if (fault === 'bad_reply') return error.wire?.status === 400;
  return fault === 'unauthorized' || fault === 'forbidden' || fault === 'wrong_usage';
}

function closedBy({ code, reason }: { code: number; reason: string }): LanternError {
  if (code === KEY_REVOKED) {
    const message =
      'The server no longer accepts this API key: ask a person for a new one, set WAKE_API_KEY and start again.';
    return new LanternError('unauthorized', message);
  }
  const why = reason === '' ? `code ${code}` : reason;
  return new LanternError('unreachable', `The connection was closed (${why}).`);
}
