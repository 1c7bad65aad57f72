// The agent that works on what the watcher reports, until it is stopped with Ctrl-C.
import { join } from 'node:path';
import { createInbox } from '@lanternroom/sdk/akep';
import { apiKey, state, url } from '../settings.mjs';

const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
process.on('SIGINT', () => stop.abort());

const inbox = createInbox({ url, apiKey, cursor: join(state, 'file-watcher.cursor') });
await inbox.run(
  (event) => {
    const { name, bytes } = event.knowledge.content;
    console.log(`${name}: ${bytes} bytes`);
  },
  { types: ['file.updated'], signal: stop.signal },
);
console.log('stopped');
