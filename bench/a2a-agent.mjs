import { connect } from '@lanternroom/sdk/a2a';

/** The agent of the bench, in a process of its own: completes what it is sent, after as many chunks as it is told. */
const { url, key } = JSON.parse(process.argv[2]);
const KILOBYTE = 'x'.repeat(1024);

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
    return 'complete';
  },
  onConnected: () => process.send({ connected: true }),
  onError: (error) => console.error(error),
});
process.on('disconnect', () => process.exit());
await connection.closed;
