import { createCaller } from '@lanternroom/sdk/a2a';

// Gives the first agent a task, and names the second one as whom to tell about it. Both may be asleep.
const { LANTERN_URL = 'http://127.0.0.1:8787', WAKE_API_KEY, FIRST, SECOND } = process.env;
const caller = createCaller({ agent: `${LANTERN_URL}/${FIRST}`, token: WAKE_API_KEY });
const answer = await caller.send('Write the report', {
  returnImmediately: true,
  push: { url: `${LANTERN_URL}/${SECOND}` },
});
console.log(answer.task.id, answer.task.status.state);
