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
