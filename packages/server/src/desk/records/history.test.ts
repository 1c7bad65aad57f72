import { hash } from 'node:crypto';
import { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { GENESIS } from '../../core/ledger/ledger.ts';
import { DAY, SECOND } from '../../core/time.ts';
import { Turns } from '../../http/waiting/turns.ts';
import { AT_ONCE, body, openDesk, refused } from '../../testing/desk/desk.ts';
import { aLine } from '../../testing/stores/things.ts';
import type { World } from '../../testing/world.ts';
import { endOfLedger } from '../ledger-end.ts';
import { fromLineToCsv } from '../mapping.ts';
import { exportLines } from './export.ts';

type History = {
  decisions: { headline: string; state: string; status: string }[];
  next_cursor: string | null;
};
type Line = {
  seq: number;
  at: string;
  actor: string;
  action: string;
  subject: string;
  data: object;
  hash: string;
};
type Audit = { entries: Line[]; next_cursor: string | null };

async function decideSome(world: World, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const id = await world.deliver({ headline: `question ${i}` });
    await world.decide(id, { status: 'approved', feedback: `feedback ${i}` });
  }
}

describe('the history', () => {
  test('[D17] lists decisions newest first, with what was answered, undone ones marked', async () => {
    const { world } = await openDesk();
    const id = await world.deliver({ headline: 'May I?' });
    await world.decide(id, { status: 'rejected', feedback: 'wait' });
    await world.desk('DELETE', `/desk/deliveries/${id}/decision`);
    await world.decide(id, { status: 'approved' });
    await world.tick(10 * SECOND);
    await world.decide(await world.deliver({ headline: 'And now?' }), {
      status: 'redirected',
      edited_content: 'so',
    });
    const { decisions } = await body<History>(world.desk('GET', '/desk/history'));
    expect(decisions).toMatchObject([
      { headline: 'And now?', state: 'held', status: 'redirected', edited_content: 'so' },
      { headline: 'May I?', state: 'decided', status: 'approved', decided_by: { name: 'Olga Owner' } },
      { headline: 'May I?', state: 'undone', status: 'rejected', feedback: 'wait' },
    ]);
  });

  test('[D17] pages neither skip nor repeat, and can be narrowed to an agent', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    await decideSome(world, 5);
    const other = await world.addAgent({ id: 'other' });
    const theirs = await world.deliver({ agent_id: 'other', headline: 'of another' }, other.key);
    await world.decide(theirs, { status: 'rejected' });
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page: History = await body<History>(world.desk('GET', `/desk/history?limit=2${query}`));
      seen.push(...page.decisions.map((d) => d.headline));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(['of another', ...[4, 3, 2, 1, 0].map((i) => `question ${i}`)]);
    const narrowed = await body<History>(world.desk('GET', '/desk/history?agent=other'));
    expect(narrowed.decisions.map((d) => d.headline)).toEqual(['of another']);
  });
});

