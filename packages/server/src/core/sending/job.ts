import type { AgentId, DeliveryId, JobId, SpaceId } from '../ids.ts';
import type { Micros } from '../time.ts';

/** An answer for an agent, a digest for a person, an event for a subscription, or news of a task for its caller. */
export type JobKind = 'callback' | 'digest' | 'forward' | 'push';
export type JobState = 'due' | 'done' | 'gone' | 'given_up';

/** One outbound request with its schedule. `body` is what is sent, sealed at rest with the address. */
export type Job = {
  space: SpaceId;
  id: JobId;
  kind: JobKind;
  /** Empty for a digest. */
  agent: AgentId;
  /**
   * What it is about: a delivery; for a digest the person who gets it, for a forward the event's id, for a push the
   * task's.
   */
  delivery: DeliveryId;
  /** Receivers are kept apart by origin, so that a hung one never slows another. */
  origin: string;
  state: JobState;
  dueAt: Micros;
  attempts: number;
  /** Increased with every lease; a result with an older fence is refused. */
  fence: number;
  leasedUntil: Micros | null;
  createdAt: Micros;
};

export type Attempt = {
  space: SpaceId;
  job: JobId;
  delivery: DeliveryId;
  number: number;
  at: Micros;
  durationMs: number;
  /** `answered` with a status, or the kind of failure. */
  outcome: string;
  status: number | null;
};
