// One program that looks after ten agents: once a minute it collects every answer and hands it to the agent's own work.
// AGENTS_FILE is a JSON file: [{"name": "agent-01", "key": "wk_…"}, …]
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createWake, fileLog } from '@lanternroom/sdk/wake';
import { state, url } from '../settings.mjs';

const agents = JSON.parse(readFileSync(process.env.AGENTS_FILE ?? join(state, 'agents.json'), 'utf8'));
const file = join(state, 'sweeps.json');
const since = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};

const crew = agents.map(({ name, key }) => ({
  name,
  wake: createWake({ url, apiKey: key, agentId: name, log: fileLog(join(state, `${name}.jsonl`)) }),
}));

async function sweep({ name, wake }) {
  // The manager looks after deliveries that the agents' own programs have made: it vouches for their ids.
  for await (const answer of wake.sweep({ since: since[name], onForeign: () => 'adopt' })) {
    console.log(`${name} ${answer.status} ${answer.deliveryId}`);
    since[name] = answer.resumeFrom;
    remember();
  }
}

/** Only what was handed on counts as seen: after a crash the rest comes again. */
function remember() {
  writeFileSync(`${file}.new`, JSON.stringify(since));
  renameSync(`${file}.new`, file);
}

for (;;) {
  // One agent's trouble, such as a revoked key, is no other's.
  const outcomes = await Promise.allSettled(crew.map(sweep));
  for (const { reason } of outcomes.filter(({ status }) => status === 'rejected'))
    console.error(reason.message);
  if (process.argv.includes('--once')) break;
  await pause(60_000);
}
