import { DELIVERY_TABLES, deliverJob, deliverOne } from '../requests/deliveries.mjs';
import { drive, inRounds, spread } from '../rounds.mjs';
import { newStore, remove, startBare, startLanternroom, startLeast } from '../servers.mjs';

const GOAL = { least: 0.35 };

/** WAKE deliver over 64 connections, on disk before each answer, against `node:http` that only reads the body. */
export const b2 = {
  name: 'B2',
  async run({ rounds, times }) {
    const folder = await newStore();
    const [bare, ours, least] = [await startBare(), await startLanternroom(folder), await leastDelivery()];
    try {
      const results = await inRounds(rounds, {
        bare: () => drive(bare, deliverJob(times)),
        least: () => drive(least, deliverJob(times)),
        plain: () => drive(ours, deliverJob(times)),
        unique: () => drive(ours, deliverJob(times, true)),
      });
      return [
        toResult('WAKE deliver, durable', results.bare, results.plain),
        toResult('the same with Idempotency-Key', results.bare, results.unique),
        { ...toResult('the least that stores such rows', results.bare, results.least), goal: undefined },
        {
          ...toResult('WAKE deliver, durable', results.least, results.plain),
          against: LEAST,
          goal: undefined,
        },
      ];
    } finally {
      await Promise.all([bare.stop(), ours.stop(), least.stop()]);
      remove(folder);
      remove(least.folder);
    }
  },
};

const LEAST = 'the least that stores such rows';

/** In a store of its own, with a delivery of ours for a pattern. */
async function leastDelivery() {
  const folder = await newStore();
  await deliverOne(folder);
  return startLeast(folder, { tables: DELIVERY_TABLES });
}

function toResult(what, bare, ours) {
  const rate = (results) => spread(results.map((result) => result.perSecond));
  return {
    what,
    unit: '/s',
    ours: rate(ours),
    against: 'bare node:http',
    baseline: rate(bare),
    // Each round is compared with its own neighbour: the machine is shared, and not equally fast all the time.
    ratio: spread(ours.map((result, i) => result.perSecond / bare[i].perSecond)),
    goal: GOAL,
    notes: { p50Ms: spread(ours.map((r) => r.p50)).median, p99Ms: spread(ours.map((r) => r.p99)).median },
    raw: { baseline: bare, ours },
  };
}
