import type { Agent } from '../api/types.ts';
import { timeAndDay } from '../words/time.ts';

type Seen = Pick<Agent, 'online' | 'last_seen_at' | 'connected_at'>;

/** Only an agent that has ever connected can be "asleep"; one that polls is just seen now and then. */
export function presenceWords({ online, last_seen_at: seen, connected_at: connected }: Seen, now: number) {
  if (online === true) return 'online';
  if (seen === null) return 'never seen';
  return `${connected === null ? '' : 'asleep, '}last seen ${timeAndDay(seen, now)}`;
}

/** The same, but about the agent's connection only. */
export function connectionWords({ online, connected_at: connected }: Seen, now: number): string {
  if (online === true) return 'It is online.';
  if (connected === null) return 'It has never connected.';
  return `It is asleep, last connected ${timeAndDay(connected, now)}.`;
}
