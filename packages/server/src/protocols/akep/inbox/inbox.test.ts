import { describe, expect, it } from 'vitest';
import { DAY } from '../../../core/time.ts';
import {
  anEvent,
  answered,
  idsOf,
  openInbox,
  type PageWire,
  page,
  readAll,
  sharedInbox,
  subscribed,
} from '../../../testing/akep/akep.ts';
import { untilParked } from '../../../testing/waiting.ts';
import { ledger, openWorld } from '../../../testing/wake.ts';
import { ManualClock } from '../../../testing/world.ts';

describe('pages', () => {
  const shared = sharedInbox();

  it('[K11] every event once, in one order, however the pages are cut', async () => {
    const { world, sender } = await openInbox();
    const sent = [];
    for (let n = 0; n < 25; n++) sent.push(await sender.sent());
    for (const limit of [1, 7, 24, 25, 26, 1000])
      expect(idsOf(await readAll(world, world.agent.key, limit))).toEqual(idsOf(sent));
    expect((await page(world, '?limit=24')).has_more).toBe(true);
    expect((await page(world, '?limit=25')).has_more).toBe(false);
  });

  it('[K9][K11] events that came together, alone or again are on one page, byte for byte', async () => {
    const { world, sender } = await openInbox();
    const send = async (count: number) => {
      const sent = Array.from({ length: count }, (_, n) => {
        const source = { producer_id: sender.id, name: `n ${n}`, type: 'system' };
        return anEvent({ source });
      });
      await Promise.all(sent.map((event) => sender.send(event)));
      return new Map(sent.map((event) => [event.event_id, JSON.stringify(event)]));
    };
    const bodies = new Map([...(await send(20)), ...(await send(1)), ...(await send(30))]);
    const [{ event_id: first } = anEvent()] = (await page(world)).events;
    const path = `/desk/events/agent-01/${first}/replay`;
    expect((await world.desk('POST', path)).status).toBe(201);
    const order = idsOf(await readAll(world));
    expect([order.length, order.at(-1), new Set(order).size]).toEqual([52, first, 51]);
    for (const limit of [3, 20, 52, 1000]) {
      const { text, headers } = await answered(world.get(`/akep/events?limit=${limit}`));
      const events = order.slice(0, limit).map((id) => bodies.get(id));
      expect(text).toMatch(/"has_more":(true|false)}$/);
      expect(text.startsWith(`{"events":[${events.join(',')}],"next_cursor":"`)).toBe(true);
      expect(headers.get('content-length')).toBe(String(Buffer.byteLength(text)));
    }
  });

  it('[K11] an empty page has a cursor too, from which what comes later is read', async () => {
    const { world, sender } = await openInbox();
    const empty = await page(world);
    expect([empty.events, empty.has_more]).toEqual([[], false]);
    const event = await sender.sent();
    const next = await page(world, `?cursor=${empty.next_cursor}`);
    expect(idsOf(next.events)).toEqual([event.event_id]);
    const end = await page(world, `?cursor=${next.next_cursor}`);
    expect(end).toEqual({ events: [], next_cursor: next.next_cursor, has_more: false });
    await world.restart();
    expect(await page(world, `?cursor=${next.next_cursor}`)).toEqual(end);
  });

  it.each([['0'], ['1001'], ['-1'], ['1.5'], ['abc'], [''], ['1e2'], ['1&limit=2']])(
    '[K11] the limit %s is refused',
    async (limit) => {
      const { world } = shared();
      const reply = await answered(world.get(`/akep/events?limit=${limit}`));
      expect([reply.status, reply.json.path]).toEqual([400, 'limit']);
    },
  );

  it('[K11] corrupt, foreign and invented cursors are refused', async () => {
    const { world, sender } = await openInbox();
    const other = await world.addAgent({ id: 'agent-02' });
    await subscribed(world, { event_types: ['*'] }, other.key);
    await sender.sent();
    const { next_cursor } = await page(world);
    const resumes = String((await answered(world.get('/akep/resumes'))).json.next_cursor);
    const mac = next_cursor.slice(next_cursor.indexOf('-'));
    const bad = [
      '1',
      '-',
      `2${mac}`,
      `01${mac}`,
      `zzzzzzzzzzz${mac}`,
      `${next_cursor}x`,
      next_cursor.slice(0, -1),
      next_cursor.toUpperCase(),
      resumes,
      'x'.repeat(4000),
      '%00',
      '🏮-🏮',
    ];
    for (const cursor of bad) {
      for (const path of ['/akep/events', '/akep/events/wait', '/akep/events/stream']) {
        const reply = await answered(world.get(`${path}?cursor=${encodeURIComponent(cursor)}`));
        expect([cursor, reply.status, reply.json]).toEqual([
          cursor,
          400,
          { error: 'This cursor does not belong to this inbox.', path: 'cursor' },
        ]);
      }
    }
    expect((await answered(world.get(`/akep/events?cursor=${next_cursor}`, other.key))).status).toBe(400);
    expect((await answered(world.get(`/akep/resumes?cursor=${next_cursor}`))).status).toBe(400);
  });

  it('[K11] no token is 401, one that is not valid here 403', async () => {
    const world = await openWorld();
    const paths = [
      '/akep/events',
      '/akep/events/wait',
      '/akep/events/stream',
      '/akep/relay',
      '/akep/tasks/t',
    ];
    for (const path of paths) {
      const none = await fetch(world.url + path);
      expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="akep"']);
      for (const key of ['wk_test_unknown', world.token])
        expect((await answered(world.get(path, key))).status).toBe(403);
    }
    await world.desk('DELETE', `/desk/agents/agent-01/keys/${world.agent.keyId}`);
    expect((await answered(world.get('/akep/events'))).status).toBe(403);
  });

  it('[K35] a page ends early rather than growing beyond all measure', async () => {
    const { world, sender } = await openInbox();
    const content = 'x'.repeat(1_000_000);
    const knowledge = { kind: 'document', content_type: 'text/plain', summary: 'large', content };
    const sent = await Promise.all(Array.from({ length: 20 }, () => sender.sent({ knowledge })));
    const first = await page(world, '?limit=1000');
    expect(first.events.length).toBeLessThan(10);
    expect(first.has_more).toBe(true);
    expect(idsOf(await readAll(world)).sort()).toEqual(idsOf(sent).sort());
  });

  it('[K3] addresses and methods that are not there are told in one sentence', async () => {
    const world = await openWorld();
    expect(await answered(world.get('/akep/nothing'))).toMatchObject({
      status: 404,
      json: { error: 'AKEP has no such address.' },
    });
    const put = await world.desk('PUT', '/akep/events', undefined, world.agent.key);
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST']);
    for (const path of ['/akep/relay', '/asyncapi.json', '/.well-known/akep.json', '/akep/resumes']) {
      const options = await world.desk('OPTIONS', path, undefined, world.agent.key);
      expect([path, options.status, options.headers.get('allow')]).toEqual([path, 405, 'GET']);
      expect(await options.json()).toEqual({ error: 'Only GET works here.' });
    }
  });
});

