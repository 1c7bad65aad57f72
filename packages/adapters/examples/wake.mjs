import { createWake } from '@lanternroom/sdk/wake';

/** The agent of these examples: `LANTERN_URL` and `WAKE_API_KEY` as `npm start` has printed them. */
export function wakeFor(provider) {
  const { LANTERN_URL = 'http://127.0.0.1:8787', WAKE_API_KEY = '', WAKE_AGENT_ID } = process.env;
  console.error(`Waiting for a person: decide at ${LANTERN_URL}.`);
  return createWake({ url: LANTERN_URL, apiKey: WAKE_API_KEY, agentId: WAKE_AGENT_ID, provider });
}
