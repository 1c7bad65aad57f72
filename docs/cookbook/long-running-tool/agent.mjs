// The agent: starts the tool and goes to sleep (start), and goes on where it was when the result is in (wake).
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createInbox } from '@lanternroom/sdk/akep';
import { apiKey, state, url } from '../settings.mjs';

const inbox = createInbox({ url, apiKey, cursor: join(state, 'long-running-tool.cursor') });
const [command = 'start', taskId = 'export-1'] = process.argv.slice(2);

if (command === 'start') {
  const file = join(state, `${taskId}.json`);
  writeFileSync(file, JSON.stringify({ taskId, plan: 'Send the export to the accountant.' }));
  // Before the tool is started: a result that comes at once finds the wait.
  await inbox.openWait({
    subject: { task_id: taskId },
    event_types: ['tool.completed'],
    run_state_ref: file,
  });
  const tool = fileURLToPath(new URL('tool.mjs', import.meta.url));
  spawn(process.execPath, [tool, taskId], { detached: true, stdio: 'ignore' }).unref();
  console.log(`Started ${taskId}. Nothing to do until it is done.`);
} else {
  // The event itself needs no work: acknowledged, it is followed by the resume. Other kinds are left as they are.
  await inbox.run(() => undefined, {
    types: ['tool.completed'],
    onResume: async ({ run_state_ref, event_id }) => {
      const { plan } = JSON.parse(readFileSync(run_state_ref, 'utf8'));
      // Asked for by its id: after a crash the resume comes alone, because the event was read before.
      const { event } = await inbox.get(event_id);
      console.log(`${event.knowledge.summary} Going on: ${plan}`);
    },
    once: true,
  });
}
