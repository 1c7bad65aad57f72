import { describe, expect, it } from 'vitest';
import {
  addSender,
  anEvent,
  answered,
  type Changes,
  idsOf,
  openInbox,
  page,
  readAll,
  subscribed,
} from '../../../testing/akep/akep.ts';
import { ledger, openWorld } from '../../../testing/wake.ts';
import { ManualClock, type World } from '../../../testing/world.ts';

const ACCEPTED = { accepted: true, duplicate: false };
const DUPLICATE = { accepted: true, duplicate: true };

/** A delivery of `bytes` bytes, as it leaves. */
function sized(bytes: number, over: Changes = {}): { id: string; body: string } {
  const event = anEvent(over);
  const body = JSON.stringify({ ...event, knowledge: { ...event.knowledge, content: '' } });
  const fill = 'x'.repeat(bytes - Buffer.byteLength(body));
  return { id: event.event_id, body: body.replace('"content":""', `"content":"${fill}"`) };
}

/** Every refused event has been written down: writes are made in their order. */
async function untilNoted(world: World): Promise<void> {
  await world.room.store.write(world.space.id, [], async () => {});
}

describe('how large and how often', () => {
  it('[K6] a mebibyte is taken, one byte more is 413', async () => {
    const { world, sender } = await openInbox();
    expect((await sender.send(sized(1024 * 1024))).status).toBe(202);
    const reply = await sender.send(sized(1024 * 1024 + 1));
    expect([reply.status, typeof reply.json.error]).toEqual([413, 'string']);
    expect(await readAll(world)).toHaveLength(1);
  });

  it('[K6] 413 when every subscription that would take it wants smaller ones', async () => {
    const world = await openWorld();
    const sender = await addSender(world);
    await subscribed(world, { capabilities: { max_payload_bytes: 1024 } });
    await subscribed(world, { event_types: ['tool.failed'], capabilities: { max_payload_bytes: 4096 } });
    expect((await sender.send(sized(1024))).status).toBe(202);
    expect((await sender.send(sized(1025))).status).toBe(413);
    await subscribed(world, { capabilities: { max_payload_bytes: 2048 } });
    expect((await sender.send(sized(1025))).status).toBe(202);
    expect((await sender.send(sized(1025, { event_type: 'other.type' }))).status).toBe(422);
  });

  it('[K6] a producer over its rate gets 429 with Retry-After; others and duplicates do not', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock, env: { LANTERNROOM_RATE_PRODUCER: '3600/2' } });
    const other = await addSender(world, { name: 'other' });
    const first = anEvent();
    expect((await sender.send(first)).json).toEqual(ACCEPTED);
    expect((await sender.send(anEvent())).status).toBe(202);
    const limited = await sender.send(anEvent());
    expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '1']);
    expect((await sender.send(first)).json).toEqual(DUPLICATE);
    expect((await other.send(anEvent())).status).toBe(202);
    clock.turn(1_000_000);
    expect((await sender.send(anEvent())).status).toBe(202);
    expect((await sender.send(anEvent())).status).toBe(429);
    expect(await readAll(world)).toHaveLength(4);
  });

  it('[K6] 0 is no limit', async () => {
    const { sender } = await openInbox({ env: { LANTERNROOM_RATE_PRODUCER: '0' } });
    const replies = await Promise.all(Array.from({ length: 50 }, () => sender.send(anEvent())));
    expect(replies.every((reply) => reply.status === 202)).toBe(true);
  });
});

