import { expect } from 'vitest';
import { lanternroom } from '../support/command.ts';
import type { Desk, Detail } from '../support/desk.ts';
import { each, given, until } from '../support/until.ts';
import type { WakeClient } from '../support/wake.ts';
import { sweep } from './load.ts';
import type { Entry, Notebook } from './notebook.ts';

type Doors = { wake: WakeClient; desk: Desk; book: Notebook };

/** L1, L2: what was answered 201 is there, and the same key brings the same delivery and no second one. */
export async function repeatDeliveries({ wake, book }: Doors, others = 0): Promise<void> {
  await each(book.entries, async (entry) => {
    const { status, text, json } = await wake.deliver(entry.body, entry.key);
    expect([entry.key, status, text]).toEqual([entry.key, 201, expect.any(String)]);
    entry.id ??= json.delivery_id;
    expect([entry.key, json.delivery_id]).toEqual([entry.key, entry.id]);
  });
  expect(new Set(book.entries.map((e) => e.id)).size).toBe(book.entries.length);
  expect((await wake.sweep({ limit: '1' })).json.total).toBe(book.entries.length + others);
}

/** L1: what the desk and the agent were told about decisions, undoing and withdrawing is so. */
export async function compareDecisions({ desk, book }: Doors): Promise<void> {
  await each(book.entries, async (entry) => {
    const detail = await desk.detail(given(entry.id, 'id'));
    const known = detail.decisions.map((d) => d.feedback);
    for (const { feedback, reply } of entry.asked) {
      if (reply === 'held' || reply === 'decided') expect(known).toContain(feedback);
      if (reply === 'refused') expect(known).not.toContain(feedback);
    }
    expect(detail.decisions.filter((d) => d.state !== 'undone').length).toBeLessThanOrEqual(1);
    if (entry.undone === 'acknowledged')
      expect(detail.decisions.map((d) => d.state)).not.toContain('decided');
    if (entry.withdrawn === 'acknowledged') expect(detail.state).toBe('withdrawn');
  });
}

/** L6, the first half. */
export async function verifyLedger(folder: string): Promise<void> {
  const { code, stdout, stderr } = await lanternroom(['audit', 'verify', '--json', '--data', folder]);
  expect({ code, stderr, ok: JSON.parse(stdout).ok }).toEqual({ code: 0, stderr: '', ok: true });
}

/** L5, L8: by itself, nothing stays held or unsent. */
export async function settle({ desk, book }: Doors): Promise<Map<string, Detail>> {
  const details = new Map<string, Detail>();
  await each(book.entries, async (entry) => {
    const id = given(entry.id, 'id');
    const done = await until(`${entry.key} is settled`, async () => {
      const detail = await desk.detail(id);
      return detail.state !== 'held' && detail.callbacks.every((c) => c.state === 'done') && detail;
    });
    details.set(id, done);
  });
  return details;
}

/** L4: poll, sweep and callback carry the same bytes, and nothing that was held or undone got out. */
export async function compareSurfaces({ wake, book }: Doors, details: Map<string, Detail>): Promise<void> {
  await each(book.entries, async (entry) => {
    const id = given(entry.id, 'id');
    const detail = given(details.get(id), 'detail');
    const { text, json } = await wake.response(id);
    const pages = book.swept.filter((s) => s.id === id);
    const called = book.receiver.received.filter((r) => r.headers['x-wake-delivery-id'] === id);
    if (json.status === 'pending') {
      expect([detail.state, pages.length, called.length]).toEqual(['pending', 0, 0]);
      return;
    }
    expect(pages.filter(({ page }) => page.includes(text))).toHaveLength(1);
    for (const seen of book.polled.filter((p) => p.id === id)) expect(seen.text).toBe(text);
    for (const { body } of called) expect(body).toBe(text);
    expect([entry.key, called.length > 0]).toEqual([entry.key, 'callback_webhook' in entry.body]);
    expectAnswer(entry, detail, json);
  });
}

function expectAnswer(entry: Entry, detail: Detail, sent: { status: string; feedback: string | null }): void {
  if (detail.state === 'withdrawn') {
    expect(sent).toMatchObject({ status: 'rejected', feedback: 'Withdrawn by the agent: no longer needed' });
    return;
  }
  const effective = given(
    entry.asked.find((a) => a.feedback === sent.feedback),
    'decision with this feedback',
  );
  const { status, feedback, edited_content } = effective;
  expect(sent).toMatchObject({ status, feedback, edited_content });
  expect(effective.reply).not.toBe('refused');
}

/** L3: what the loop has seen, across all crashes, is what a new one sees from the start: nothing came in behind it. */
export async function compareSweeps({ wake, book }: Doors): Promise<void> {
  for (let seen = -1; seen !== book.swept.length; ) {
    seen = book.swept.length;
    await sweep({ wake, book });
  }
  const afresh: string[] = [];
  for (let since: string | null = null; ; ) {
    const page: Record<string, string> = since === null ? {} : { since };
    const { json } = await wake.sweep({ status: 'approved,rejected,redirected', limit: '200', ...page });
    if (json.deliveries.length === 0) break;
    afresh.push(...json.deliveries.map((d) => d.delivery_id));
    since = json.next_since;
  }
  expect(book.swept.map((s) => s.id)).toEqual(afresh);
  expect(new Set(afresh).size).toBe(afresh.length);
}

/** L6, the second half: exactly one line for every change. */
export async function countLines({ desk, book }: Doors, details: Map<string, Detail>): Promise<void> {
  const lines = (await (await desk.open('/desk/audit/export?format=ndjson')).text()).trimEnd().split('\n');
  const counts = new Map<string, number>();
  for (const line of lines) {
    const { action, subject } = JSON.parse(line) as { action: string; subject: string };
    counts.set(`${action} ${subject}`, (counts.get(`${action} ${subject}`) ?? 0) + 1);
  }
  for (const entry of book.entries) {
    const id = given(entry.id, 'id');
    const detail = given(details.get(id), 'detail');
    const count = (...actions: string[]) => actions.reduce((n, a) => n + (counts.get(`${a} ${id}`) ?? 0), 0);
    const inEffect = detail.decisions.filter((d) => d.state === 'decided').length;
    expect({
      accepted: count('delivery.accepted'),
      withdrawn: count('delivery.withdrawn'),
      decided: count('decision.held', 'decision.made'),
      inEffect: count('decision.effective', 'decision.made'),
      attempts: count('callback.attempted'),
    }).toEqual({
      accepted: 1,
      withdrawn: detail.state === 'withdrawn' ? 1 : 0,
      decided: detail.decisions.length,
      inEffect,
      attempts: detail.attempts.length,
    });
  }
}
