import { setFlagsFromString } from 'node:v8';

/**
 * Runs a start with a young generation that does not grow. Loading the program would blow it up to 32 MiB, which V8
 * never gives back, and a server that nobody uses yet would sit on them. Afterwards it grows as the load needs it.
 */
export async function sparingly<T>(start: () => Promise<T>): Promise<T> {
  setFlagsFromString('--semi-space-growth-factor=1');
  try {
    return await start();
  } finally {
    setFlagsFromString('--semi-space-growth-factor=2');
  }
}
