import { Fault } from '../faults.ts';
import type { SpaceId } from '../ids.ts';
import type { Room } from '../room.ts';
import type { Tx } from '../store.ts';
import type { Micros } from '../time.ts';
import type { Agent } from './agent.ts';

export function noAgent(): Fault {
  return new Fault('not_found', 'There is no agent with this name in your space.');
}

/** Runs `work` on an agent that exists. */
export function onAgent<T>(
  room: Room,
  at: { space: SpaceId; agent: string },
  work: (tx: Tx, agent: Agent, now: Micros) => Promise<T | Fault>,
): Promise<T | Fault> {
  return room.store.write(at.space, ['ledger'], async (tx) => {
    const agent = await tx.agents.get(at.agent);
    return agent === null ? noAgent() : work(tx, agent, room.clock.now());
  });
}
