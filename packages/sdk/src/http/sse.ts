/** Server-sent events out of a body. */
export interface ServerEvent {
  readonly id: string | null;
  readonly name: string | null;
  readonly data: string;
}

export function isStream(reply: Response): boolean {
  return reply.headers.get('content-type')?.toLowerCase().startsWith('text/event-stream') === true;
}

export async function* readEvents(
  body: ReadableStream<Uint8Array> | null,
): AsyncGenerator<ServerEvent, void, undefined> {
  if (body === null) return;
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const piece = decoder.decode(value, { stream: true });
      rest += piece;
      // Without a line break no event ends here. Looked through with every piece, a long one would take minutes.
      if (!/[\r\n]/.test(piece)) continue;
      const blocks = rest.split(/\r\n\r\n|\n\n|\r\r/);
      rest = blocks.pop() ?? '';
      for (const block of blocks) yield* eventIn(block);
    }
  } finally {
    // A reader who stops closes the connection.
    await reader.cancel().catch(() => undefined);
  }
}

function* eventIn(block: string): Generator<ServerEvent> {
  const lines = block.split(/\r\n|\n|\r/);
  const values = (name: string) =>
    lines
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
  const data = values('data');
  if (data.length === 0) return;
  const [id = null, name = null] = [values('id').at(-1), values('event').at(-1)];
  yield { id, name, data: data.join('\n') };
}
