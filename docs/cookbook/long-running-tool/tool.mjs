// The long-running tool: works on its own, and reports when it is done. Nobody has to be there.
import { setTimeout as work } from 'node:timers/promises';
import { createProducer } from '@lanternroom/sdk/akep';
import { report } from '../report.mjs';
import { producer, url } from '../settings.mjs';

const [taskId = 'export-1', seconds = '2'] = process.argv.slice(2);
await work(Number(seconds) * 1000);

const exporter = createProducer({ url, ...producer, name: 'exporter', type: 'tool' });
await report(exporter, {
  event_type: 'tool.completed',
  subject: { task_id: taskId },
  knowledge: { kind: 'tool_result', summary: 'The export has 1200 rows.', content: { rows: 1200 } },
});
