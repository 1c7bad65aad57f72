import type { IncomingHttpHeaders } from 'node:http';
import { type Dispatcher, errors } from 'undici';
import type { Answer, Attempt } from './attempt.ts';
import { failed, kindOfConnectError, kindOfReplyError } from './failure.ts';

/** 103 Early Hints come once or twice; an endless row of them is a way to keep us busy. */
const MAX_INFORMATIONAL = 8;
const MAX_HEADER_KEPT = 256;

// Made once: it is raised at the end of every attempt, where undici ignores it if the reply is complete.
const OVER = new Error('The attempt is over.');

type Limits = { protocol: string; maxReplyBytes: number };

/** Reads one reply, as much as is wanted, and ends the attempt with it. */
export class ReplyReader implements Dispatcher.DispatchHandler {
  readonly #attempt: Attempt;
  readonly #limits: Limits;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #informational = 0;
  #sent = false;
  #start: Pick<Answer, 'status' | 'headers'> | null = null;

  constructor(attempt: Attempt, limits: Limits) {
    this.#attempt = attempt;
    this.#limits = limits;
  }

  /** A request may leave undici's queue long after its attempt ended; then nothing must be written. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#sent = true;
    this.#attempt.whenOver(() => controller.abort(OVER));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status >= 200) this.#start = { status, headers: keepHeaders(headers) };
    else if (++this.#informational > MAX_INFORMATIONAL) this.#attempt.end(failed('garbage'));
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    const room = this.#limits.maxReplyBytes - this.#bytes;
    this.#chunks.push(chunk.subarray(0, room));
    this.#bytes += Math.min(chunk.length, room);
    if (chunk.length > room) this.#end(true);
  }

  onResponseEnd(): void {
    this.#end(false);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    // undici did not understand us; a receiver has no part in that.
    if (error instanceof errors.InvalidArgumentError) this.#attempt.break(error);
    const kind = this.#sent ? kindOfReplyError(error) : kindOfConnectError(error, this.#limits.protocol);
    this.#attempt.end(failed(kind));
  }

  // Ending the attempt also destroys the socket, if the reply is not complete.
  #end(truncated: boolean): void {
    const bodyStart = Buffer.concat(this.#chunks);
    this.#attempt.end(
      this.#start === null ? failed('garbage') : { ok: true, ...this.#start, bodyStart, truncated },
    );
  }
}

function keepHeaders(headers: IncomingHttpHeaders): Answer['headers'] {
  const retryAfter = headers['retry-after'];
  const contentType = headers['content-type'];
  return {
    ...(typeof retryAfter === 'string' && { retryAfter: retryAfter.slice(0, MAX_HEADER_KEPT) }),
    ...(typeof contentType === 'string' && { contentType: contentType.slice(0, MAX_HEADER_KEPT) }),
  };
}
