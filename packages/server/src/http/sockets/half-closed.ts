import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The response that is being written. Node has no public name for it. */
type Serving = Socket & { _httpMessage?: ServerResponse | null };

/**
 * Some clients close their side of the connection behind their request (`nc -N`, old HTTP/1.0 ones). By default Node
 * then hangs up: what they sent is stored, and they never hear of it. Here they get their answer, and the connection
 * ends behind it.
 *
 * Nothing tells such a client from one who has left. So a stream ends as before, and parked requests listen for
 * themselves (`waiting/park`): nobody's place is kept for longer than an answer takes.
 */
export function answerHalfClosed(server: Server): void {
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
  server.on('connection', (socket: Serving) => socket.on('end', endStream));
  // A WebSocket knows by itself when the other side has gone, and thousands of them lie idle.
  server.on('upgrade', (_request, socket) => socket.off('end', endStream));
}

/** One function for all connections: thousands of them may be open. */
function endStream(this: Serving): void {
  const response = this._httpMessage;
  if (response?.headersSent && !response.writableEnded) this.destroy();
}
