import { createInbox, type InboxOptions } from '../akep/inbox.ts';
import type { AkepEvent, Resume } from '../akep/wire.ts';
import { memoryLog } from '../log/log.ts';
import { manualClock } from './clock.ts';
import { type Said, type Script, startRoom, TEST_KEY } from './room.ts';

/** A room with a script, an inbox in it, and everything a test looks at from outside. */
export async function startInbox(script: Script, options: Partial<InboxOptions> = {}) {
  const room = await startRoom(script);
  const clock = manualClock();
  const log = memoryLog();
  const alerts: string[] = [];
  const open = (more: Partial<InboxOptions> = {}) =>
    createInbox({
      url: room.url,
      apiKey: TEST_KEY,
      clock,
      log,
      alert: (error) => alerts.push(error.fault),
      ...options,
      ...more,
    });
  const logged = () => log.lines.map((line): string => JSON.parse(line).event);
  return { ...room, clock, log, logged, alerts, open, inbox: open() };
}

export function event(eventId: string, more: Partial<AkepEvent> = {}): AkepEvent {
  return {
    spec: 'akep.v1',
    event_id: eventId,
    event_type: 'tool.completed',
    occurred_at: '2026-03-08T12:00:00.000Z',
    source: { producer_id: 'prod_exporter', name: 'exporter', type: 'tool' },
    subject: { task_id: 'task_42' },
    knowledge: { kind: 'tool_result', content_type: 'text/plain', summary: 'Done.' },
    routing: { resume_policy: 'resume_if_waiting' },
    ...more,
  };
}

export function resume(resumeId: string, more: Partial<Resume> = {}): Resume {
  return {
    resume_id: resumeId,
    event_id: 'evt_1',
    wait_id: 'wait_1',
    run_state_ref: 'runs/42.json',
    decision: 'resume',
    reason: 'An open wait matches.',
    out_of_order: false,
    ...more,
  };
}

export function page(events: readonly AkepEvent[], next_cursor: string, has_more = false): Said {
  return { status: 200, body: { events, next_cursor, has_more } };
}

export function resumePage(resumes: readonly Resume[], next_cursor: string, has_more = false): Said {
  return { status: 200, body: { resumes, next_cursor, has_more } };
}

/**
 * A small inbox in the server's words: what is in `events` comes in pages of `size`, cursors are `c0`, `c1`, …; then
 * 204, or whatever `idle` says.
 */
export function inboxScript(
  events: readonly AkepEvent[],
  more: { size?: number; resumes?: readonly Resume[]; idle?: () => Said } = {},
): Script {
  return (seen) => {
    const url = new URL(seen.url, 'http://room');
    if (seen.method === 'POST') return { status: 200, body: {} };
    const from = Number((url.searchParams.get('cursor') ?? 'c0').slice(1));
    if (url.pathname.startsWith('/akep/resumes')) {
      const left = (more.resumes ?? []).slice(from);
      if (left.length === 0 && url.pathname.endsWith('/wait')) return { status: 204 };
      return resumePage(left, `c${from + left.length}`);
    }
    const size = more.size ?? events.length;
    const items = events.slice(from, from + size);
    if (items.length === 0 && url.pathname.endsWith('/wait')) return more.idle?.() ?? { status: 204 };
    return page(items, `c${from + items.length}`, from + items.length < events.length);
  };
}

/** The events whose acknowledgement the room has seen, with what was said. */
export function acks(seen: readonly { method: string; url: string; body: string }[]): string[] {
  return seen
    .filter((one) => one.method === 'POST')
    .map((one) => `${one.url.split('/')[3]} ${JSON.parse(one.body).status}`);
}
