import { SAMPLE_AGENT, type Specimen } from '../../core/agents/sample.ts';
import type { JsonObject } from '../../core/canonical.ts';
import type { DeliveryId } from '../../core/ids.ts';

const DAY_SECONDS = 86_400;

/** In the order in which they are made; each says what it is there to show. */
const CONTENTS: readonly ((earlier: readonly DeliveryId[]) => JsonObject)[] = [
  () => ({
    type: 'update',
    headline: 'Last night’s backups are complete',
    summary: 'An update asks for nothing. Mark it as read (e) and it moves to Earlier.',
    details:
      'All **12 databases** were copied and checked.\n\n- took 14 minutes\n- 3.2 GB in all\n- the oldest copy was removed\n\n> This is a sample. Nothing here is real, and nothing you do with it leaves this server.',
  }),
  () => ({
    type: 'question',
    headline: 'The newsletter is ready: may I send it to 1200 readers?',
    summary:
      'A question waits for you. Approve (a), redirect with notes (d) or reject (r); you can undo (z).',
    details: {
      subject: 'What we learned in autumn',
      readers: 1200,
      send_at: 'as soon as you approve',
      reversible: false,
      draft:
        'Dear readers,\n\nautumn was busy: **three releases**, one outage, and a new colleague. Here is what we learned.',
    },
    timeout_seconds: DAY_SECONDS,
  }),
  () => ({
    type: 'output',
    headline: 'The release notes for version 2.4 are written',
    summary: 'A first version. Its revision below has taken its place.',
    details: { title: 'Version 2.4', notes: 'Faster search. Fixes.', audience: 'everybody' },
  }),
  (earlier) => ({
    type: 'output',
    headline: 'The release notes for version 2.4, with the two missing fixes',
    summary: 'An output is to be looked at. This one is a revision: it opens on what has changed.',
    details: {
      title: 'Version 2.4',
      notes:
        'Search answers within a second.\n\nFixed: the export lost its last line. Fixed: dates in the wrong time zone.',
      audience: 'everybody',
      changes: [
        { area: 'search', lines: 214 },
        { area: 'export', lines: 12 },
      ],
    },
    revises: earlier[2] ?? null,
  }),
  () => ({
    type: 'alert',
    headline: 'Spending on the test cluster doubled since Friday',
    summary: 'An alert says that something is unusual. Nobody was woken: you see it when you come.',
    details: { friday: '41 €', today: '83 €', likely_cause: 'two machines that nobody switched off' },
  }),
];

/** The next one; null when all are made. */
export function specimen(earlier: readonly DeliveryId[]): Specimen | null {
  const make = CONTENTS[earlier.length];
  if (make === undefined) return null;
  const content = { agent_id: SAMPLE_AGENT, provider: 'sample', ...make(earlier) };
  return { content, draft: toDraft(content) };
}

/** The texts are our own, so nothing needs to be checked. */
function toDraft(content: JsonObject): Specimen['draft'] {
  const { type, headline, summary, timeout_seconds, revises } = content;
  return {
    provider: 'sample',
    type: type as Specimen['draft']['type'],
    headline: String(headline),
    summary: String(summary),
    timeoutSeconds: typeof timeout_seconds === 'number' ? timeout_seconds : null,
    callback: null,
    taskId: null,
    threadId: null,
    interruptId: null,
    revises: typeof revises === 'string' ? revises : null,
    dedupeKey: null,
  };
}
