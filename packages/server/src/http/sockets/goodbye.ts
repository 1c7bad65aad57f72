import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

const LINGER_MS = 2_000;

/**
 * Writes the last words to a socket and closes it. A client that does not close its side is cut off, because a
 * half-closed connection would otherwise stay open for as long as that client likes.
 */
export function endWith(socket: Duplex, words: string): void {
  socket.end(words);
  const letGo = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(letGo));
}

/**
 * Node closes a connection right after the answer if the client asked for that, even in the middle of a body that was
 * refused unread. Most clients then see a broken connection and never read why. So the rest of the body is read
 * first, for as long as any request may take.
 */
export function hangUpBehindBody(request: IncomingMessage): void {
  const { socket } = request;
  const hangUp = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (request.complete) return hangUp();
    request.once('end', hangUp).once('close', hangUp).resume();
  };
}