describe('waiting', () => {
  const shared = sharedInbox();

  it('[K12] answers with a page as soon as there is one', async () => {
    const { world, sender } = await openInbox();
    const { next_cursor } = await page(world);
    const waiting = answered(world.get(`/akep/events/wait?cursor=${next_cursor}&timeout_seconds=60`));
    await untilParked(world, 1);
    const event = await sender.sent();
    const { status, json } = await waiting;
    expect([status, idsOf((json as PageWire).events)]).toEqual([200, [event.event_id]]);
    const again = await answered(world.get('/akep/events/wait?timeout_seconds=60'));
    expect(again.status).toBe(200);
  });

  it('[K12] 204 when nothing comes, and more than a minute is capped', async () => {
    const { world } = await openInbox();
    const reply = await answered(world.get('/akep/events/wait?timeout_seconds=0'));
    expect([reply.status, reply.text]).toEqual([204, '']);
    const gone = new AbortController();
    const waiting = fetch(`${world.url}/akep/events/wait?timeout_seconds=99999999`, {
      headers: { authorization: `Bearer ${world.agent.key}` },
      signal: gone.signal,
    });
    await untilParked(world, 1);
    gone.abort();
    await expect(waiting).rejects.toThrow();
    await untilParked(world, 0);
  });

  it.each([['abc'], ['-1'], ['1.5'], [''], ['1e1'], ['NaN']])(
    '[K12] timeout_seconds=%s is refused',
    async (seconds) => {
      const { world } = shared();
      const reply = await answered(world.get(`/akep/events/wait?timeout_seconds=${seconds}`));
      expect([reply.status, reply.json.path]).toEqual([400, 'timeout_seconds']);
    },
  );

  it('[K12][K37] a reader whose key was revoked while it waited gets nothing', async () => {
    const { world, sender } = await openInbox();
    const waiting = answered(world.get('/akep/events/wait?timeout_seconds=60'));
    await untilParked(world, 1);
    await world.desk('DELETE', `/desk/agents/agent-01/keys/${world.agent.keyId}`);
    await sender.sent();
    expect((await waiting).status).toBe(403);
  });

  it('[K12] waiting callers are released when the server stops', async () => {
    const { world } = await openInbox();
    const waiting = answered(world.get('/akep/events/wait?timeout_seconds=60'));
    await untilParked(world, 1);
    await world.restart();
    expect((await waiting).status).toBe(204);
  });
});

