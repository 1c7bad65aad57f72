// No framework and no package: node examples/plain-http.mjs, then decide on the desk.
import { createHash } from 'node:crypto';

const { LANTERN_URL = 'http://127.0.0.1:8787', WAKE_API_KEY } = process.env;
const call = { tool: 'refund', arguments: { order: 'A-17', amount: 40 } };
const runId = process.env.RUN_ID ?? crypto.randomUUID();

async function wake(method, path, body, headers = {}) {
  const reply = await fetch(`${LANTERN_URL}${path}`, {
    method,
    headers: { authorization: `Bearer ${WAKE_API_KEY}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!reply.ok) throw new Error(`${reply.status} ${await reply.text()}`);
  return reply.json();
}

// The key says which agent this is.
const { agent_id } = await wake('GET', '/.well-known/wake.json');

// The same run and call give the same key, so a crash between here and the answer never asks twice.
const key = createHash('sha256')
  .update(JSON.stringify([runId, call]))
  .digest('hex');
const draft = {
  agent_id,
  provider: 'custom',
  type: 'question',
  headline: 'Ready to run refund',
  summary: 'May it run? Order A-17, 40 euros.',
  details: call,
  timeout_seconds: 3600,
};
const { delivery_id } = await wake('POST', '/wake/v1/deliver', draft, { 'idempotency-key': key });

let answer = { status: 'pending' };
const until = Date.now() + 3_600_000;
while (answer.status === 'pending' && Date.now() < until)
  answer = await wake('GET', `/wake/v1/response/${delivery_id}?wait=60`);
// An answer counts only when it is about what this program has asked.
if (answer.delivery_id !== delivery_id) throw new Error('This is the answer to something else.');

if (answer.status === 'approved') run(call.arguments);
else if (answer.status === 'redirected' && answer.edited_content?.arguments)
  run(answer.edited_content.arguments);
else console.log(`Not run (${answer.status}): ${answer.feedback ?? 'no reason given'}`);

function run({ order, amount }) {
  console.log(`Refunded ${amount} for ${order}.`);
}
