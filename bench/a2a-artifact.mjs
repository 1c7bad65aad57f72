import { request } from 'undici';
import { memoryOf } from './cost.mjs';
import { spread } from './rounds.mjs';

const MIB = 2 ** 20;
const LOOK_EVERY_MS = 50;
const REST_MS = 1_500;
/** What comes first is small: code, page cache and the driver's memory are there before anything is counted. */
const WARM_MIB = 4;
/**
 * Chunks have 256 KiB, and on their way in or out a few of them are in memory, sealed and open. The rest is what the
 * collector lets lie before it looks, and the store's page cache. All of it has a bound that does not know the
 * artifact; one that is held would be twice its size.
 */
const GOAL = { most: 64 };

/** A large artifact on its way in and out: what the server has to hold for it. */
export async function artifactMemory({ server, rounds, quick, caller }) {
  const mebibytes = quick ? 20 : 100;
  await carry(server, caller, WARM_MIB);
  await rest();
  const before = memoryOf(server.pid);
  const grown = [];
  for (let round = 0; round < Math.min(rounds, 3); round++) {
    const peak = await peakWhile(server.pid, () => carry(server, caller, mebibytes));
    grown.push((peak - before) / MIB);
  }
  return {
    what: `an artifact of ${mebibytes} MiB in and out, memory beyond that at rest`,
    unit: 'MiB',
    ours: spread(grown),
    goal: GOAL,
  };
}

async function peakWhile(pid, work) {
  let peak = 0;
  const looking = setInterval(() => {
    peak = Math.max(peak, memoryOf(pid));
  }, LOOK_EVERY_MS);
  try {
    await work();
    return Math.max(peak, memoryOf(pid));
  } finally {
    clearInterval(looking);
  }
}

/** The agent uploads it, and the caller fetches it from where the task says that it is. */
async function carry({ port }, { completed, headers }, mebibytes) {
  const task = await completed(`file ${mebibytes * MIB}`);
  const { url } = task.artifacts[0].parts[0];
  const { statusCode, body } = await request(url.replace(/^http:\/\/[^/]+/, `http://127.0.0.1:${port}`), {
    headers,
  });
  let size = 0;
  for await (const chunk of body) size += chunk.length;
  if (statusCode !== 200 || size !== mebibytes * MIB)
    throw new Error(`${statusCode}: ${size} bytes came back`);
}

const rest = () => new Promise((resolve) => setTimeout(resolve, REST_MS));
