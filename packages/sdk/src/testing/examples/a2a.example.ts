import { createCaller } from '../../a2a/caller.ts';
import { isRunning } from '../../a2a/claim.ts';
import { connect } from '../../a2a/connect.ts';
import { fileJournal, memoryJournal } from '../../a2a/journal.ts';
import { isEnded, textIn } from '../../a2a/wire.ts';
import type { Examples } from './stage.ts';

/** The `@example` of everything public in a2a/, under its name. */
export const a2aExamples: Examples = {
  async connect({ url, apiKey, folder }) {
    const connection = connect({
      url,
      apiKey,
      state: folder,
      onTask: async (task) => {
        await task.status('Reading…');
        await task.artifact({ name: 'echo.txt', parts: [{ text: task.text }] });
        return 'Done.';
      },
    });
    await connection.closed;
  },

  async memoryJournal({ url, apiKey }) {
    const connection = connect({
      url,
      apiKey,
      journal: memoryJournal(),
      onTask: async (task) => `Hello, ${task.text}`,
    });
    await connection.closed;
  },

  async fileJournal({ url, apiKey, folder }) {
    const connection = connect({ url, apiKey, journal: fileJournal(folder), onTask: async () => 'Done.' });
    await connection.closed;
  },

  async createCaller({ url, apiKey }) {
    const caller = createCaller({ agent: `${url}/@home/helper`, token: apiKey });
    const answer = await caller.send('Review the latest deployment');
    return answer;
  },

  async isEnded({ task, show }) {
    if (isEnded(task.status.state)) show(task.artifacts);
  },

  async textIn({ task, show }) {
    show(textIn(task.status.message));
  },

  async isRunning({ show }) {
    if (!(await isRunning({ pid: 4242, started: null }))) show('It is gone.');
  },
};