describe('acknowledging', () => {
  const ack = async (world: Parameters<typeof readAll>[0], id: string, body?: unknown) =>
    answered(world.post(`/akep/events/${id}/ack`, body === undefined ? '' : body));

  it('[K13] stored, then applied or rejected; the same again changes nothing, all else is 409', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    const { event_id: id } = await sender.sent();
    expect((await ack(world, id)).json).toEqual({
      event_id: id,
      status: 'stored',
      processed_at: '2026-11-15T09:00:00.000000Z',
      reason: null,
    });
    clock.turn(DAY);
    expect((await ack(world, id, { status: 'stored' })).json.processed_at).toBe(
      '2026-11-15T09:00:00.000000Z',
    );
    const processed_at = '2026-11-15T10:00:00+01:00';
    expect((await ack(world, id, { status: 'applied', processed_at, reason: 'Done.' })).json).toEqual({
      event_id: id,
      status: 'applied',
      processed_at: '2026-11-15T09:00:00.000000Z',
      reason: 'Done.',
    });
    expect((await ack(world, id, { status: 'applied', reason: 'Again.' })).json.reason).toBe('Done.');
    for (const status of ['stored', 'rejected']) expect((await ack(world, id, { status })).status).toBe(409);
    expect(await ledger(world, 'event.acknowledged')).toHaveLength(2);
  });

  it('[K13] what is not in this inbox is 404, an unknown status 400', async () => {
    const { world, sender } = await openInbox();
    const other = await world.addAgent({ id: 'agent-02' });
    const { event_id: id } = await sender.sent();
    expect((await ack(world, 'evt_unknown_1')).status).toBe(404);
    expect((await answered(world.post(`/akep/events/${id}/ack`, {}, other.key))).status).toBe(404);
    const bad = [
      { status: 'done' },
      { status: 7 },
      { status: null },
      { processed_at: 'now' },
      { reason: 7 },
      { reason: 'x'.repeat(1001) },
    ];
    for (const body of bad) expect([body, (await ack(world, id, body)).status]).toEqual([body, 400]);
    expect((await answered(world.post(`/akep/events/${id}/ack`, '[]'))).status).toBe(400);
    expect((await answered(world.get(`/akep/events/${id}`))).json.ack).toBeNull();
  });

  it('[K13] many at once: one ledger line', async () => {
    const { world, sender } = await openInbox();
    const { event_id: id } = await sender.sent();
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => ack(world, id, { status: 'applied' })),
    );
    expect(new Set(replies.map((reply) => reply.text)).size).toBe(1);
    expect(await ledger(world, 'event.acknowledged')).toHaveLength(1);
  });

  it('[K14] one event with its cursor and what became of it', async () => {
    const { world, sender } = await openInbox();
    const first = await sender.sent();
    const second = await sender.sent();
    await ack(world, first.event_id, { status: 'rejected', reason: 'Too old.' });
    const { json } = await answered(world.get(`/akep/events/${first.event_id}`));
    expect(json).toMatchObject({ event: first, ack: { status: 'rejected', reason: 'Too old.' } });
    const behind = await page(world, `?cursor=${json.cursor}`);
    expect(idsOf(behind.events)).toEqual([second.event_id]);
    const other = await world.addAgent({ id: 'agent-02' });
    expect((await answered(world.get(`/akep/events/${first.event_id}`, other.key))).status).toBe(404);
  });
});

describe('tasks', () => {
  const shared = sharedInbox();

  it.each([
    [['message.received'], 'unknown'],
    [['file.updated', 'memory.changed'], 'unknown'],
    [['knowledge.acquired'], 'completed'],
    [['tool.completed'], 'completed'],
    [['human.approved'], 'completed'],
    [['tool.failed'], 'failed'],
    [['human.rejected'], 'failed'],
    [['human.review_required'], 'input_required'],
    [['human.review_required', 'human.approved', 'message.received'], 'completed'],
    [['tool.completed', 'tool.failed'], 'failed'],
  ])('[K16] after %j it is %s', async (types, status) => {
    const { world, sender } = shared();
    const task_id = `a/ä ${types}`;
    const events = [];
    for (const event_type of types) events.push(await sender.sent({ event_type, subject: { task_id } }));
    const { json } = await answered(world.get(`/akep/tasks/${encodeURIComponent(task_id)}`));
    expect(json).toMatchObject({ task_id, status, events: idsOf(events), artifacts: [] });
  });

  it('[K16] artifacts are told; unknown and foreign tasks are 404', async () => {
    const { world, sender } = await openInbox();
    const uri = 'https://example.com/video';
    const knowledge = { kind: 'artifact', content_type: 'video/mp4', summary: 'The video.', uri };
    const { event_id } = await sender.sent({ knowledge });
    const { json } = await answered(world.get('/akep/tasks/t_1'));
    expect(json.artifacts).toEqual([{ event_id, uri, content_type: 'video/mp4', summary: 'The video.' }]);
    const other = await world.addAgent({ id: 'agent-02' });
    expect((await answered(world.get('/akep/tasks/t_2'))).status).toBe(404);
    expect((await answered(world.get('/akep/tasks/t_1', other.key))).status).toBe(404);
  });
});
