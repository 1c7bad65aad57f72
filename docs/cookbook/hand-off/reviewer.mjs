// The second agent, on its own machine: takes what the first one hands over, and asks a person before it signs off.
import { join } from 'node:path';
import { connect } from '@lanternroom/sdk/a2a';
import { apiKey, state, url } from '../settings.mjs';

const connection = connect({
  url,
  apiKey,
  // With a folder a task that was begun is never begun twice, also after a crash.
  state: join(state, 'reviewer'),
  onTask: async (task) => {
    if (task.decision === null) {
      await task.status('Reading the release notes…');
      return { state: 'input_required', said: `These notes are ready to be signed off: ${task.text}` };
    }
    if (task.decision.status !== 'approved')
      return { state: 'rejected', said: `Not signed: ${task.decision.feedback}` };
    await task.artifact({ name: 'signed.txt', parts: [{ text: 'Signed off by a person.' }] });
    return 'The notes are signed.';
  },
});
process.on('SIGTERM', () => void connection.stop());
await connection.closed;
