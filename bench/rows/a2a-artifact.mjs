import { request } from 'undici';
import { memoryOf } from '../cost.mjs';
import { spread } from '../rounds.mjs';

const MIB = 2 ** 20;
const LOOK_EVERY_MS = 50;
const REST_MS = 1_500;
/**
 * Small ones come first, more than the store's page cache (64 MiB) holds, so that it is full before anything is
 * measured.
 */
const SMALL_MIB = 4;
const SMALL_COUNT = 32;
/**
 * Chunks have 256 KiB, and a few of them are in memory on their way in or out, sealed and open; the rest is garbage
 * that was not collected yet. That is bounded, whatever the size of the artifact. An artifact that is held whole, to
 * be joined or sealed, would be in memory at least twice.
 */
const GOAL = { most: 64 };

/** A large artifact on its way in and out: what the server has to hold for it. */
export async function artifactMemory({ server, rounds, quick, caller }) {
  const mebibytes = quick ? 20 : 100;
  for (let n = 0; n < SMALL_COUNT; n++) await carry(server, caller, SMALL_MIB);
  await rest();
  const before = memoryOf(server.pid);
  const grown = [];
  for (let round = 0; round < Math.min(rounds, 3); round++) {
    const peak = await peakWhile(server.pid, () => carry(server, caller, mebibytes));
    grown.push((peak - before) / MIB);
  }
  return {
    what: `an artifact of ${mebibytes} MiB in and out, memory beyond that of small ones`,
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
