import { expect, it } from 'vitest';
import { Child, node } from '../support/command.ts';
import { inRepo, temporaryFolder } from '../support/folder.ts';
import { AGENT, Server } from '../support/server.ts';

const PROGRAM = `
import sys
from lanternroom import Caller, LanternError
from lanternroom.a2a import is_ended, text_in

caller = Caller(sys.argv[1], sys.argv[2])
first = caller.send("Echo this", message_id="m-1", return_immediately=True)["task"]
again = caller.send("Echo this", message_id="m-1", return_immediately=True)["task"]
print("same task", first["id"] == again["id"])
states = []
for item in caller.subscribe(first["id"]):
    status = (item.get("statusUpdate") or item.get("task") or {}).get("status")
    if status:
        states.append(status["state"])
task = caller.get(first["id"])
print("last", states[-1], is_ended(task["status"]["state"]))
print(text_in(task["artifacts"][0]))
try:
    caller.get("nobody's")
except LanternError as error:
    print(error.fault)
def last_state(items):
    item = list(items)[-1]
    return (item.get("statusUpdate") or item["task"])["status"]["state"]

print("streamed", last_state(caller.stream("And this")))
print("read", last_state(caller.subscribe(first["id"])))
`;

const AGENT_PROGRAM = `
import { connect } from '@lanternroom/sdk/a2a';
await connect({ url: process.env.LANTERN_URL, apiKey: process.env.WAKE_API_KEY, onTask: async (task) => {
  await task.artifact({ parts: [{ text: task.text }] });
  return 'Done.';
} }).closed;
`;

it('[A8][A10] the Python caller hands work over, follows it to its end, and reads what came of it', async () => {
  const server = await Server.start();
  const desk = await server.desk();
  const { json } = await desk.request<{ key: string }>('POST', '/desk/agents', { agent_id: 'echo' });
  const env = { LANTERN_URL: server.url, WAKE_API_KEY: json.key, HOME: temporaryFolder() };
  const [program = ''] = node('');
  const inHere = inRepo('docs/cookbook');
  const echo = ['--input-type=module', '-e', AGENT_PROGRAM];
  new Child(['sh', '-c', 'cd "$0" && exec "$@"', inHere, program, ...echo], env);
  const args = [`${server.url}/@home/echo`, AGENT.key];
  const { code, stdout, stderr } = await new Child(['python3', '-c', PROGRAM, ...args], {
    PYTHONPATH: inRepo('python'),
  }).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.trim().split('\n')).toEqual([
    'same task True',
    'last TASK_STATE_COMPLETED True',
    'Echo this',
    'not_found',
    'streamed TASK_STATE_COMPLETED',
    'read TASK_STATE_COMPLETED',
  ]);
});
