import { setTimeout as pause } from 'node:timers/promises';
import { connect } from '@lanternroom/sdk/a2a';

/**
 * The agent that the official test kits of A2A expect (docs/conformance.md): what it does is said by how the id of the
 * message begins. Everything else it answers as the kit's own example agent for 0.3 does: some work, an artifact, a word.
 */
const FILE = { raw: Buffer.from('tck').toString('base64'), mediaType: 'text/plain', filename: 'output.txt' };
const LINK = { url: 'https://example.com/output.txt', mediaType: 'text/plain', filename: 'output.txt' };
const DATA = { data: { key: 'value', count: 42 } };

/** A task must outlive two of the kit's timeouts to be subscribed to a second time. */
const STREAMING_TIMEOUT_MS = Number(process.env.TCK_STREAMING_TIMEOUT ?? 2) * 1_000;

/** Longer beginnings come before the shorter ones that they contain. */
const RULES = [
  ['tck-complete-task', (task) => task.complete('Hello from TCK')],
  ['tck-artifact-text', (task) => withArtifact(task, { text: 'Generated text content' })],
  ['tck-artifact-file-url', (task) => withArtifact(task, LINK)],
  ['tck-artifact-file', (task) => withArtifact(task, FILE)],
  ['tck-artifact-data', (task) => withArtifact(task, DATA)],
  ['tck-message-response', (task) => task.reply('Direct message response')],
  ['tck-input-required', (task) => task.askForInput()],
  ['tck-reject-task', (task) => task.reject('rejected')],
  ['tck-stream-artifact-chunked', inChunks],
  ['tck-stream-artifact-text', (task) => streamed(task, { text: 'Streamed text content' })],
  ['tck-stream-artifact-file', (task) => streamed(task, FILE)],
  ['tck-stream-ordering-001', (task) => streamed(task, { text: 'Ordered output' })],
  ['tck-stream-001', (task) => streamed(task, { text: 'Stream hello from TCK' })],
  ['tck-stream-002', (task) => task.complete()],
  ['tck-stream-003', (task) => streamed(task, { text: 'Stream task lifecycle' })],
  ['test-resubscribe-message-id', slowly],
];

async function withArtifact(task, part) {
  await task.artifact({ parts: [part] });
  await task.complete();
}

async function streamed(task, part) {
  await task.status('Working');
  await withArtifact(task, part);
}

async function inChunks(task) {
  await task.status('Working');
  const artifactId = await task.artifact({ parts: [{ text: 'chunk-1 ' }] }, { lastChunk: false });
  await task.artifact({ artifactId, parts: [{ text: 'chunk-2' }] }, { append: true, lastChunk: true });
  await task.complete();
}

async function slowly(task) {
  await task.status('Working');
  await pause(2.5 * STREAMING_TIMEOUT_MS, undefined, { signal: task.signal });
  await task.complete();
}

/** Slow enough to be looked at, and to be cancelled, while it works; some tests of 1.0 give up after five seconds. */
async function otherwise(task) {
  await task.status('Working');
  await pause(3_000, undefined, { signal: task.signal });
  await task.artifact({ name: 'response', parts: [{ text: `You said: ${task.text}` }] });
  await task.complete(`You said: ${task.text}`);
}

function ruleFor(messageId = '') {
  return RULES.find(([beginning]) => messageId.startsWith(beginning))?.[1] ?? otherwise;
}

const connection = connect({
  url: process.env.LANTERN_URL ?? '',
  apiKey: process.env.WAKE_API_KEY ?? '',
  // In a stream, a direct reply must be the first word.
  accept: false,
  concurrency: 64,
  onTask: (task) => ruleFor(task.message.messageId)(task),
  onConnected: (agent) => process.stdout.write(`Connected as ${agent}.\n`),
  onError: (error) => process.stderr.write(`${error instanceof Error ? error.message : error}\n`),
});
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => void connection.stop());
await connection.closed;
