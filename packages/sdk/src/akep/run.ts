import { faultOf, LanternError } from '../faults.ts';
import { isRecord } from '../json.ts';
import { isPassingOrLimit, patiently } from '../patience.ts';
import { acknowledge } from './entries.ts';
import { type FollowOptions, follow, type InboxItem } from './follow.ts';
import type { InboxParts } from './parts.ts';
import { ACK_STATUSES, type AckStatus, type AkepEvent, type Resume } from './wire.ts';

/** How an event ended. */
export interface Verdict {
  readonly status: AckStatus;
  /** Shown on the desk beside the event, at most 1000 characters. */
  readonly reason?: string | undefined;
}

/** A verdict; or `skip`, which goes on and leaves the event unacknowledged; or nothing, which is `applied`. */
export type HandlerSays = Verdict | 'skip' | undefined;

/** Handles one event. Returning nothing is `applied`. */
export type EventHandler = (event: AkepEvent) => Promise<HandlerSays> | Promise<void> | HandlerSays | void;

/** What is handled besides events, and what happens when a handler throws. */
export interface RunOptions extends FollowOptions {
  /** Told when a paused run may go on. Without it resumes are not read. */
  readonly onResume?: ((resume: Resume) => Promise<void> | void) | undefined;
  /**
   * Asked when a handler throws. `stop`, which is also what happens without it: `run` ends with the error, nothing is
   * acknowledged and the same item comes first next time. `skip`: go on and leave it unacknowledged. Or a verdict.
   */
  readonly onError?: ((error: unknown, item: InboxItem) => OnErrorSays | Promise<OnErrorSays>) | undefined;
}

/** What becomes of the item whose handler threw. */
export type OnErrorSays = 'stop' | 'skip' | Verdict;

export async function run(parts: InboxParts, handler: EventHandler, options: RunOptions): Promise<void> {
  const lists = options.onResume === undefined ? (['events'] as const) : (['events', 'resumes'] as const);
  try {
    for await (const item of follow(parts, { ...options, lists })) {
      const verdict = await handle(item, handler, options);
      await settle(parts, item, { verdict, options });
    }
  } catch (error) {
    // The signal means to stop. What was begun is finished and acknowledged by now.
    if (faultOf(error) !== 'aborted' || !options.signal?.aborted) throw error;
  }
}

async function handle(
  item: InboxItem,
  handler: EventHandler,
  options: RunOptions,
): Promise<Verdict | 'skip'> {
  let says: unknown;
  try {
    if (item.type === 'event') says = await handler(item.event);
    else await options.onResume?.(item.resume);
  } catch (error) {
    const wanted = (await options.onError?.(error, item)) ?? 'stop';
    if (wanted === 'stop') throw error;
    return wanted;
  }
  return verdictOf(says);
}

/**
 * In plain JavaScript `(event) => list.push(event)` returns a number, which says nothing. What looks like a verdict must
 * not be taken for `applied`.
 */
function verdictOf(says: unknown): Verdict | 'skip' {
  if (says === 'skip') return says;
  if (isRecord(says) && 'status' in says) {
    // Anything else than a known status is refused when it is acknowledged.
    return says as unknown as Verdict;
  }
  if (![...ACK_STATUSES, 'stop'].some((word) => word === says)) return { status: 'applied' };
  const message = `The handler returned ${JSON.stringify(says)}: return { status: 'rejected', reason: 'why' }, 'skip', or nothing.`;
  throw new LanternError('wrong_usage', message);
}

async function settle(
  parts: InboxParts,
  item: InboxItem,
  how: { verdict: Verdict | 'skip'; options: RunOptions },
): Promise<void> {
  const { verdict, options } = how;
  if (item.type === 'resume') {
    await parts.record('resume', { ...item.resume, handled: verdict !== 'skip' });
    return;
  }
  const { event } = item;
  if (verdict === 'skip') {
    await parts.record('skipped', { event_id: event.event_id });
    return;
  }
  // Without the signal: finished work is acknowledged even when the agent is told to stop.
  const ack = () => acknowledge(parts, event.event_id, { ...verdict, event });
  const patience = { signal: options.signal, passes: isPassingOrLimit };
  await (options.once ? ack() : patiently(parts, patience, ack)).catch(async (error: unknown) => {
    const fault = faultOf(error);
    // Acknowledged differently before, or no longer kept: repeating it would change nothing.
    if (fault !== 'conflict' && fault !== 'not_found') throw error;
    await parts.record('ack_refused', { event_id: event.event_id, status: verdict.status, fault });
  });
}
