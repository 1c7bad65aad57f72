import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Far more than anybody sends who also reads the answers. Reading cannot be made to pause: Node resumes it with each request. */
const MOST_WAITING = 1_000;

/**
 * Requests that come on one connection before the first was answered are looked at one by one, each in a turn of the loop
 * of its own. A few packets hold thousands of them: all at once they keep everybody else waiting for seconds.
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

  // A response has no socket for as long as another one is before it.
  return (request, response) => {
    if (response.socket === null) hold(request, response);
    else serve(request, response);
  };
}
