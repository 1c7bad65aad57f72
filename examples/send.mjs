import { createCaller, textIn } from '@lanternroom/sdk/a2a';

// node examples/send.mjs @home/first-agent "What to do"
const { LANTERN_URL = 'http://127.0.0.1:8787', WAKE_API_KEY } = process.env;
const [agent, text = 'Hello'] = process.argv.slice(2);
if (!agent?.startsWith('@')) {
  console.error('Name the agent and say something: node examples/send.mjs @home/first-agent "Hello"');
  process.exit(2);
}
const caller = createCaller({ agent: `${LANTERN_URL}/${agent}`, token: WAKE_API_KEY });

async function send() {
  for await (const { task, message, statusUpdate, artifactUpdate } of caller.stream(text)) {
    const status = statusUpdate?.status ?? task?.status;
    if (status) console.log(status.state, textIn(status.message));
    if (artifactUpdate) console.log('artifact', artifactUpdate.artifact.artifactId);
    if (message) console.log(textIn(message));
  }
}

await send().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
