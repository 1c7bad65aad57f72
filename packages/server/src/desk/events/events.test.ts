import { describe, expect, it } from 'vitest';
import {
  addSender,
  anEvent,
  answered,
  type EnvelopeWire,
  idsOf,
  opened,
  openInbox,
  page,
  readAll,
  resumesOf,
  subscribed,
} from '../../testing/akep/akep.ts';
import { body, refused } from '../../testing/desk/desk.ts';
import { AT_ONCE, ledger } from '../../testing/wake.ts';
import { ManualClock, type World } from '../../testing/world.ts';

type Row = {
  agent_id: string;
  event_id: string;
  event_type: string;
  offset: number;
  source: { producer_id: string; name: string };
  summary: string;
  ack: { status: string } | null;
};
type List = { events: Row[]; next_cursor: string | null };

async function listAll(world: World, query: string): Promise<Row[]> {
  const rows: Row[] = [];
  let cursor = '';
  for (;;) {
    const read: List = await body(world.desk('GET', `/desk/events?${query}${cursor}`));
    rows.push(...read.events);
    if (read.next_cursor === null) return rows;
    cursor = `&cursor=${read.next_cursor}`;
  }
}

describe('inboxes', () => {
  it('[K32] each agent with its end, what is unacknowledged, what waits and what was resumed', async () => {
    const { world, sender } = await openInbox();
    await world.addAgent({ id: 'agent-02' });
    const first = await sender.sent();
    await sender.sent({ routing: { resume_policy: 'resume_immediately' } });
    await world.post(`/akep/events/${first.event_id}/ack`, {});
    await opened(world);
    expect(await body(world.desk('GET', '/desk/inboxes'))).toEqual({
      inboxes: [
        {
          agent_id: 'agent-01',
          last_offset: 2,
          oldest_offset: 1,
          unacknowledged: 1,
          open_waits: 1,
          resumes: 1,
        },
        {
          agent_id: 'agent-02',
          last_offset: 0,
          oldest_offset: null,
          unacknowledged: 0,
          open_waits: 0,
          resumes: 0,
        },
      ],
      next_cursor: null,
    });
    const second = await body<{ inboxes: { agent_id: string }[] }>(
      world.desk('GET', '/desk/inboxes?limit=1&cursor=agent-01'),
    );
    expect(second).toMatchObject({ inboxes: [{ agent_id: 'agent-02' }], next_cursor: 'agent-02' });
    const one = await body(world.desk('GET', '/desk/inboxes/agent-01'));
    expect(one).toMatchObject({ agent_id: 'agent-01', last_offset: 2, unacknowledged: 1 });
    expect(await refused(world.desk('GET', '/desk/inboxes/nobody'))).toMatchObject({ status: 404 });
  });
});

describe('entries', () => {
  it('[K32] newest first, of one inbox or of all, page by page', async () => {
    const { world, sender } = await openInbox();
    const other = await world.addAgent({ id: 'agent-02' });
    await subscribed(world, { event_types: ['*'] }, other.key);
    const sent: EnvelopeWire[] = [];
    for (let n = 0; n < 5; n++) sent.push(await sender.sent());
    const newest = idsOf(sent).reverse();
    for (const limit of [1, 2, 3, 4, 50]) {
      const own = await listAll(world, `agent=agent-02&limit=${limit}`);
      expect(own.map((row) => row.event_id)).toEqual(newest);
      const all = await listAll(world, `limit=${limit}`);
      expect(all.map((row) => [row.event_id, row.agent_id])).toEqual(
        newest.flatMap((id) => [
          [id, 'agent-01'],
          [id, 'agent-02'],
        ]),
      );
    }
    const [row] = await listAll(world, 'agent=agent-01&limit=1');
    expect(row).toMatchObject({
      event_type: 'knowledge.acquired',
      offset: 5,
      source: { producer_id: sender.id, name: 'demo', type: 'system' },
      summary: 'hello AKEP',
      ack: null,
    });
    expect(await listAll(world, 'agent=nobody')).toEqual([]);
  });

  it('[K32] a foreign cursor and a wrong limit are refused', async () => {
    const { world } = await openInbox();
    for (const query of ['cursor=x', 'cursor=W10', 'cursor=eyJhIjoxfQ', 'limit=0', 'limit=201', 'limit=x'])
      expect(await refused(world.desk('GET', `/desk/events?${query}`))).toMatchObject({ status: 422 });
  });
});

