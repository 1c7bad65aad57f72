// A refund that a person approves hours later. Run it from cron, once a minute: it asks once, and pays once.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createWake, fileLog } from '@lanternroom/sdk/wake';
import { apiKey, state, url } from '../settings.mjs';

const order = { id: 'A-17', amount: 40 };
const wake = createWake({ url, apiKey, provider: 'shop', log: fileLog(join(state, 'wake-log.jsonl')) });
const done = join(state, `refund-${order.id}.done`);
if (existsSync(done)) process.exit(0);

const key = `refund-${order.id}`;
const draft = {
  type: 'question',
  headline: `Refund for order ${order.id} is prepared`,
  summary: `May ${order.amount} euros go back to the customer?`,
  details: { tool: 'refund', arguments: order },
  timeoutSeconds: 2 * 86_400,
};
// The log remembers what was asked, also after a restart; the key keeps two of us from asking at once.
const deliveryId =
  (await wake.recall(key)) ?? (await wake.deliver(draft, { idempotencyKey: key })).deliveryId;

const answer = await wake.check(deliveryId);
if (answer.status === 'pending') console.log('Nobody has decided yet.');
else if (answer.mayProceed) settle(`Refunded ${order.amount} for ${order.id}.`);
else if (answer.status === 'redirected') {
  const amount = answer.instructions.editedContent?.arguments?.amount;
  if (typeof amount === 'number') settle(`Refunded ${amount} for ${order.id}.`);
  else settle(`Not refunded. The person says: ${answer.instructions.feedback}`);
} else settle(`Not refunded. The person says: ${answer.feedback}`);

/** Says it once: whoever comes second finds the file. */
function settle(outcome) {
  writeFileSync(`${done}.new`, outcome);
  renameSync(`${done}.new`, done);
  console.log(readFileSync(done, 'utf8'));
}
