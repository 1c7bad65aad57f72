import type { WebSocket } from 'ws';

/** How many frames of one socket may be on their way into the store. */
const MOST_UNDER_WAY = 200;
/** And how many bytes in them: two hundred frames of a megabyte each, on each of a hundred sockets, fill any memory. */
const BYTES_UNDER_WAY = 4 * 1024 * 1024;
/** How many frames are handled before others get their turn, plus whatever was read together with them. */
const MOST_A_TURN = 100;
/** How many bytes may wait for a peer that keeps pinging but does not read. */
const BUFFER_MOST = 1024 * 1024;

type Take = (data: Buffer, isBinary: boolean) => Promise<void>;

/**
 * Reads one socket at a pace that leaves room for the others (W29): reading pauses while too much of it is being
 * stored. Pings are answered here, because `ws` would also answer peers that never read, until memory is full.
 */
export function hearInTurn(socket: WebSocket, take: Take): void {
  const pace = new Pace(socket);
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    pace.begin(data.length);
    void take(data, isBinary).finally(() => pace.end(data.length));
  });
  socket.on('ping', (data) => {
    pace.heard();
    if (socket.bufferedAmount > BUFFER_MOST) socket.terminate();
    else socket.pong(data);
  });
}

class Pace {
  readonly #socket: WebSocket;
  #underWay = 0;
  #bytesUnderWay = 0;
  #thisTurn = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  begin(bytes: number): void {
    this.#underWay++;
    this.#bytesUnderWay += bytes;
    this.heard();
  }

  end(bytes: number): void {
    this.#underWay--;
    this.#bytesUnderWay -= bytes;
    this.#judge();
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
