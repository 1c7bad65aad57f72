import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cpuMicros } from './cost.mjs';

/** Runs the contestants in turn, round after round: what disturbs the machine for a while disturbs all of them. */
export async function inRounds(count, contestants) {
  const rounds = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let round = 0; round < count; round++) {
    // The order rotates too, so that none is always the one that runs after a rest.
    const names = Object.keys(contestants);
    if (round % 2 === 1) names.reverse();
    for (const name of names) rounds[name].push(await contestants[name]());
  }
  return rounds;
}

/**
 * One pass of load against one server, with the processor time that the server spent on each answer. Before and after
 * it the server is paused: what it does in quiet times (its word index) would slow the others down.
 */
export async function drive(server, job) {
  process.kill(server.pid, 'SIGCONT');
  try {
    return await pass(server, job);
  } finally {
    process.kill(server.pid, 'SIGSTOP');
  }
}

async function pass(server, job) {
  const child = fork(fileURLToPath(new URL('./load/load.mjs', import.meta.url)));
  const answered = once(child, 'message');
  const before = cpuMicros(server.pid);
  child.send({ bodies: [''], headers: {}, expect: 200, ...job, port: server.port });
  const [result] = await answered;
  if (result.errors > 0 && !job.reconnects)
    throw new Error(`${result.errors} requests to ${server.name} failed`);
  const total = result.done * (1 + job.warmupMs / job.measureMs);
  return { ...result, cpuMicrosEach: (cpuMicros(server.pid) - before) / total };
}

export function spread(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const median = sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  return { median, min: sorted[0], max: sorted.at(-1), rounds: values };
}

/**
 * A line of the table: the figures of each round beside those that others reached in the same round, because the
 * machine is not equally fast all the time.
 */
export function beside({ what, unit = '/s', own, against, others }) {
  return {
    what,
    unit,
    ours: spread(own),
    against,
    baseline: spread(others),
    ratio: spread(own.map((figure, i) => figure / others[i])),
  };
}
