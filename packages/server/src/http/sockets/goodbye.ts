import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

const LINGER_MS = 2_000;

/**
 * The last words on a socket. Whoever has read them hangs up as well; whoever does not is let go of, because a connection
 * of which only our half has ended would otherwise stay for as long as the other side likes.
 */
export function endWith(socket: Duplex, words: string): void {
  socket.end(words);
  const letGo = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(letGo));
}

/**
 * One who asked to hang up after the answer is hung up on right behind it, also in the middle of a body that was refused
 * unread: then most clients find a broken connection, and never read why. So what is still coming is let come, for as
 * long as any request may take.
 */
export function hangUpBehindBody(request: IncomingMessage): void {
  const { socket } = request;
  const hangUp = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    if (request.complete) return hangUp();
    request.once('end', hangUp).once('close', hangUp).resume();
  };
}