describe('the same event again', () => {
  it('[K8] same id and bytes is a duplicate, other bytes are 409, and nothing is overwritten', async () => {
    const { world, sender } = await openInbox();
    const event = anEvent();
    expect((await sender.send(event)).json).toEqual(ACCEPTED);
    expect((await sender.send(event)).json).toEqual(DUPLICATE);
    const spaced = await sender.send({ id: event.event_id, body: JSON.stringify(event, null, 1) });
    const other = await sender.send({ ...event, subject: { task_id: 't_2' } });
    for (const reply of [spaced, other])
      expect([reply.status, typeof reply.json.error]).toEqual([409, 'string']);
    const [kept, ...more] = await readAll(world);
    expect([kept?.subject, more]).toEqual([{ task_id: 't_1' }, []]);
  });

  it('[K8] a flood of duplicates at once is stored once', async () => {
    const { world, sender } = await openInbox();
    const event = anEvent();
    const replies = await Promise.all(Array.from({ length: 200 }, () => sender.send(event)));
    expect(replies.map((reply) => reply.status)).toEqual(replies.map(() => 202));
    expect(replies.filter((reply) => reply.json.duplicate === false)).toHaveLength(1);
    expect(await readAll(world)).toHaveLength(1);
    expect(await ledger(world, 'event.accepted')).toHaveLength(1);
  });

  it('[K8] two events under one id at once: one is kept, the other refused', async () => {
    const { world, sender } = await openInbox();
    const event = anEvent();
    const bodies = Array.from({ length: 20 }, (_, n) => ({ ...event, subject: { task_id: `t_${n}` } }));
    const replies = await Promise.all(bodies.map((body) => sender.send(body)));
    expect(replies.map((reply) => reply.status).sort()).toEqual([202, ...Array(19).fill(409)]);
    expect(await readAll(world)).toHaveLength(1);
  });

  it('[K8] it stays a duplicate over a restart, and after its subscription has gone', async () => {
    const { world, sender } = await openInbox();
    const event = await sender.sent();
    await world.restart();
    expect((await sender.send(event)).json).toEqual(DUPLICATE);
    const { json } = await answered(world.get('/akep/subscriptions'));
    const [{ subscription_id } = { subscription_id: '' }] = json.subscriptions as {
      subscription_id: string;
    }[];
    await world.desk('DELETE', `/akep/subscriptions/${subscription_id}`, undefined, world.agent.key);
    expect((await sender.send(event)).json).toEqual(DUPLICATE);
    expect((await sender.send(anEvent())).status).toBe(422);
  });

  it('[K8] nobody can squat the id of another producer', async () => {
    const { world, sender } = await openInbox();
    const other = await addSender(world, { name: 'other' });
    const event = anEvent();
    expect((await other.send({ ...event, subject: { task_id: 'other' } })).json).toEqual(ACCEPTED);
    expect((await sender.send(event)).json).toEqual(ACCEPTED);
    expect(idsOf(await readAll(world))).toEqual([event.event_id, event.event_id]);
    const path = `/akep/events/${event.event_id}`;
    const unclear = await answered(world.get(path));
    expect([unclear.status, unclear.json.path]).toEqual([409, 'producer_id']);
    expect((await answered(world.post(`${path}/ack`, {}))).status).toBe(409);
    for (const { id } of [sender, other]) {
      const { json } = await answered(world.get(`${path}?producer_id=${id}`));
      expect(json).toMatchObject({ event: { source: { producer_id: id } }, ack: null });
      const ack = await answered(world.post(`${path}/ack?producer_id=${id}`, { status: 'applied' }));
      expect(ack.status).toBe(200);
    }
    expect((await answered(world.get(`${path}?producer_id=prod_x`))).status).toBe(404);
  });
});

