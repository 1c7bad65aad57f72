import { MOST_COUNTED } from '../deliveries/reading/overview.ts';
import type { AgentId } from '../ids.ts';
import { placeAt } from '../ledger/place.ts';
import type { Tx } from '../store.ts';
import { DAY, type Micros } from '../time.ts';

const LAST_ANSWERS = 200;
const LAST_CALLBACKS = 50;

export type AgentStats = {
  answeredWeek: number;
  /** From delivery to decision, over the last two hundred; null when there was none. */
  medianAnswer: Micros | null;
  /** Of the last fifty callbacks, those that failed and have not got through since. */
  callbacksFailing: number;
};

/** Where in the ledger the last seven days begin: the same for every agent, so it is looked up once for all. */
export function weekBegin(tx: Tx, now: Micros): Promise<number> {
  return placeAt(tx, now - 7 * DAY);
}

/** Three bounded queries: a list of agents asks this for each of them. */
export async function statsOf(tx: Tx, agent: AgentId, week: number): Promise<AgentStats> {
  const everything = { from: 0, before: Number.MAX_SAFE_INTEGER, most: LAST_ANSWERS };
  return {
    answeredWeek: await tx.counts.answered(agent, week, MOST_COUNTED),
    medianAnswer: median(await tx.counts.answerTimes({ agent, ...everything })),
    callbacksFailing: await tx.counts.failingCallbacks(agent, LAST_CALLBACKS),
  };
}

/** The middle value; of an even number the lower one, so that it is a time that really occurred. */
export function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.ceil(sorted.length / 2) - 1] ?? null;
}
