import type { Config } from '../config.ts';
import type { Ground } from '../ground.ts';
import { openWaitingDoor } from '../http/sockets/waiting-door.ts';

const AGAIN_AFTER_MS = 500;

/**
 * A database that is still starting is no reason to give up: containers come up in any order. Meanwhile the port
 * answers that we are not ready. Everything else that is wrong ends the start at once.
 */
export async function openGroundPatiently(config: Config, open: () => Promise<Ground>): Promise<Ground> {
  if (config.databaseUrl === null) return open();
  const { isWorthWaiting } = await import('../storage/postgres/open.ts');
  const first = await attempt(open);
  if ('ground' in first) return first.ground;
  if (!isWorthWaiting(first.problem)) throw first.problem;
  console.error(`${first.problem.message} Waiting for it…`);
  const leave = () => process.exit(0); // nothing was taken in, so there is nothing to finish
  process.once('SIGTERM', leave).once('SIGINT', leave);
  const door = await openWaitingDoor({ host: config.host, port: config.port, tls: tlsOf(config) });
  try {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, AGAIN_AFTER_MS));
      const next = await attempt(open);
      if ('ground' in next) return next.ground;
      if (!isWorthWaiting(next.problem)) throw next.problem;
    }
  } finally {
    await door.close();
    process.off('SIGTERM', leave).off('SIGINT', leave);
  }
}

async function attempt(open: () => Promise<Ground>): Promise<{ ground: Ground } | { problem: Error }> {
  try {
    return { ground: await open() };
  } catch (reason) {
    return { problem: reason instanceof Error ? reason : new Error(String(reason)) };
  }
}

function tlsOf({ tlsCert, tlsKey }: Config): { cert: string; key: string } | null {
  return tlsCert === null || tlsKey === null ? null : { cert: tlsCert, key: tlsKey };
}
