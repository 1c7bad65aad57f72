import type { InboxLine } from '../api/event-types.ts';
import { grouped, plural } from '../words/numbers.ts';

export function inboxWords(inbox: InboxLine): string {
  const waits = inbox.open_waits === 0 ? 'no open wait' : plural(inbox.open_waits, 'open wait');
  if (inbox.last_offset === 0) return `nothing has arrived yet; ${waits}`;
  const left =
    inbox.unacknowledged === 0
      ? 'everything is acknowledged'
      : `${plural(inbox.unacknowledged, 'event')} not acknowledged`;
  const resumed = inbox.resumes === 0 ? '' : `; ${plural(inbox.resumes, 'resume')}`;
  return `newest at offset ${grouped(inbox.last_offset)}; ${left}; ${waits}${resumed}`;
}
