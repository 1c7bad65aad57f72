// The agent wakes up, learns what happened while it slept, and reports what matters. Run it as often as you like.
import { join } from 'node:path';
import { createInbox } from '@lanternroom/sdk/akep';
import { createWake, fileLog } from '@lanternroom/sdk/wake';
import { apiKey, state, url } from '../settings.mjs';

const log = fileLog(join(state, 'agent-log.jsonl'));
const inbox = createInbox({ url, apiKey, cursor: join(state, 'knowledge-while-asleep.cursor'), log });
const wake = createWake({ url, apiKey, provider: 'warehouse', log });
const LIMIT = -15;

await inbox.run(
  async (event) => {
    const degrees = event.knowledge.content?.degrees;
    if (typeof degrees !== 'number') return { status: 'rejected', reason: 'No temperature in it.' };
    console.log(`learned: ${degrees}`);
    if (degrees <= LIMIT) return;
    // An event may come twice after a crash; its id as the key keeps the alert single.
    await wake.deliver(
      {
        type: 'alert',
        headline: 'Cold store 3 was measured too warm',
        summary: `${degrees} °C at ${event.occurred_at}; the limit is ${LIMIT} °C.`,
      },
      { idempotencyKey: event.event_id },
    );
  },
  { types: ['knowledge.acquired'], once: true },
);
