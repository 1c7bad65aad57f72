// The server sends a comment every 15 s (K15, A10): after three missing ones the connection is dead.
const SILENT_MS = 45_000;

/** Closes a connection that was silent for too long, or when the caller wants to. */
export function createWatch(outer: AbortSignal | undefined) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENT_MS);
  let isResting = false;
  const heard = () => {
    clearTimeout(timer);
    if (!isResting) timer = setTimeout(() => silence.abort(), SILENT_MS);
  };
  return {
    /** While the reader is busy nobody listens, so silence means nothing. */
    rest: () => {
      isResting = true;
      heard();
    },
    /** The reader wants the next item. */
    goOn: () => {
      isResting = false;
      heard();
    },
    signal: outer === undefined ? silence.signal : AbortSignal.any([outer, silence.signal]),
    over: (body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> =>
      body.pipeThrough(
        new TransformStream<Uint8Array, Uint8Array>({
          transform(chunk, next) {
            heard();
            next.enqueue(chunk);
          },
        }),
      ),
    end: () => {
      clearTimeout(timer);
      silence.abort();
    },
  };
}
