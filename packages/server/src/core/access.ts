import type { AgentId, PersonId, SpaceId } from './ids.ts';
import type { Topic } from './store.ts';

/**
 * Announced when a way in has ended: a key or token, or that an agent is open to others. Whoever waits or listens asks
 * whether they are still let in (W28). `holder` is whose key or token it is, or the agent whose door was closed.
 */
export function accessTopic(space: SpaceId, holder: AgentId | PersonId): Topic {
  return `access:${space}:${holder}`;
}
