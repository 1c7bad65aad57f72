import { randomFillSync } from 'node:crypto';
import { connect } from '@lanternroom/sdk/a2a';

/**
 * The agent of the bench, in a process of its own: completes each task after sending the number of chunks or bytes that
 * it is told.
 */
const { url, key } = JSON.parse(process.argv[2]);
const KILOBYTE = 'x'.repeat(1024);
const PIECE = 64 * 1024;

/** Never the same twice: equal content is stored once. */
function* bytes(size) {
  for (let left = size; left > 0; left -= PIECE) yield randomFillSync(Buffer.alloc(Math.min(PIECE, left)));
}

async function sendFile(task, size) {
  const part = await task.upload(() => ReadableStream.from(bytes(size)));
  await task.artifact({ artifactId: 'file', parts: [part] });
}

const connection = connect({
  url,
  apiKey: key,
  accept: false,
  concurrency: 1_000,
  onTask: async (task) => {
    const chunks = Number(/^chunks (\d+)$/.exec(task.text)?.[1] ?? 0);
    for (let n = 0; n < chunks; n++) {
      await task.artifact({ artifactId: 'log', parts: [{ text: KILOBYTE }] }, { append: n > 0 });
    }
    const size = Number(/^file (\d+)$/.exec(task.text)?.[1] ?? 0);
    if (size > 0) await sendFile(task, size);
    return 'complete';
  },
  onConnected: () => process.send({ connected: true }),
  onError: (error) => console.error(error),
});
process.on('disconnect', () => process.exit());
await connection.closed;
