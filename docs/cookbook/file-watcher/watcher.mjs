// Tells agents about every file that appears or changes in a folder: node watcher.mjs FOLDER
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, watch } from 'node:fs';
import { join, resolve } from 'node:path';
import { createProducer } from '@lanternroom/sdk/akep';
import { report } from '../report.mjs';
import { producer, url } from '../settings.mjs';

const folder = resolve(process.argv[2] ?? '.');
const reporter = createProducer({ url, ...producer, name: 'file-watcher', type: 'system' });
let queue = Promise.resolve();

mkdirSync(folder, { recursive: true });
watch(folder, (_, name) => {
  // One after the other, so that events keep the order of the changes.
  if (name !== null) queue = queue.then(() => tell(name)).catch((error) => console.error(error.message));
});
console.log(`Watching ${folder}`);

async function tell(name) {
  const found = read(join(folder, name));
  if (found === null) return;
  const { content, changedAt } = found;
  const sha256 = createHash('sha256').update(content).digest('hex');
  // Made of what has changed: a change that the system tells twice is one event.
  const id = createHash('sha256')
    .update(JSON.stringify([name, changedAt, sha256]))
    .digest('hex');
  await report(reporter, {
    event_id: `evt_file_${id.slice(0, 32)}`,
    occurred_at: changedAt,
    event_type: 'file.updated',
    subject: { artifact_id: name },
    knowledge: {
      kind: 'document',
      summary: `${name} has changed.`,
      content: { name, sha256, bytes: content.length },
    },
  });
}

/** Null for what is gone again, or no file. */
function read(path) {
  try {
    return { content: readFileSync(path), changedAt: statSync(path).mtime.toISOString() };
  } catch {
    return null;
  }
}
