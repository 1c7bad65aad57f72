/** Where the room is and who we are, for every recipe; the README says what to set. */
export const url = process.env.LANTERN_URL ?? 'http://127.0.0.1:8787';
export const apiKey = process.env.WAKE_API_KEY ?? '';
export const state = process.env.STATE_FOLDER ?? '.';

/** The identity of what reports to agents, as `lanternroom producer add NAME --json` prints it. */
export const producer = {
  producerId: process.env.AKEP_PRODUCER_ID ?? '',
  keyId: process.env.AKEP_KEY_ID,
  secret: process.env.AKEP_WEBHOOK_SECRET ?? '',
};
