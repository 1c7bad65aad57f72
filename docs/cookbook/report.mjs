import { setTimeout as pause } from 'node:timers/promises';

/**
 * Sends an event for as long as it takes: what a program has found must not get lost because the server restarts at that
 * moment. Each attempt is the same event, with the same id, and is kept once.
 */
export async function report(producer, event) {
  const named = { event_id: `evt_${crypto.randomUUID()}`, occurred_at: new Date().toISOString(), ...event };
  for (;;) {
    try {
      return await producer.send(named);
    } catch (error) {
      if (error.fault !== 'unreachable' && error.fault !== 'server_failed') throw error;
      console.error(`${error.message} Trying on.`);
      await pause(2_000);
    }
  }
}
