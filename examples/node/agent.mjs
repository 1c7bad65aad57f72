import { connect } from '@lanternroom/sdk/a2a';

// Tells how it is going, adds a file piece by piece, and ends with a word. Ctrl-C lets it finish what it has begun.
const connection = connect({
  url: process.env.LANTERN_URL ?? 'http://127.0.0.1:8787',
  apiKey: process.env.WAKE_API_KEY ?? '',
  state: process.env.AGENT_STATE ?? './agent-state',
  onTask: summarize,
  onConnected: (agent) => console.log(`Connected as ${agent}.`),
  onTrouble: ({ error }) => console.error(error.message),
  onError: (error) => console.error(error),
});

async function summarize(task) {
  const lines = task.text.split('\n').filter((line) => line.trim() !== '');
  await task.status(`Reading ${lines.length} lines…`);
  const artifactId = 'summary.md';
  await task.artifact({ artifactId, name: artifactId, parts: [{ text: '# Summary\n' }] });
  for (const line of lines) {
    // The caller has cancelled: whatever follows would be for nobody.
    if (task.signal.aborted) return;
    await task.artifact(
      { artifactId, parts: [{ text: `\n- ${line.trim().slice(0, 60)}` }] },
      { append: true },
    );
  }
  return `Summarized ${lines.length} lines.`;
}

for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => void connection.stop());
await connection.closed;
