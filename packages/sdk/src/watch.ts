// A comment line comes every 15 s (K15, A10): three missed ones are a connection that nobody else has noticed is dead.
const SILENT_MS = 45_000;

/** Hangs up on a connection from which nothing came for a while, and when the caller wants to. */
export function createWatch(outer: AbortSignal | undefined) {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENT_MS);
  let isResting = false;
  const heard = () => {
    clearTimeout(timer);
    if (!isResting) timer = setTimeout(() => silence.abort(), SILENT_MS);
  };
  return {
    /** While whoever reads is busy nobody listens, so that silence means nothing. */
    rest: () => {
      isResting = true;
      heard();
    },
    /** They want the next one. */
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
