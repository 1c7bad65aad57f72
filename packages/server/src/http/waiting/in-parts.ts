import { setImmediate as nextTurn } from 'node:timers/promises';

/** How many there are in a part: all of ten thousand sockets in one turn made everybody wait for a fifth of a second. */
const AT_ONCE = 100;

/** A crowd in parts, each in a turn of the event loop of its own (W29). */
export async function* inParts<T>(all: Iterable<T>): AsyncGenerator<T[]> {
  const crowd = [...all];
  for (let from = 0; from < crowd.length; from += AT_ONCE) {
    if (from > 0) await nextTurn();
    yield crowd.slice(from, from + AT_ONCE);
  }
}