describe('the ledger', () => {
  test('[D23] pages from the newest line to the first, without a gap', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    await decideSome(world, 4);
    const lines: Line[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${cursor}`;
      const page: Audit = await body<Audit>(world.desk('GET', `/desk/audit?limit=3${query}`));
      lines.push(...page.entries);
      cursor = page.next_cursor;
    } while (cursor !== null);
    const seqs = lines.map((line) => line.seq);
    expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, i) => seqs.length - i));
    expect(lines.at(-1)).toMatchObject({ seq: 1, action: 'space.added' });
  });

  test('[D23][W29] the export is a large answer: who reads nothing of it for a minute is cut off', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    const limits = vi.spyOn(ServerResponse.prototype, 'setTimeout');
    onTestFinished(() => limits.mockRestore());
    await (await world.desk('GET', '/desk/audit/export')).text();
    expect(limits.mock.lastCall).toEqual([60_000]);
  });

  test('[D23] the export has all of it, and anybody can follow the chain in it', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    await decideSome(world, 3);
    const reply = await world.desk('GET', '/desk/audit/export?format=ndjson');
    expect(reply.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
    expect(reply.headers.get('content-disposition')).toBe('attachment; filename="ledger.ndjson"');
    const lines = (await reply.text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    const stored = await world.room.store.read(world.space.id, (tx) => tx.ledger.page(0, 9999));
    expect(lines.map((l) => l.hash)).toEqual(stored.map((l) => l.hash));
    let before = GENESIS;
    for (const [i, line] of lines.entries()) {
      const words = [
        line.seq,
        stored[i]?.at,
        line.actor,
        line.action,
        line.subject,
        JSON.stringify(line.data),
      ];
      before = hash('sha256', `${before}\n${JSON.stringify(words)}`);
      expect(line.hash).toBe(before);
    }
  });

  test('[D23] the export ends where the ledger did when it was asked for, whatever is written meanwhile', async () => {
    const { world } = await openDesk();
    const { room, space } = world;
    const end = await room.store.read(space.id, endOfLedger);
    const lines = exportLines(room, { space: space.id, format: 'csv', turns: new Turns() });
    let text = '';
    for await (const part of lines) {
      text += part;
      await world.deliver();
    }
    expect(text.trimEnd().split('\r\n')).toHaveLength(1 + end);
  });

  test('[D23] the export streams a ledger that is longer than a page', async () => {
    const { world } = await openDesk();
    const long = { id: 'sp_long', handle: 'long', createdAt: 1, pushTargets: null };
    const { token } = await world.addPerson('long@example.com', 'reader', long);
    await world.room.store.write(long.id, [], async (tx) => {
      for (let seq = 3; seq <= 2500; seq++) await tx.ledger.insert(aLine({ seq }));
    });
    const text = await (await world.desk('GET', '/desk/audit/export', undefined, token)).text();
    const seqs = text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as Line).seq);
    expect(seqs).toEqual(Array.from({ length: 2500 }, (_, i) => i + 1));
  });

  test('[D23] as a table, with a header and one line for each', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    await decideSome(world, 2);
    const reply = await world.desk('GET', '/desk/audit/export?format=csv');
    expect(reply.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const rows = (await reply.text()).trimEnd().split('\r\n');
    const stored = await world.room.store.read(world.space.id, (tx) => tx.ledger.page(0, 9999));
    expect(rows[0]).toBe('seq,at,actor,action,subject,data,hash');
    expect(rows).toHaveLength(stored.length + 1);
    expect(rows[1]).toContain('space.added');
  });

  test.each(['=1+1', '+1', '-1', '@x', '\tx', '\rx', '=HYPERLINK("http://evil.example")', ' =1', '\n=1'])(
    '[D23] %j in a table is text, and runs in no spreadsheet',
    (evil) => {
      const row = fromLineToCsv(aLine({ subject: evil }));
      const cell = /^1,[^,]*,test,thing\.done,("(?:[^"]|"")*"|[^,]*),/s.exec(row)?.[1] ?? '';
      const text = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
      expect(text).not.toMatch(/^\s*[=+\-@\t\r]/);
      expect(text.endsWith(evil)).toBe(true);
    },
  );

  test('[D23] quotes, commas and line breaks stay in their cell', () => {
    const row = fromLineToCsv(aLine({ data: '{"a":"b,c\\n"}', subject: 'line\r\nbreak' }));
    expect(row).toContain('"line\r\nbreak","{""a"":""b,c\\n""}"');
  });

  test('[D23] verify follows the chain and says where it breaks', async () => {
    const { world } = await openDesk({ env: AT_ONCE });
    await decideSome(world, 3);
    const verdict = await body<{ ok: boolean; entries: number }>(world.desk('GET', '/desk/audit/verify'));
    expect(verdict).toMatchObject({ ok: true, problems: [] });
    await world.sql("update ledger set actor = 'nobody' where seq = 7 and space_id = ?", world.space.id);
    expect(await body(world.desk('GET', '/desk/audit/verify'))).toMatchObject({
      ok: false,
      problems: [{ seq: 7, problem: expect.stringContaining('line 7') }],
    });
  });

  test.each([
    '/desk/audit?limit=0',
    '/desk/audit?limit=501',
    '/desk/audit?cursor=x',
    '/desk/audit/export?format=pdf',
    '/desk/history?limit=x',
  ])('[D23] %s is refused', async (path) => {
    const { world } = await openDesk();
    expect(await refused(world.desk('GET', path))).toMatchObject({ status: 422, code: 'invalid_field' });
  });
});

describe('what is on the record', () => {
  const LINE: Record<string, (world: World, id: string) => Promise<Response>> = {
    'delivery.read': (world, id) => world.desk('POST', `/desk/deliveries/${id}/read`),
    'delivery.snoozed': (world, id) =>
      world.desk('POST', `/desk/deliveries/${id}/snooze`, { until: '2027-01-01T00:00:00Z' }),
    'decision.held': (world, id) => world.decide(id, { status: 'approved' }),
    'delivery.withdrawn': (world, id) => world.post(`/wake/v1/withdraw/${id}`, { reason: 'x' }),
    'agent.added': (world) => world.desk('POST', '/desk/agents', { agent_id: 'fresh' }),
    'key.added': (world) => world.desk('POST', '/desk/agents/agent-01/keys', {}),
    'key.rotated': (world) => world.desk('POST', '/desk/agents/agent-01/keys', { rotate: true }),
    'key.revoked': (world) => world.desk('DELETE', `/desk/agents/agent-01/keys/${world.agent.keyId}`),
    'callbacks.changed': (world) => world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks: [] }),
    'push_targets.changed': (world) => world.desk('PUT', '/desk/settings/push-targets', { push_targets: [] }),
    'callback_secret.rotated': (world) => world.desk('POST', '/desk/agents/agent-01/callback-secret'),
    'person.added': (world) =>
      world.desk('POST', '/desk/people', {
        email: 'x@example.com',
        role: 'reader',
        password: 'long enough!',
      }),
    'token.all_revoked': (world) => world.desk('DELETE', '/desk/tokens'),
    'session.opened': (world) =>
      world.desk('POST', '/desk/session', { email: 'owner@example.com', password: 'correct horse battery' }),
  };

  test.each(Object.entries(LINE))('[D21] %s is one line, with who did it', async (action, act) => {
    const { world } = await openDesk();
    const id = await world.deliver();
    const newest = () => world.room.store.read(world.space.id, (tx) => tx.ledger.newest(9999, 1));
    const [before] = await newest();
    expect((await act(world, id)).ok).toBe(true);
    const [after] = await newest();
    expect([after?.seq, after?.action]).toEqual([(before?.seq ?? 0) + 1, action]);
    expect(after?.actor).toBe(
      action === 'delivery.withdrawn' ? 'agent:agent-01' : `person:${world.owner.id}`,
    );
  });
});

/** So many more rows like the newest delivery. */
async function copyNewest(world: World, count: number): Promise<void> {
  const [row = {}] = await world.sql('select * from deliveries order by seq desc limit 1');
  const columns = Object.keys(row).join(', ');
  const values = columns.replace(/\bseq\b/, 'seq + n').replace('delivery_id', "delivery_id || '-' || n");
  await world.sql(
    `with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
     insert into deliveries (${columns}) select ${values} from deliveries, numbers`,
  );
}

describe('retention', () => {
  test('[D21] what is older than that leaves, what still waits stays, and the record says so', async () => {
    const { world, clock } = await openDesk({ env: { ...AT_ONCE, LANTERNROOM_RETENTION_DAYS: '30' } });
    const [answered, open] = [await world.deliver(), await world.deliver()];
    await world.decide(answered, { status: 'approved' });
    clock.turn(29 * DAY);
    const later = await world.deliver();
    await world.decide(later, { status: 'approved' });
    await world.tick(2 * DAY);
    const there = async (id: string) => (await world.get(`/wake/v1/response/${id}`)).status;
    expect(await Promise.all([answered, open, later].map(there))).toEqual([404, 200, 200]);
    const [line] = await world.room.store.read(world.space.id, (tx) => tx.ledger.newest(9999, 1));
    expect(line).toMatchObject({ actor: 'system', action: 'deliveries.expired' });
    expect(JSON.parse(line?.data ?? '')).toMatchObject({ count: 1 });
    expect(await body(world.desk('GET', '/desk/audit/verify'))).toMatchObject({ ok: true });
    expect((await body<History>(world.desk('GET', '/desk/history'))).decisions).toHaveLength(1);
  });

  test('[D21][R12] a round removes all that is old, in as many steps as that takes', async () => {
    const { world, clock } = await openDesk({ env: { ...AT_ONCE, LANTERNROOM_RETENTION_DAYS: '30' } });
    await world.decide(await world.deliver(), { status: 'approved' });
    await copyNewest(world, 1_100);
    clock.turn(31 * DAY);
    await world.tick(DAY);
    expect(await world.sql('select seq from deliveries')).toEqual([]);
    const lines = await world.room.store.read(world.space.id, (tx) => tx.ledger.newest(9999, 9999));
    const counts = lines.filter(({ action }) => action === 'deliveries.expired').map(({ data }) => data);
    expect(counts.map((data) => JSON.parse(data).count)).toEqual([101, 500, 500]);
    expect(await body(world.desk('GET', '/desk/audit/verify'))).toMatchObject({ ok: true });
  });

  test('[D21] a round in which nothing leaves is not on the record', async () => {
    const { world } = await openDesk({ env: { ...AT_ONCE, LANTERNROOM_RETENTION_DAYS: '30' } });
    await world.decide(await world.deliver(), { status: 'approved' });
    await world.tick(DAY);
    await world.tick(DAY);
    const lines = await world.room.store.read(world.space.id, (tx) => tx.ledger.newest(9999, 9999));
    expect(lines.filter(({ action }) => action.endsWith('.expired'))).toEqual([]);
  });
});
