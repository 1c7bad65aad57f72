import type { ServerResponse } from 'node:http';
import { Fault } from '../core/faults.ts';

/** From here on an answer is large. */
const LARGE_BYTES = 256 * 1024;
/** So many of one caller are under way; the others wait until one of them was taken. */
const MOST_UNDER_WAY = 4;
const MOST_WAITING = 200;
/** Whoever takes nothing of a large answer for so long is let go. */
const STALLED_MS = 60_000;

type Line = { underWay: number; waiting: (() => void)[] };

/**
 * Large answers, by who asked (W29). What is asked for and never read lies in our memory, and hundreds that are made in one go
 * keep everybody else waiting: so each caller has a few under way at a time. Only who asks for many at once notices.
 */
export class LargeAnswers {
  readonly #lines = new Map<string, Line>();
  readonly #releases = new WeakMap<ServerResponse, () => void>();

  /**
   * Kept when the answer may be made. Its turn ends when it was taken, or its caller has gone. True when it had to wait: its
   * caller has to be asked again who they are (W28).
   */
  async turn(who: string, bytes: number, response: ServerResponse): Promise<boolean> {
    // Some requests come by here twice, on two ways.
    if (bytes < LARGE_BYTES || this.#releases.has(response)) return false;
    const line = this.#lines.get(who) ?? { underWay: 0, waiting: [] };
    this.#lines.set(who, line);
    const mustWait = line.underWay >= MOST_UNDER_WAY;
    if (mustWait) await wait(line);
    else line.underWay++;
    this.#begin(line, who, response);
    return mustWait;
  }

  /** What was large about this answer was taken, and it goes on with little things. */
  taken(response: ServerResponse): void {
    const release = this.#releases.get(response);
    if (release === undefined) return;
    response.setTimeout(0);
    release();
  }

  #begin(line: Line, who: string, response: ServerResponse): void {
    let isOver = false;
    const release = () => {
      if (isOver) return;
      isOver = true;
      const next = line.waiting.shift();
      // In a turn of the loop of its own, so that others come between two of them.
      if (next !== undefined) setImmediate(next);
      else if (--line.underWay === 0) this.#lines.delete(who);
    };
    this.#releases.set(response, release);
    response.setTimeout(STALLED_MS);
    response.once('finish', release).once('close', release);
    // It may have gone while it waited, and nobody says so a second time.
    if (response.destroyed) release();
  }
}

function wait({ waiting }: Line): Promise<void> {
  if (waiting.length < MOST_WAITING) return new Promise((resolve) => waiting.push(resolve));
  const message = 'Read the answers that you have asked for before you ask for more.';
  throw new Fault('rate_limited', message, { retryAfter: 1 });
}
