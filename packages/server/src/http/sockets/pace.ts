import type { WebSocket } from 'ws';
import { Pulse, type Wire } from './pulse.ts';

/** How many frames of one socket may be on their way into the store. */
const MOST_UNDER_WAY = 200;
/** And how many bytes in them: two hundred frames of a megabyte each, on each of a hundred sockets, fill any memory. */
const BYTES_UNDER_WAY = 4 * 1024 * 1024;
/** How many frames are handled before others get their turn, plus whatever was read together with them. */
const MOST_A_TURN = 100;
/** How many bytes may wait for a peer that keeps pinging but does not read. */
const BUFFER_MOST = 1024 * 1024;
/** And how many answers: each takes some hundred bytes of memory, be it three bytes long. */
const ANSWERS_MOST = 10_000;

/** Whoever reads a socket. */
export interface Hearer {
  hear(data: Buffer, isBinary: boolean): Promise<void>;
}

/**
 * Reads one socket at a pace that leaves room for the others (W29): reading pauses while too much of it is being
 * stored. Pings are answered here, because `ws` would also answer peers that never read, until memory is full.
 */
export function hearInTurn(socket: WebSocket, wire: Wire, hearer: Hearer): void {
  (socket as Paced)[PACE] = new Pace(socket, wire, hearer);
  socket.on('message', hearFrame).on('ping', hearPing);
}

/**
 * For an answer to what the peer has sent: `send` passes `left` on to `ws`. A peer that keeps asking and never reads is
 * cut off, because the answers would fill our memory.
 */
export function answerWith(socket: WebSocket, send: (left: () => void) => void): void {
  (socket as Paced)[PACE].answer(send);
}

/** False when the peer has gone, or takes nothing of what waits for it. */
export function beat(socket: WebSocket): boolean {
  return (socket as Paced)[PACE].pulse.beat();
}

const PACE = Symbol('pace');

/** Where the listeners find everything: functions of its own would double what an idle socket costs us. */
type Paced = WebSocket & { [PACE]: Pace };

function hearFrame(this: WebSocket, data: Buffer, isBinary: boolean): void {
  (this as Paced)[PACE].take(data, isBinary);
}

function hearPing(this: WebSocket, data: Buffer): void {
  (this as Paced)[PACE].heard();
  if (this.bufferedAmount > BUFFER_MOST) this.terminate();
  else answerWith(this, (left) => this.pong(data, false, left));
}

class Pace {
  readonly pulse: Pulse;
  readonly #socket: WebSocket;
  readonly #hearer: Hearer;
  #underWay = 0;
  #bytesUnderWay = 0;
  #thisTurn = 0;
  #answers = 0;
  #left: (() => void) | null = null;

  constructor(socket: WebSocket, wire: Wire, hearer: Hearer) {
    this.pulse = new Pulse(socket, wire);
    this.#socket = socket;
    this.#hearer = hearer;
  }

  take(data: Buffer, isBinary: boolean): void {
    this.#underWay++;
    this.#bytesUnderWay += data.length;
    this.heard();
    void this.#hearer.hear(data, isBinary).finally(() => this.#taken(data.length));
  }

  #taken(bytes: number): void {
    this.#underWay--;
    this.#bytesUnderWay -= bytes;
    this.#judge();
  }

  answer(send: (left: () => void) => void): void {
    if (this.#answers >= ANSWERS_MOST) {
      this.#socket.terminate();
      return;
    }
    this.#answers++;
    // Made with the first answer: most sockets lie idle.
    this.#left ??= () => {
      this.#answers--;
    };
    send(this.#left);
  }

  heard(): void {
    this.#thisTurn++;
    if (this.#thisTurn === 1) {
      setImmediate(() => {
        this.#thisTurn = 0;
        this.#judge();
      });
    }
    this.#judge();
  }

  #judge(): void {
    const isFull = this.#underWay >= MOST_UNDER_WAY || this.#bytesUnderWay >= BYTES_UNDER_WAY;
    const isTooMuch = isFull || this.#thisTurn >= MOST_A_TURN;
    if (isTooMuch === this.#socket.isPaused) return;
    if (isTooMuch) this.#socket.pause();
    else this.#socket.resume();
  }
}
