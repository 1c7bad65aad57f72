// The world: a sensor that reports whether or not anybody listens.
import { createProducer } from '@lanternroom/sdk/akep';
import { report } from '../report.mjs';
import { producer, url } from '../settings.mjs';

const sensor = createProducer({ url, ...producer, name: 'cold-store', type: 'sensor' });
for (const [index, degrees] of process.argv.slice(2).map(Number).entries()) {
  const { duplicate } = await report(sensor, {
    event_id: `evt_coldstore_${process.env.RUN ?? 'night'}_${index}`,
    occurred_at: new Date(1_794_700_000_000 + index * 60_000).toISOString(),
    event_type: 'knowledge.acquired',
    subject: { artifact_id: 'cold-store-3' },
    knowledge: { kind: 'observation', summary: `Cold store 3 is at ${degrees} °C.`, content: { degrees } },
  });
  console.log(duplicate ? 'known already' : `reported ${degrees}`);
}
