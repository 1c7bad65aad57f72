import type { AgentId, PersonId, SpaceId } from './ids.ts';
import type { Topic, Tx } from './store.ts';

/**
 * Announced when a way in has ended: a key or token, or that an agent is open to others. Whoever waits or listens asks
 * whether they are still let in (W28). `holder` is whose key or token it is, or the agent whose door was closed.
 */
export function accessTopic(space: SpaceId, holder: AgentId | PersonId): Topic {
  return `access:${space}:${holder}`;
}

/** The same for those who look after many, with the holders' own topics as what it is about. */
export const ACCESS = 'access';

export function accessEnded(tx: Tx, holder: AgentId | PersonId): void {
  const topic = accessTopic(tx.space, holder);
  tx.announce(topic);
  tx.announce(ACCESS, topic);
}
