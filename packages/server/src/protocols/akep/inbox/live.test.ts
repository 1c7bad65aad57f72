import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Fault } from '../../../core/faults.ts';
import {
  addSender,
  answered,
  idsOf,
  opened,
  openInbox,
  page,
  subscribed,
} from '../../../testing/akep/akep.ts';
import { Relay, SseReader } from '../../../testing/akep/akep-live.ts';
import { captureLog } from '../../../testing/log.ts';
import { until, untilStreaming } from '../../../testing/waiting.ts';
import { openWorld } from '../../../testing/wake.ts';
import type { World } from '../../../testing/world.ts';

async function take<T>(count: number, next: () => Promise<T>): Promise<T[]> {
  const taken: T[] = [];
  for (let n = 0; n < count; n++) taken.push(await next());
  return taken;
}

const unacked = async (world: World) => {
  const { json } = await answered(world.desk('GET', '/desk/inboxes'));
  return (json.inboxes as { unacknowledged: number }[])[0]?.unacknowledged;
};

describe('the stream', () => {
  it('[K15] sends bare envelopes with their cursors, what was there and what comes', async () => {
    const { world, sender } = await openInbox();
    const first = await sender.sent();
    const stream = await SseReader.open(world);
    const frame = await stream.next();
    expect([frame?.event, JSON.parse(frame?.data ?? '')]).toEqual([
      'event',
      { ...first, source: { producer_id: sender.id, ...first.source } },
    ]);
    const second = await sender.sent();
    expect((await stream.nextEvent())?.event_id).toBe(second.event_id);
    expect(stream.lastId).toBe((await page(world)).next_cursor);
  });

  it('[K15] continues after Last-Event-ID, or after ?cursor', async () => {
    const { world, sender } = await openInbox();
    const sent = [];
    for (let n = 0; n < 3; n++) sent.push(await sender.sent());
    const { next_cursor } = await page(world, '?limit=1');
    const byHeader = await SseReader.open(world, { 'last-event-id': next_cursor });
    const byQuery = await SseReader.open(world, {}, `?cursor=${next_cursor}`);
    for (const stream of [byHeader, byQuery])
      expect((await take(2, () => stream.nextEvent())).map((e) => e?.event_id)).toEqual(idsOf(sent.slice(1)));
  });

  it('[K15] without a cursor starts at the oldest that was not acknowledged, and leaves out what was', async () => {
    const { world, sender } = await openInbox();
    const sent = [];
    for (let n = 0; n < 4; n++) sent.push(await sender.sent());
    for (const n of [0, 2]) await world.post(`/akep/events/${sent[n]?.event_id}/ack`, {});
    const stream = await SseReader.open(world);
    const last = await sender.sent();
    expect((await take(3, () => stream.nextEvent())).map((e) => e?.event_id)).toEqual([
      sent[1]?.event_id,
      sent[3]?.event_id,
      last.event_id,
    ]);
  });

  it('[K15] line ends inside of an envelope do not tear its frame', async () => {
    const { world, sender } = await openInbox();
    const body = (id: string, end: string) =>
      `{"spec":"akep.v1","event_id":"${id}",${end}"event_type":"file.updated","occurred_at":"2026-11-15T09:00:00Z",${end}"source":{"name":"d","type":"tool"},"subject":{"task_id":"t"},"knowledge":{"kind":"document","content_type":"x/y","summary":"s"},"routing":{"resume_policy":"never"}}`;
    const ends = {
      evt_line_end_1: '\n',
      evt_line_end_2: '\r',
      evt_line_end_3: '\r\n',
      evt_line_end_4: '\n\n',
    };
    for (const [id, end] of Object.entries(ends))
      expect((await sender.send({ id, body: body(id, end) })).status).toBe(202);
    const stream = await SseReader.open(world);
    const read = await take(4, () => stream.nextEvent());
    expect(read.map((e) => e?.event_id)).toEqual(Object.keys(ends));
  });

  it('[K15] a slow reader is paused and gets everything', async () => {
    const { world, sender } = await openInbox();
    const content = 'x'.repeat(200_000);
    const knowledge = { kind: 'document', content_type: 'text/plain', summary: 'large', content };
    const stream = await SseReader.open(world);
    const sent = [];
    for (let n = 0; n < 60; n++) sent.push(await sender.sent({ knowledge }));
    const read = await take(60, () => stream.nextEvent());
    expect(read.map((e) => e?.event_id)).toEqual(idsOf(sent));
  });

  it('[K15][K23] on shutdown says that it is worth coming back', async () => {
    const { world } = await openInbox();
    const stream = await SseReader.open(world);
    await untilStreaming(world, 1);
    await world.restart();
    expect(await stream.next()).toMatchObject({ event: 'reconnect' });
    expect(await stream.next()).toBeNull();
  });

  it('[K37] ends when the key is revoked, and tells nothing more', async () => {
    const { world, sender } = await openInbox();
    const stream = await SseReader.open(world);
    await untilStreaming(world, 1);
    await world.desk('DELETE', `/desk/agents/agent-01/keys/${world.agent.keyId}`);
    await sender.sent();
    expect(await stream.next()).toMatchObject({ event: 'reconnect' });
    await untilStreaming(world, 0);
  });
});