describe('what is kept', () => {
  it('[K9] the bytes that came, spliced into pages without being parsed again', async () => {
    const { world, sender } = await openInbox();
    const body = `{ "spec":"akep.v1", "event_id":"evt_bytes_02",\n"event_type":"file.updated","occurred_at":"2026-11-15T09:00:00+01:00","source":{"producer_id":"${sender.id}","name":"d","type":"tool"},"subject":{"artifact_id":"a","n":1.50},"knowledge":{"kind":"document","content_type":"x/y","summary":"é\\u00e9","content":[12345678901234567890,-0,1E5]},"routing":{"resume_policy":"never"}}`;
    expect((await sender.send({ id: 'evt_bytes_02', body })).status).toBe(202);
    const { text } = await answered(world.get('/akep/events'));
    expect(text.startsWith(`{"events":[${body}],"next_cursor":"`)).toBe(true);
    expect((await answered(world.get('/akep/events/evt_bytes_02'))).text).toContain(`{"event":${body},`);
  });

  it('[K9] one event lands in every inbox that takes it, once each, with one line in the ledger', async () => {
    const { world, sender } = await openInbox();
    const second = await world.addAgent({ id: 'agent-02' });
    const third = await world.addAgent({ id: 'agent-03' });
    await subscribed(world, {}, second.key);
    await subscribed(world, { event_types: ['*'] }, second.key);
    await subscribed(world, { event_types: ['tool.failed'] }, third.key);
    const { event_id } = await sender.sent();
    expect(idsOf(await readAll(world))).toEqual([event_id]);
    expect(idsOf(await readAll(world, second.key))).toEqual([event_id]);
    expect(await readAll(world, third.key)).toEqual([]);
    const lines = await ledger(world, 'event.accepted');
    expect(lines).toMatchObject([
      { actor: `producer:${sender.id}`, subject: event_id, data: { inboxes: ['agent-01', 'agent-02'] } },
    ]);
  });

  it('[K9] bodies are sealed at rest', async () => {
    const { world, sender } = await openInbox();
    await sender.sent({ knowledge: { kind: 'message', content_type: 'x/y', summary: 'canary-4711' } });
    const rows = (await world.sql('select sealed from bodies')) as { sealed: Uint8Array }[];
    expect(rows.map(({ sealed }) => Buffer.from(sealed).includes('canary-4711'))).toEqual([false]);
  });
});

describe('who takes it', () => {
  it('[K7] without a subscription it is 422, and nothing is stored', async () => {
    const world = await openWorld();
    const sender = await addSender(world);
    const reply = await sender.send(anEvent());
    const error = 'No subscription takes this event: check its type, filters, source, producer and key id.';
    expect([reply.status, reply.json]).toEqual([422, { error }]);
    expect(await ledger(world, 'event.accepted')).toEqual([]);
    await subscribed(world, { event_types: ['*'] });
    expect(await readAll(world)).toEqual([]);
    expect((await sender.send(anEvent())).status).toBe(202);
  });

  it('[K7] an event that comes while its subscription is deleted is taken whole or not at all', async () => {
    const { world, sender } = await openInbox();
    const [first] = (await answered(world.get('/akep/subscriptions'))).json.subscriptions as {
      subscription_id: string;
    }[];
    const sending = Array.from({ length: 40 }, () => sender.send(anEvent()));
    const path = `/akep/subscriptions/${first?.subscription_id}`;
    await Promise.race(sending);
    const deleting = world.desk('DELETE', path, undefined, world.agent.key);
    const more = Array.from({ length: 40 }, () => sender.send(anEvent()));
    const replies = await Promise.all([...sending, ...more]);
    expect((await deleting).status).toBe(204);
    replies.push(await sender.send(anEvent()));
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([202, 422]));
    const taken = replies.filter((reply) => reply.status === 202).length;
    expect(await readAll(world)).toHaveLength(taken);
  });

  it('[K7] a subscription that cannot be read makes it 503, until it can be again', async () => {
    const { world, sender } = await openInbox();
    const change = (body: string) => world.sql('update subscriptions set body = ?', body);
    await change('{"spec"');
    const reply = await sender.send(anEvent());
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '30']);
    await change('{"spec":"akep.v1","sink":"x","event_types":["*"],"delivery":{"type":"poll"}}');
    expect((await sender.send(anEvent())).status).toBe(202);
    expect(await readAll(world)).toHaveLength(1);
  });

  it('[K10] the first agent of a fresh space takes everything; that can be seen and deleted', async () => {
    const { world, sender } = await openInbox();
    const { json } = await answered(world.get('/akep/subscriptions'));
    expect(json.subscriptions).toMatchObject([
      { event_types: ['*'], default: true, delivery: { type: 'poll' }, spec: 'akep.v1' },
    ]);
    await sender.sent({ event_type: 'anything.at-all' });
    expect((await page(world)).events).toHaveLength(1);
  });

  it('[K10] so does that of a space which was made later, and nobody after it', async () => {
    const { world } = await openInbox();
    const space = await world.addSpace('later');
    const [first, second] = [
      await world.addAgent({ id: 'first', space: space.id }),
      await world.addAgent({ id: 'second', space: space.id }),
    ];
    const subscriptionsOf = async (key: string) =>
      (await answered(world.get('/akep/subscriptions', key))).json.subscriptions;
    expect(await subscriptionsOf(first.key)).toMatchObject([{ event_types: ['*'], default: true }]);
    expect(await subscriptionsOf(second.key)).toEqual([]);
  });
});

