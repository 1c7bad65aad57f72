import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Fault } from '../../core/faults.ts';

/** An answer of this size or more is large. */
export const LARGE_BYTES = 256 * 1024;
/** How many large answers of one caller are under way; the others wait until one was taken. */
const MOST_UNDER_WAY = 4;
/** An answer larger than this uses up several places. */
const PLACE_BYTES = 16 * 1024 * 1024;
const MOST_WAITING = 200;
/** Says into which answer this one goes. */
const WITHIN = 'x-lanternroom-within';
/** A caller who reads nothing of a large answer for so long is disconnected. */
const STALLED_MS = 60_000;

type Waiting = { places: number; begin(): void };
type Turn = { who: string; line: Line; places: number };
type Line = { underWay: number; waiting: Waiting[] };

/**
 * Large answers, by caller (W29). What is asked for and never read stays in our memory, and hundreds made at once
 * keep everybody else waiting; so each caller has only a few under way. Only those who ask for many at once notice
 * it.
 */
export class LargeAnswers {
  readonly #lines = new Map<string, Line>();
  readonly #releases = new WeakMap<ServerResponse, () => void>();
  readonly #outer = new Map<string, ServerResponse>();

  /**
   * A request from within the process (MCP) ends up in another answer, and counts as taken when that one is. Such a
   * request carries these headers to say so; nobody outside can guess them. (An `AsyncLocalStorage` would need no
   * header, but it slows down every promise of the process.)
   */
  within(outer: ServerResponse): Readonly<Record<string, string>> {
    const name = randomUUID();
    this.#outer.set(name, outer);
    outer.once('close', () => this.#outer.delete(name));
    if (outer.destroyed) this.#outer.delete(name);
    return { [WITHIN]: name };
  }

  /**
   * Resolves when the answer may be made. The turn ends when the answer was taken or the caller has gone. True if it
   * had to wait: then the caller must be identified again (W28).
   */
  async turn(who: string, bytes: number, asked: ServerResponse): Promise<boolean> {
    const response = this.#outer.get(String(asked.req.headers[WITHIN])) ?? asked;
    // Some requests pass here twice, by two routes.
    if (bytes < LARGE_BYTES || this.#releases.has(response)) return false;
    const line = this.#lines.get(who) ?? { underWay: 0, waiting: [] };
    this.#lines.set(who, line);
    const places = placesOf(bytes);
    const mustWait = line.waiting.length > 0 || line.underWay + places > MOST_UNDER_WAY;
    if (mustWait) await wait(line, places);
    else line.underWay += places;
    this.#begin({ who, line, places }, response);
    return mustWait;
  }

  /** The large part of this answer was taken; only small pieces follow. */
  taken(response: ServerResponse): void {
    const release = this.#releases.get(response);
    if (release === undefined) return;
    letGoAfter(response, 0);
    release();
  }

  #begin({ who, line, places }: Turn, response: ServerResponse): void {
    let isOver = false;
    const release = () => {
      if (isOver) return;
      isOver = true;
      line.underWay -= places;
      beginNext(line);
      if (line.underWay === 0) this.#lines.delete(who);
    };
    this.#releases.set(response, release);
    letGoAfter(response, STALLED_MS);
    response.once('finish', release).once('close', release);
    // The caller may have left while waiting, and no further event would say so.
    if (response.destroyed) release();
  }
}

/**
 * For a file or a list of any length, read piece by piece as it is sent: of each, some pieces are in our memory, for as
 * long as its caller does not read on.
 */
export function endStalled(response: ServerResponse): void {
  letGoAfter(response, STALLED_MS);
}

/** What is asked within the process, and goes into nobody's answer, has no connection that could stall. */
function letGoAfter(response: ServerResponse, millis: number): void {
  if (response.socket instanceof Socket) response.setTimeout(millis);
}

function placesOf(bytes: number): number {
  return Math.min(MOST_UNDER_WAY, Math.ceil(bytes / PLACE_BYTES));
}

/** Each in its own turn of the event loop, so that others come in between. */
function beginNext(line: Line): void {
  for (let next = line.waiting[0]; next !== undefined; next = line.waiting[0]) {
    if (line.underWay + next.places > MOST_UNDER_WAY) return;
    line.waiting.shift();
    line.underWay += next.places;
    setImmediate(next.begin);
  }
}

function wait({ waiting }: Line, places: number): Promise<void> {
  if (waiting.length < MOST_WAITING) return new Promise((begin) => waiting.push({ places, begin }));
  const message = 'Read the answers that you have asked for before you ask for more.';
  throw new Fault('rate_limited', message, { retryAfter: 1 });
}