/** The head of the answer to a bare upgrade. */
async function upgraded(world: World, headers: string[]): Promise<string> {
  const { port, host } = new URL(world.url);
  const socket = connect(Number(port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  const asked = [
    'GET /akep/relay HTTP/1.1',
    `host: ${host}`,
    `authorization: Bearer ${world.agent.key}`,
    'connection: Upgrade',
    'upgrade: websocket',
    'sec-websocket-version: 13',
    'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  ];
  socket.write(`${asked.join('\r\n')}\r\n\r\n`);
  const [head] = (await once(socket, 'data')) as [Buffer];
  return head.toString();
}

describe('the relay', () => {
  it('[K15] sends events with their cursors and takes acknowledgements', async () => {
    const { world, sender } = await openInbox();
    const first = await sender.sent();
    const relay = await Relay.open(world);
    const frame = await relay.next();
    const filled = { ...first, source: { producer_id: sender.id, ...first.source } };
    expect(frame).toEqual({ type: 'event', cursor: (await page(world)).next_cursor, event: filled });
    relay.send({ type: 'ack', event_id: first.event_id, status: 'applied', reason: 'Read.' });
    await until(async () => (await unacked(world)) === 0);
    const { json } = await answered(world.get(`/akep/events/${first.event_id}`));
    expect(json.ack).toMatchObject({ status: 'applied', reason: 'Read.' });
  });

  it('[K15] claims to speak no subprotocol, whatever is offered', async () => {
    const { world } = await openInbox();
    const reply = await upgraded(world, ['sec-websocket-protocol: mqtt, bearer']);
    expect(reply).toMatch(/^HTTP\/1\.1 101 /);
    expect(reply).not.toMatch(/sec-websocket-protocol/i);
  });

  it('[K15] what was not acknowledged comes again after a reconnect, and only that', async () => {
    const { world, sender } = await openInbox();
    const sent = [];
    for (let n = 0; n < 3; n++) sent.push(await sender.sent());
    const relay = await Relay.open(world);
    await take(3, () => relay.nextEvent());
    relay.send({ type: 'ack', event_id: sent[1]?.event_id });
    await until(async () => (await unacked(world)) === 2);
    relay.leave();
    const again = await Relay.open(world);
    expect((await take(2, () => again.nextEvent())).map((e) => e?.event_id)).toEqual(
      idsOf([sent[0], sent[2]].flatMap((e) => e ?? [])),
    );
    const { next_cursor } = await page(world, '?limit=2');
    const behind = await Relay.open(world, `?cursor=${next_cursor}`);
    expect((await behind.nextEvent())?.event_id).toBe(sent[2]?.event_id);
  });

  it.each([
    ['no JSON', 'hello'],
    ['a list', '[]'],
    ['null', 'null'],
    ['another type', '{"type":"event","event_id":"evt_x"}'],
    ['no id', '{"type":"ack"}'],
    ['an unknown status', '{"type":"ack","event_id":"evt_x","status":"done"}'],
    ['an unknown event', '{"type":"ack","event_id":"evt_nowhere_1"}'],
    ['an id twice', '{"type":"ack","event_id":"evt_x","event_id":"evt_y"}'],
  ])('[K15] %s is answered with what is wrong, and the socket stays', async (_, text) => {
    const { world, sender } = await openInbox();
    const relay = await Relay.open(world);
    relay.send(text);
    expect(await relay.next()).toMatchObject({ type: 'error', error: expect.any(String) });
    const event = await sender.sent();
    expect((await relay.nextEvent())?.event_id).toBe(event.event_id);
    expect(await unacked(world)).toBe(1);
  });

  it('[K15] binary data is not a frame, and a frame of 64 KiB or more ends the socket', async () => {
    const log = captureLog();
    const { world } = await openInbox({ env: { LANTERNROOM_LOG: 'info' } });
    const relay = await Relay.open(world);
    relay.socket.send(Buffer.from('{"type":"ack","event_id":"evt_x"}'), { binary: true });
    expect(await relay.next()).toMatchObject({ type: 'error' });
    relay.send('x'.repeat(64 * 1024 + 1));
    expect((await relay.closed).code).toBe(1009);
    expect((await answered(world.get('/akep/events'))).status).toBe(200);
    // A reader's mistake is nothing that an operator should be woken for.
    expect(log().filter(({ level }) => Number(level) > 30)).toEqual([]);
  });

  it.each([
    ['a reason that is too long', { reason: 'x'.repeat(1001) }],
    ['a reason that is no text', { reason: 5 }],
    ['a reason with U+0000', { reason: 'a\0b' }],
    ['a time that is none', { processed_at: 'soon' }],
    ['no status', { status: null }],
  ])(
    '[K13][K15] an acknowledgement with %s is refused as over HTTP, and changes nothing',
    async (_, wrong) => {
      const { world, sender } = await openInbox();
      const { event_id } = await sender.sent();
      const relay = await Relay.open(world);
      await relay.nextEvent();
      const http = await answered(world.post(`/akep/events/${event_id}/ack`, wrong));
      relay.send({ type: 'ack', event_id, ...wrong });
      const error = http.json.error as string;
      expect([http.status, await relay.next()]).toEqual([400, { type: 'error', event_id, error }]);
      expect(await unacked(world)).toBe(1);
    },
  );

  it('[K15] a conflicting acknowledgement is told with the event it is about', async () => {
    const { world, sender } = await openInbox();
    const { event_id } = await sender.sent();
    await world.post(`/akep/events/${event_id}/ack`, { status: 'applied' });
    const relay = await Relay.open(world);
    relay.send({ type: 'ack', event_id, status: 'rejected' });
    expect(await relay.next()).toMatchObject({ type: 'error', event_id });
  });

  it('[K11] without a good key there is no socket; without the upgrade there is a sentence', async () => {
    const world = await openWorld();
    await expect(Relay.open(world, '', 'wk_test_nobody')).rejects.toThrow('403');
    const plain = await answered(world.get('/akep/relay'));
    expect([plain.status, plain.json.path]).toEqual([400, 'upgrade']);
  });

  it.each([
    ['another protocol', '/akep/events', 'h2c'],
    ['another address', '/akep/events', 'websocket'],
    ['the desk', '/desk/deliveries', 'websocket'],
    ['nowhere', '/nowhere', 'websocket'],
    ['no key', '/akep/relay', 'websocket'],
  ])('[K15] an upgrade to %s is answered, and its connection does not stay', async (_, path, upgrade) => {
    const world = await openWorld();
    const { port } = new URL(world.url);
    const socket = connect(Number(port), '127.0.0.1');
    const headers = `Connection: Upgrade\r\nUpgrade: ${upgrade}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==`;
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n`);
    let said = '';
    for await (const chunk of socket) said += String(chunk);
    expect(said).toMatch(/^HTTP\/1\.1 40[01] /);
  });

  it('[K11] a corrupt cursor closes it with the reason', async () => {
    const { world } = await openInbox();
    const relay = await Relay.open(world, '?cursor=nonsense');
    const { code, reason } = await relay.closed;
    expect([code, reason]).toEqual([1008, 'invalid_field: This cursor does not belong to this inbox.']);
  });

  it('[K15] a slow reader is paused, never dropped', async () => {
    const { world, sender } = await openInbox();
    const content = 'x'.repeat(500_000);
    const knowledge = { kind: 'document', content_type: 'text/plain', summary: 'large', content };
    const relay = await Relay.open(world);
    relay.socket.pause();
    const sent = [];
    for (let n = 0; n < 40; n++) sent.push(await sender.sent({ knowledge }));
    relay.socket.resume();
    const read = await take(40, () => relay.nextEvent());
    expect(read.map((e) => e?.event_id)).toEqual(idsOf(sent));
  });

  it('[K15] of a store that is away is closed with a code that lets the reader come back', async () => {
    const { world } = await openInbox();
    const { store } = world.room;
    const read = store.read.bind(store);
    store.read = () => Promise.reject(new Fault('unavailable', 'The database does not answer.'));
    const relay = await Relay.open(world);
    const reason = 'unavailable: The database does not answer.';
    expect(await relay.closed).toEqual({ code: 1013, reason });
    store.read = read;
  });

  it('[K15] cuts off a client that keeps asking and never listens', async () => {
    const { world } = await openInbox();
    const { socket } = await Relay.open(world);
    const { _socket: wire } = socket as unknown as { _socket: Socket };
    wire.pause();
    const cut = new Promise((resolve) => wire.once('error', resolve));
    // Each is answered with what is wrong with it. A mask of zeros leaves the text as it is.
    const frame = Buffer.from([0x81, 0x80 | 2, 0, 0, 0, 0, 0x7b, 0x7d]);
    const many = Buffer.concat(Array(4_000).fill(frame));
    for (let said = 0; said < 400 && !wire.destroyed; said++)
      if (!wire.write(many)) await Promise.race([new Promise((resolve) => wire.once('drain', resolve)), cut]);
    expect(wire.destroyed).toBe(true);
  });

  it('[K15][K23] on shutdown is closed with the hint to reconnect', async () => {
    const { world, sender } = await openInbox();
    const relay = await Relay.open(world);
    await sender.sent();
    await relay.nextEvent();
    await world.restart();
    expect(await relay.closed).toEqual({ code: 1012, reason: 'restarting, please reconnect' });
  });

  it('[K37] ends when the key is revoked', async () => {
    const { world, sender } = await openInbox();
    const relay = await Relay.open(world);
    await sender.sent();
    await relay.nextEvent();
    await world.desk('DELETE', `/desk/agents/agent-01/keys/${world.agent.keyId}`);
    await sender.sent();
    expect((await relay.closed).code).toBe(1008);
    expect(await relay.next()).toBeNull();
  });

  it('[K37][W28] takes no acknowledgement once its key is revoked', async () => {
    const { world, sender } = await openInbox();
    const relay = await Relay.open(world);
    const { event_id } = await sender.sent();
    await relay.nextEvent();
    await world.desk('DELETE', `/desk/agents/agent-01/keys/${world.agent.keyId}`);
    relay.send({ type: 'ack', event_id, status: 'rejected', reason: 'Nobody is to see it.' });
    expect((await relay.closed).code).toBe(1008);
    expect(await world.sql('select ack from entries where event_id = ?', event_id)).toEqual([{ ack: null }]);
  });
});

describe('resumes on the way', () => {
  const now = { routing: { resume_policy: 'resume_immediately' } };

  it('[K21][K37] a resume comes right before its event, on both', async () => {
    const { world, sender } = await openInbox();
    await sender.sent();
    const wait_id = await opened(world);
    const { event_id } = await sender.sent({ routing: { resume_policy: 'resume_if_waiting' } });
    const relay = await Relay.open(world);
    const frames = await take(3, () => relay.next());
    expect(frames.map((f) => f?.type)).toEqual(['event', 'resume', 'event']);
    expect(frames[1]).toMatchObject({ resume: { wait_id, event_id, decision: 'resume' } });
    const stream = await SseReader.open(world);
    const [, resume, event] = await take(3, () => stream.next());
    expect([resume?.event, resume?.id, JSON.parse(resume?.data ?? '').wait_id]).toEqual([
      'resume',
      null,
      wait_id,
    ]);
    expect([event?.event, JSON.parse(event?.data ?? '').event_id]).toEqual(['event', event_id]);
  });

  it('[K37] whoever has the event gets its resume no second time, whoever has not gets both', async () => {
    const { world, sender } = await openInbox();
    const events = [];
    for (let n = 0; n < 3; n++) events.push(await sender.sent(now));
    const { next_cursor } = await page(world, '?limit=1');
    const relay = await Relay.open(world, `?cursor=${next_cursor}`);
    const frames = await take(4, () => relay.next());
    const told = frames.map((f) => (f?.type === 'resume' ? f.resume.event_id : f?.type));
    expect(told).toEqual([events[1]?.event_id, 'event', events[2]?.event_id, 'event']);
  });

  it('[K37] hundreds of resumes by one event all come before it', async () => {
    const { world, sender } = await openInbox();
    const ids = await Promise.all(Array.from({ length: 250 }, () => opened(world)));
    const { event_id } = await sender.sent({ routing: { resume_policy: 'resume_if_waiting' } });
    const relay = await Relay.open(world);
    const frames = await take(251, () => relay.next());
    const woken = frames.flatMap((f) => (f?.type === 'resume' ? [f.resume.wait_id] : []));
    expect(woken.sort()).toEqual([...ids].sort());
    expect(frames.at(-1)).toMatchObject({ type: 'event', event: { event_id } });
  });

  it('[K15] an inbox that cannot be read ends both, and its cause is in the log', async () => {
    const log = captureLog();
    const { world, sender } = await openInbox({ env: { LANTERNROOM_LOG: 'info' } });
    await sender.sent();
    await world.sql('update bodies set sealed = ?', Buffer.from([0]));
    await world.restart();
    const relay = await Relay.open(world);
    expect((await relay.closed).code).toBe(1011);
    const stream = await SseReader.open(world);
    expect(await stream.nextEvent()).toBeNull();
    const lines = log().filter(({ level }) => Number(level) >= 50);
    expect(lines.map(({ url }) => url)).toEqual(['/akep/relay', '/akep/events/stream']);
    for (const line of lines) expect(line).toMatchObject({ msg: 'unexpected error', err: expect.anything() });
  });

  it('[K34] a reader without acknowledgements is sent what comes while it is there', async () => {
    const world = await openWorld();
    const sender = await addSender(world);
    await subscribed(world, { delivery: { type: 'websocket', ack_required: false } });
    await sender.sent();
    const relay = await Relay.open(world);
    const second = await sender.sent();
    expect((await relay.nextEvent())?.event_id).toBe(second.event_id);
  });
});