describe('one event', () => {
  it('[K32][K22] with its envelope, what became of it, and the chain of causes up and down', async () => {
    const { world, sender } = await openInbox();
    const by = (causation_id: string) => ({ routing: { resume_policy: 'append_only', causation_id } });
    const root = await sender.sent();
    const middle = await sender.sent(by(root.event_id));
    const leaf = await sender.sent(by(middle.event_id));
    const twin = await sender.sent(by(middle.event_id));
    await world.post(`/akep/events/${middle.event_id}/ack`, { status: 'rejected', reason: 'Old.' });
    const shown = await body<Record<string, { event_id: string }[]> & { envelope: unknown; ack: unknown }>(
      world.desk('GET', `/desk/events/agent-01/${middle.event_id}`),
    );
    expect(shown.envelope).toMatchObject({ ...middle, source: { producer_id: sender.id } });
    expect(shown.ack).toMatchObject({ status: 'rejected', reason: 'Old.' });
    expect(idsOf(shown.causes ?? [])).toEqual([root.event_id]);
    expect(idsOf(shown.effects ?? [])).toEqual(idsOf([leaf, twin]));
  });

  it('[K32] its exact bytes are those that the agent reads, numbers included', async () => {
    const { world, sender } = await openInbox();
    const event = anEvent({ source: { producer_id: sender.id, name: 'demo', type: 'system' } });
    const { event_id } = event;
    // More digits than JavaScript holds, and a space that nobody needs.
    const sent = JSON.stringify(event).replace('"subject":{', '"subject": {"exact":12345678901234567,');
    expect((await sender.send({ id: event_id, body: sent })).status).toBe(202);
    const reply = await world.desk('GET', `/desk/events/agent-01/${event_id}/raw`);
    expect(reply.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(reply.headers.get('content-disposition')).toContain('attachment');
    expect(await reply.text()).toBe(sent);
    expect(await refused(world.desk('GET', '/desk/events/agent-01/evt_nobody/raw'))).toMatchObject({
      status: 404,
    });
  });

  it('[K32][K22] a chain that goes in a circle ends', async () => {
    const { world, sender } = await openInbox();
    const [a, b] = ['evt_circle_a', 'evt_circle_b'];
    for (const [event_id, causation_id] of [
      [a, b],
      [b, a],
    ])
      await sender.sent({ event_id, routing: { resume_policy: 'never', causation_id } });
    const self = 'evt_circle_self';
    await sender.sent({ event_id: self, routing: { resume_policy: 'never', causation_id: self } });
    const chain = async (id: string) => {
      const { json } = await answered(world.desk('GET', `/desk/events/agent-01/${id}`));
      return [json.causes, json.effects].map((list) => idsOf(list as { event_id: string }[]));
    };
    expect(await chain(a)).toEqual([[b], [b]]);
    expect(await chain(self)).toEqual([[], []]);
  });

  it('[K32] shows which waits it has resumed', async () => {
    const { world, sender } = await openInbox();
    const wait_id = await opened(world, { run_state_ref: 'run-9' });
    const { event_id } = await sender.sent({ routing: { resume_policy: 'resume_if_waiting' } });
    const { json } = await answered(world.desk('GET', `/desk/events/agent-01/${event_id}`));
    expect(json.resumes).toMatchObject([{ wait_id, run_state_ref: 'run-9', out_of_order: false }]);
  });

  it('[K32] another space, another inbox and two producers are told apart', async () => {
    const { world, sender } = await openInbox();
    await world.addAgent({ id: 'agent-02' });
    const { event_id } = await sender.sent();
    const other = await addSender(world, { name: 'other' });
    await other.sent({ event_id });
    const path = `/desk/events/agent-01/${event_id}`;
    expect(await refused(world.desk('GET', path))).toMatchObject({ status: 409 });
    expect((await answered(world.desk('GET', `${path}?producer_id=${other.id}`))).json.producer_id).toBe(
      other.id,
    );
    for (const at of ['agent-02', 'nobody'])
      expect(await refused(world.desk('GET', `/desk/events/${at}/${event_id}`))).toMatchObject({
        status: 404,
      });
    const space = await world.addSpace('elsewhere');
    const stranger = await world.addPerson('s@example.com', 'owner', space);
    expect(await refused(world.desk('GET', path, undefined, stranger.token))).toMatchObject({ status: 404 });
    expect(await body(world.desk('GET', '/desk/events', undefined, stranger.token))).toMatchObject({
      events: [],
    });
  });
});

describe('replay by hand', () => {
  const again = (world: World, id: string, token?: string) =>
    world.desk('POST', `/desk/events/agent-01/${id}/replay`, undefined, token);

  it('[K36] puts the event once more at the end, with one line in the ledger, and resumes nothing', async () => {
    const { world, sender } = await openInbox();
    const first = await sender.sent({ routing: { resume_policy: 'resume_immediately' } });
    const second = await sender.sent();
    const { next_cursor } = await page(world);
    expect(await body(again(world, first.event_id))).toEqual({
      agent_id: 'agent-01',
      event_id: first.event_id,
      offset: 3,
    });
    expect(idsOf((await page(world, `?cursor=${next_cursor}`)).events)).toEqual([first.event_id]);
    expect(idsOf(await readAll(world))).toEqual(idsOf([first, second, first]));
    expect(await resumesOf(world)).toHaveLength(1);
    expect(await ledger(world, 'event.replayed')).toMatchObject([
      { subject: first.event_id, actor: `person:${world.owner.id}`, data: { inbox: 'agent-01' } },
    ]);
    expect((await sender.send(first)).json.duplicate).toBe(true);
    expect((await answered(world.get('/akep/tasks/t_1'))).json.events).toEqual(idsOf([first, second]));
  });

  it('[K36][K13] it is one event still: shown in its newest place, acknowledged in all of them', async () => {
    const { world, sender } = await openInbox();
    const { event_id } = await sender.sent();
    await again(world, event_id);
    const path = `/akep/events/${event_id}`;
    const shown = await answered(world.get(path));
    expect(shown.json.cursor).toBe((await page(world)).next_cursor);
    expect((await answered(world.post(`${path}/ack`, { status: 'applied' }))).status).toBe(200);
    const { json } = await answered(world.desk('GET', `/desk/events/agent-01/${event_id}`));
    expect(json.places).toMatchObject([
      { offset: 1, ack: { status: 'applied' } },
      { offset: 2, ack: { status: 'applied' } },
    ]);
    await again(world, event_id);
    expect((await answered(world.get(path))).json.ack).toBeNull();
    expect((await answered(world.post(`${path}/ack`, { status: 'rejected' }))).status).toBe(200);
    const after = await answered(world.desk('GET', `/desk/events/agent-01/${event_id}`));
    const statuses = (after.json.places as Row[]).map((place) => place.ack?.status);
    expect(statuses).toEqual(['applied', 'applied', 'rejected']);
  });

  it('[K36] the event stays as long as one of its places', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    const { event_id } = await sender.sent();
    clock.turn(6 * 24 * 3600 * 1_000_000);
    await again(world, event_id);
    await world.tick(24 * 3600 * 1_000_000);
    expect(idsOf(await readAll(world))).toEqual([event_id]);
  });

  it('[K36] readers may not, unknown events are 404', async () => {
    const { world, sender } = await openInbox();
    const { event_id } = await sender.sent();
    const reader = await world.addPerson('r@example.com', 'reader');
    const decider = await world.addPerson('d@example.com', 'decider');
    expect(await refused(again(world, event_id, reader.token))).toMatchObject({ status: 403 });
    expect((await again(world, event_id, decider.token)).status).toBe(201);
    expect(await refused(again(world, 'evt_unknown_1'))).toMatchObject({ status: 404 });
    expect(await readAll(world)).toHaveLength(2);
  });
});

describe('an agent that leaves', () => {
  it('[K32] takes its inbox with it, and what others hold stays', async () => {
    const { world, sender } = await openInbox({ env: AT_ONCE });
    await body(world.desk('POST', '/desk/sample'));
    const rows = await body<{ deliveries: { delivery_id: string; sample: boolean }[] }>(
      world.desk('GET', '/desk/deliveries'),
    );
    const sample = rows.deliveries.find((row) => row.sample);
    await world.decide(sample?.delivery_id ?? '', { status: 'approved' });
    await sender.sent();
    expect(await listAll(world, 'agent=sample-agent')).toHaveLength(1);
    await world.desk('DELETE', '/desk/sample');
    expect(await listAll(world, 'agent=sample-agent')).toEqual([]);
    expect(await listAll(world, '')).toHaveLength(1);
    const left = await world.room.store.read(world.space.id, (tx) =>
      tx.events.get('prod_lanternroom_home', `evt_decision_${sample?.delivery_id}`),
    );
    expect(left).toBeNull();
    expect((await sender.send(anEvent())).status).toBe(202);
  });
});
