import { afterAll, beforeAll, beforeEach, onTestFailed, onTestFinished } from 'vitest';
import { WEBHOOK_SECRET } from './akep.ts';
import type { Environment } from './command.ts';
import type { AtEnd } from './folder.ts';
import type { Cluster } from './postgres.ts';
import { Server, show } from './server.ts';
import { given } from './until.ts';

export const SECRET = 'one master key for all of the replicas';

/** So many servers on one database, each with a folder of its own. They end with the test. */
export function startReplicas(url: string, count: number, env: Environment = {}): Promise<Server[]> {
  return Promise.all(Array.from({ length: count }, () => startReplica(url, env)));
}

export async function startReplica(url: string, env: Environment = {}, atEnd?: AtEnd): Promise<Server> {
  const all = {
    DATABASE_URL: url,
    LANTERNROOM_SECRET: SECRET,
    LANTERNROOM_UNDO_SECONDS: '0',
    AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET,
    ...env,
  };
  const server = await Server.start({ env: all, ...(atEnd && { atEnd }) });
  (atEnd ?? onTestFinished)(async () => {
    if (!server.child.hasEnded) await server.kill();
  });
  return server;
}

/** Two on one database for all tests of a file or a `describe`, which do them no harm: a start takes longer than most. */
export function sharedPair(cluster: Cluster): () => [Server, Server] {
  const ends: Parameters<AtEnd>[0][] = [];
  let pair: Server[] = [];
  beforeAll(async () => {
    const url = await cluster.database();
    const atEnd: AtEnd = (work) => void ends.push(work);
    pair = await Promise.all([startReplica(url, {}, atEnd), startReplica(url, {}, atEnd)]);
  });
  beforeEach(() =>
    onTestFailed(() => {
      for (const { child } of pair) show(child);
    }),
  );
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  return () => [given(pair[0], 'first replica'), given(pair[1], 'second replica')];
}
