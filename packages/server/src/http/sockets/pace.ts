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
  let underWay = 0;
  let bytesUnderWay = 0;
  let thisTurn = 0;
  const judge = () => {
    const isFull = underWay >= MOST_UNDER_WAY || bytesUnderWay >= BYTES_UNDER_WAY;
    const isTooMuch = isFull || thisTurn >= MOST_A_TURN;
    if (isTooMuch === socket.isPaused) return;
    if (isTooMuch) socket.pause();
    else socket.resume();
  };
  const hear = () => {
    thisTurn++;
    if (thisTurn === 1) {
      setImmediate(() => {
        thisTurn = 0;
        judge();
      });
    }
    judge();
  };
  socket.on('message', (data: Buffer, isBinary: boolean) => {
    underWay++;
    bytesUnderWay += data.length;
    hear();
    void take(data, isBinary).finally(() => {
      underWay--;
      bytesUnderWay -= data.length;
      judge();
    });
  });
  socket.on('ping', (data) => {
    hear();
    if (socket.bufferedAmount > BUFFER_MOST) socket.terminate();
    else socket.pong(data);
  });
}
