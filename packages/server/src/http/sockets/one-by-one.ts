import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Far more than a client sends that also reads the answers. Reading cannot be paused instead: Node resumes it with
 * each request.
 */
const MOST_WAITING = 1_000;

/**
 * Pipelined requests on one connection are served one by one, each in its own turn of the event loop. A few packets
 * can hold thousands of them; all at once they would keep everybody else waiting for seconds.
 */
export function oneByOne(serve: RequestListener): RequestListener {
  const waiting = new WeakMap<Socket, number>();

  const hold = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket } = request;
    const before = waiting.get(socket) ?? 0;
    if (before >= MOST_WAITING) return void socket.destroy();
    waiting.set(socket, before + 1);
    response.once('socket', () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      setImmediate(() => serve(request, response));
    });
  };

  // A response has no socket while another one is before it.
  return (request, response) => {
    if (response.socket === null) hold(request, response);
    else serve(request, response);
  };
}
