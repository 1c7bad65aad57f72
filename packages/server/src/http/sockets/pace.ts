import type { WebSocket } from 'ws';

/** So many frames of one socket may be on their way into the store. */
const MOST_UNDER_WAY = 200;
/** And so many are heard before the others have their turn; the rest of what was read with them comes along. */
const MOST_A_TURN = 100;
/** As much as may wait for a reader who goes on asking whether we are here. */
const BUFFER_MOST = 1024 * 1024;

type Take = (data: Buffer, isBinary: boolean) => Promise<void>;

/**
 * Hears one socket at a pace that leaves room for the others (W29): it is not read from while too much of it is under
 * way. Pings are answered here, since by itself `ws` answers also those who never listen, until the memory is full.
 */
export function hearInTurn(socket: WebSocket, take: Take): void {
  let underWay = 0;
  let thisTurn = 0;
  const judge = () => {
    const isTooMuch = underWay >= MOST_UNDER_WAY || thisTurn >= MOST_A_TURN;
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
    hear();
    void take(data, isBinary).finally(() => {
      underWay--;
      judge();
    });
  });
  socket.on('ping', (data) => {
    hear();
    if (socket.bufferedAmount > BUFFER_MOST) socket.terminate();
    else socket.pong(data);
  });
}
