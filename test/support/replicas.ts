import { onTestFinished } from 'vitest';
import { WEBHOOK_SECRET } from './akep.ts';
import type { Environment } from './command.ts';
import { Server } from './server.ts';

const SECRET = 'one master key for all of the replicas';

/** So many servers on one database, each with a folder of its own. They end with the test. */
export function startReplicas(url: string, count: number, env: Environment = {}): Promise<Server[]> {
  return Promise.all(Array.from({ length: count }, () => startReplica(url, env)));
}

export async function startReplica(url: string, env: Environment = {}): Promise<Server> {
  const all = {
    DATABASE_URL: url,
    LANTERNROOM_SECRET: SECRET,
    LANTERNROOM_UNDO_SECONDS: '0',
    AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET,
    ...env,
  };
  const server = await Server.start({ env: all });
  onTestFinished(async () => {
    if (!server.child.hasEnded) await server.kill();
  });
  return server;
}
