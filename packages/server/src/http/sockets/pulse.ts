import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';

/** The stream under a WebSocket. */
export type Wire = Pick<Socket, 'bytesRead' | 'bytesWritten'>;

/** What a line of half a megabit a second carries from one beat to the next. */
const BYTES_A_BEAT = 15 * 64 * 1024;
/** For how many beats a peer may take nothing of what waits for it, beside those that the bytes themselves need. */
const BEATS_STALLED = 4;

/**
 * Whether a peer is still there. A frame of megabytes takes minutes on a slow line, and what is asked and answered
 * behind it arrives after it: so every byte that comes counts, and who was sent much has longer to answer.
 */
export class Pulse {
  readonly #socket: WebSocket;
  readonly #wire: Wire;
  /** What had come at the last beat, and what had been sent when something last came. */
  #read = -1;
  #written = 0;
  #beatsSilent = 0;
  #isAsked = false;
  #waitedBefore = 0;
  #beatsStalled = 0;

  constructor(socket: WebSocket, wire: Wire) {
    this.#socket = socket;
    this.#wire = wire;
  }

  /** Asks the peer. False when it has gone, or takes nothing of what waits for it, whatever it sends. */
  beat(): boolean {
    if (this.#isGone() || this.#isStalled()) return false;
    if (!this.#isAsked) this.#ask();
    return true;
  }

  #isGone(): boolean {
    const { bytesRead, bytesWritten } = this.#wire;
    // While we do not listen, nothing can be heard.
    if (bytesRead !== this.#read || this.#socket.isPaused) {
      this.#read = bytesRead;
      this.#written = bytesWritten;
      this.#beatsSilent = 0;
      return false;
    }
    this.#beatsSilent++;
    return this.#beatsSilent > (bytesWritten - this.#written) / BYTES_A_BEAT;
  }

  /** Frames leave in order: while our last ping is still here, nothing that was sent behind it has left either. */
  #isStalled(): boolean {
    const waits = this.#socket.bufferedAmount;
    this.#beatsStalled = this.#isAsked && waits >= this.#waitedBefore ? this.#beatsStalled + 1 : 0;
    this.#waitedBefore = waits;
    return this.#beatsStalled >= BEATS_STALLED + waits / BYTES_A_BEAT;
  }

  #ask(): void {
    this.#isAsked = true;
    this.#socket.ping('', false, () => {
      this.#isAsked = false;
    });
  }
}
