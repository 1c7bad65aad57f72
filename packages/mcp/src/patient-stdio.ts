import type { JSONRPCMessage, RequestId, Transport } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { idIn, type LongLine, shortLines } from './short-lines.ts';

/** After this, a client that has closed its end is not waiting for the answer. */
const PATIENCE_MS = 5_000;

const INVALID_REQUEST = -32_600;

/** Ten times what the server takes of a delivery. */
const LONGEST_LINE = 10 * 1024 * 1024;

/** Stays open for as long as the client listens: it is answered by notifications, and never ends by itself. */
const LASTING = 'subscriptions/listen';

/**
 * Standard input and output, where the end of the input does not take back what was asked before it: `lantern mcp < calls.jsonl`
 * gets every answer. The library's own transport drops what is under way in that moment, and hangs up on whoever sends a line that is too
 * long, where ours refuses that one call.
 */
export function patientStdio(onEnd: () => void): Transport {
  const input = shortLines(LONGEST_LINE, (line) => refuse(line));
  const wire = new StdioServerTransport(input as never, process.stdout, { maxBufferSize: 2 * LONGEST_LINE });
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
  const refuse = (line: LongLine) => {
    const message = `A message of ${line.bytes} bytes is too long, at most ${LONGEST_LINE} are read: send less, or a link to it.`;
    const id = idIn(line);
    if (id === null) transport.onerror?.(new Error(message));
    else void wire.send({ jsonrpc: '2.0', id, error: { code: INVALID_REQUEST, message } });
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