describe('what was refused', () => {
  it('[K31] is noted with its reason for the producer it belongs to, and kept for a week', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    const other = await addSender(world, { name: 'other' });
    await sender.send(anEvent({ event_id: 'evt_refused_1', command: 'x' }));
    clock.turn(1);
    const keyed = {
      'webhook-signature-key-id': sender.made.keyId,
      'webhook-signature': `v1,${'A'.repeat(43)}=`,
    };
    await sender.send(anEvent({ event_id: 'evt_refused_2' }), { headers: keyed });
    await untilNoted(world);
    const refused = async (id: string) =>
      (await answered(world.desk('GET', `/desk/producers/${id}/refused`))).json.refused;
    expect(await refused(sender.id)).toMatchObject([
      { status: 400, reason: 'No signature is valid for a producer that is known here.' },
      { event_id: 'evt_refused_1', status: 400, reason: 'AKEP events carry knowledge, not commands.' },
    ]);
    expect(await refused(other.id)).toEqual([]);
    await world.tick(7 * 24 * 3600 * 1_000_000 + 1);
    expect(await refused(sender.id)).toEqual([]);
  });

  it('[K31][K24] is noted too when it named a key that has ended, and which; outside it is a wrong signature', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    const keys = `/desk/producers/${sender.id}/keys`;
    await world.desk('POST', keys);
    const named = { headers: { 'webhook-signature-key-id': sender.made.keyId } };
    clock.turn(4 * 24 * 3600 * 1_000_000);
    const expired = await sender.send(anEvent({ event_id: 'evt_expired_1' }), named);
    const fresh = (await answered(world.desk('POST', keys))).json.key_id as string;
    await world.desk('DELETE', `${keys}/${fresh}`);
    const revoked = await sender.send(anEvent({ event_id: 'evt_revoked_1' }), {
      headers: { 'webhook-signature-key-id': fresh },
    });
    const wrong = await sender.send(anEvent(), { headers: { 'webhook-signature-key-id': 'pk_unknown' } });
    expect([expired, revoked]).toMatchObject([
      { status: 400, json: wrong.json },
      { status: 400, json: wrong.json },
    ]);
    await untilNoted(world);
    const { json } = await answered(world.desk('GET', `/desk/producers/${sender.id}/refused`));
    const reasons = (json.refused as { event_id: string; reason: string }[]).map(
      ({ event_id, reason }) => `${event_id}: ${reason}`,
    );
    expect(reasons.sort()).toEqual([
      `evt_expired_1: The key ${sender.made.keyId} expired at 2026-11-19T09:00:00.000000Z. Sign with a key that is valid.`,
      `evt_revoked_1: The key ${fresh} was revoked at 2026-11-19T09:00:00.000000Z. Sign with a key that is valid.`,
    ]);
  });

  it('[K35] a flood of refused events writes down only so many of them', async () => {
    const clock = new ManualClock();
    const { world, sender } = await openInbox({ clock });
    await Promise.all(Array.from({ length: 150 }, () => sender.send(anEvent({ command: 'x' }))));
    await untilNoted(world);
    const { json } = await answered(world.desk('GET', `/desk/producers/${sender.id}/refused?limit=500`));
    expect(json.refused).toHaveLength(100);
  });
});
