import type { Content } from './task.ts';

/** Content on its way out. */
export interface Body {
  readonly sent: NonNullable<RequestInit['body']>;
  /** What went wrong in the content itself: `fetch` tells it like trouble of the network, which is tried again. */
  readonly failure: { readonly cause: unknown } | null;
}

export function watched(content: Content): Body {
  return isIterable(content) ? new WatchedStream(content) : { sent: content as Body['sent'], failure: null };
}

class WatchedStream implements Body {
  readonly sent: ReadableStream<Uint8Array>;
  failure: Body['failure'] = null;

  constructor(content: AsyncIterable<Uint8Array>) {
    const pieces = content[Symbol.asyncIterator]();
    this.sent = new ReadableStream({
      pull: async (out) => {
        const piece = await pieces.next().catch((cause: unknown) => {
          this.failure = { cause };
          throw cause;
        });
        if (piece.done) out.close();
        else out.enqueue(piece.value);
      },
      cancel: async () => void (await pieces.return?.()),
    });
  }
}

function isIterable(content: Content): content is Content & AsyncIterable<Uint8Array> {
  return typeof content === 'object' && Symbol.asyncIterator in content;
}
