import type { Config } from '../config.ts';
import type { Ground } from '../ground.ts';
import { openWaitingDoor } from '../http/sockets/waiting-door.ts';

const AGAIN_AFTER_MS = 500;
/** Hardly a start takes longer that has nothing to bring forward. */
const SLOW_AFTER_MS = 5_000;
const SLOW =
  'Opening the database takes a while; perhaps its schema is being upgraded, here or by another replica. Waiting for it…';

/**
 * A database that is still starting is no reason to give up: containers come up in any order. Nor is an upgrade that takes
 * minutes, and whoever restarts what does not answer must not end it. Meanwhile the port answers that we are not ready.
 * Everything else that is wrong ends the start at once.
 */
export async function openGroundPatiently(config: Config, open: () => Promise<Ground>): Promise<Ground> {
  if (config.databaseUrl === null) return open();
  const first = attempt(open);
  const soon = await Promise.race([first, pause(SLOW_AFTER_MS)]);
  if (soon !== undefined) {
    if ('ground' in soon) return soon.ground;
    await assertWorthWaiting(soon.problem);
  }
  console.error(soon === undefined ? SLOW : `${soon.problem.message} Waiting for it…`);
  const leave = () => process.exit(0); // nothing was taken in, so there is nothing to finish
  process.once('SIGTERM', leave).once('SIGINT', leave);
  const door = await openWaitingDoor({ host: config.host, port: config.port, tls: tlsOf(config) }).catch(
    async (reason: unknown) => {
      await close(await first);
      throw reason;
    },
  );
  try {
    for (let next = await first; ; next = await attempt(open)) {
      if ('ground' in next) return next.ground;
      await assertWorthWaiting(next.problem);
      await pause(AGAIN_AFTER_MS);
    }
  } finally {
    await door.close();
    process.off('SIGTERM', leave).off('SIGINT', leave);
  }
}

type Attempted = { ground: Ground } | { problem: Error };

async function assertWorthWaiting(problem: Error): Promise<void> {
  const { isWorthWaiting } = await import('../storage/postgres/open.ts');
  if (!isWorthWaiting(problem)) throw problem;
}

async function close(attempted: Attempted): Promise<void> {
  if ('ground' in attempted) await attempted.ground.stop();
}

/** Keeps no process alive: a start that was refused ends at once. */
function pause(millis: number): Promise<undefined> {
  return new Promise((resolve) => void setTimeout(() => resolve(undefined), millis).unref());
}

async function attempt(open: () => Promise<Ground>): Promise<Attempted> {
  try {
    return { ground: await open() };
  } catch (reason) {
    return { problem: reason instanceof Error ? reason : new Error(String(reason)) };
  }
}

function tlsOf({ tlsCert, tlsKey }: Config): { cert: string; key: string } | null {
  return tlsCert === null || tlsKey === null ? null : { cert: tlsCert, key: tlsKey };
}
