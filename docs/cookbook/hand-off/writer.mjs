// The first agent: hands its work over, and follows the task to its end. node writer.mjs https://host/@handle/reviewer
import { setTimeout as pause } from 'node:timers/promises';
import { createCaller, isEnded, textIn } from '@lanternroom/sdk/a2a';
import { apiKey } from '../settings.mjs';

const [agent = ''] = process.argv.slice(2);
const reviewer = createCaller({ agent, token: apiKey });

// The id of the message is the id of the work: sent again after a crash, it finds the same task.
const work = { messageId: 'release-2.1', returnImmediately: true };
const answer = await reviewer.send('Release 2.1: faster exports.', work);
if (!('task' in answer)) throw new Error('The reviewer answered without a task.');
console.log('handed over');

let { task } = answer;
while (!isEnded(task.status.state)) {
  for await (const { statusUpdate } of reviewer.subscribe(task.id)) {
    if (statusUpdate !== undefined && !isEnded(statusUpdate.status.state)) tell(statusUpdate.status);
  }
  // A stream ends at a question too, and a person may take hours over it: look again.
  await pause(1000);
  task = await reviewer.get(task.id);
}
tell(task.status);
for (const { parts } of task.artifacts ?? []) console.log(textIn({ parts }));

function tell({ state, message }) {
  console.log(`${state.replace('TASK_STATE_', '').toLowerCase()}: ${textIn(message)}`);
}
