import { request } from 'undici';
import { AS_AGENT } from '../requests/deliveries.mjs';
import { drive, inRounds, spread } from '../rounds.mjs';
import { fill, remove, startLanternroom, temporaryFolder } from '../servers.mjs';

const NEW = 100;
const FEW = 1_000;
const MANY = 100_000;
const GOAL = { most: 1.2 };

/** A sweep that returns 100 new answers, with a short history behind it and with a long one. */
export const b5 = {
  name: 'B5',
  async run({ rounds, times, say }) {
    const few = await prepare(FEW, say);
    const many = await prepare(MANY, say);
    try {
      const results = await inRounds(rounds, {
        few: () => drive(few.server, sweepJob(few.since, times)),
        many: () => drive(many.server, sweepJob(many.since, times)),
      });
      return [toResult(results.few, results.many)];
    } finally {
      await Promise.all([few.server.stop(), many.server.stop()]);
      remove(few.folder);
      remove(many.folder);
    }
  },
};

async function prepare(total, say) {
  say(`filling a store with ${total.toLocaleString('en')} deliveries`);
  const folder = temporaryFolder();
  const { since } = await fill(folder, { total, fresh: NEW });
  const server = await startLanternroom(folder);
  await assertFound(server, since);
  return { folder, since, server };
}

/** The load only counts answers; here one is read, so that a fast empty page is not taken for a good result. */
async function assertFound({ port }, since) {
  const { body } = await request(`http://127.0.0.1:${port}${pathOf(since)}`, { headers: AS_AGENT });
  const { deliveries, total } = await body.json();
  if (deliveries.length !== NEW || total !== NEW) throw new Error(`the sweep found ${total}, not ${NEW}`);
}

const pathOf = (since) => `/wake/v1/responses?since=${since}&limit=200`;

/**
 * One connection: this is about the time of one sweep, not about how many fit side by side. It rests between them,
 * because a key may read a thousand times a second and no more.
 */
function sweepJob(since, times) {
  return { method: 'GET', path: pathOf(since), headers: AS_AGENT, connections: 1, restMs: 1, ...times };
}

function toResult(few, many) {
  const time = (results) => spread(results.map((result) => result.p50));
  return {
    what: `sweep, ${NEW} new of ${MANY.toLocaleString('en')} (p50)`,
    unit: 'ms',
    ours: time(many),
    against: `${NEW} new of ${FEW.toLocaleString('en')}`,
    baseline: time(few),
    ratio: spread(many.map((result, i) => result.p50 / few[i].p50)),
    goal: GOAL,
    raw: { baseline: few, ours: many },
  };
}
