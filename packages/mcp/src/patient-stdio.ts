import { PassThrough } from 'node:stream';
import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';

/** After this, a client that has closed its end is not waiting for the answer. */
const PATIENCE_MS = 5_000;

/** Stays open for as long as the client listens: it is answered by notifications, and never ends by itself. */
const LASTING = 'subscriptions/listen';

/**
 * Standard input and output, where the end of the input does not cancel earlier requests: `lantern mcp < calls.jsonl`
 * gets every answer. The library's own transport drops them at that moment.
 */
export function patientStdio(onEnd: () => void): Transport {
  const input = new PassThrough();
  const wire = new StdioServerTransport(input as never, process.stdout);
  const asked = new Set<RequestId>();
  let hasEnded = false;
  let patience: ReturnType<typeof setTimeout> | undefined;

  const close = () => {
    clearTimeout(patience);
    input.end();
    onEnd();
  };
  const answered = (id: RequestId | undefined) => {
    if (id !== undefined && asked.delete(id) && hasEnded && asked.size === 0) close();
  };
  const end = () => {
    if (hasEnded) return;
    hasEnded = true;
    // The last message is still on its way through the pipe.
    setImmediate(() => {
      if (asked.size === 0) close();
      else patience = setTimeout(close, PATIENCE_MS);
    });
  };
  process.stdin.pipe(input, { end: false });
  // A broken pipe closes without an end; a file ends without closing.
  process.stdin.once('end', end).once('close', end);

  const transport: Transport = {
    start: () => {
      wire.onmessage = (message) => {
        if ('method' in message && 'id' in message && message.method !== LASTING) asked.add(message.id);
        else answered(cancelledBy(message));
        transport.onmessage?.(message);
      };
      wire.onclose = () => transport.onclose?.();
      wire.onerror = (error) => transport.onerror?.(error);
      return wire.start();
    },
    send: async (message) => {
      await wire.send(message);
      if (!('method' in message)) answered(message.id);
    },
    close: () => wire.close(),
  };
  return transport;
}

function cancelledBy(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined;
  return (message.params as { requestId?: RequestId } | undefined)?.requestId;
}
