import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { faultOf } from '../faults.ts';
import { manualClock } from '../testing/clock.ts';
import { type Said, type Script, startRoom } from '../testing/room.ts';
import { createProducer, type ProducerOptions } from './producer.ts';
import { verifyEvent } from './verify.ts';

interface Vectors {
  retries: { says: (number | null)[]; comes: string; requests: number }[];
}

const { retries }: Vectors = JSON.parse(
  readFileSync(new URL('../../../../spec/vectors/akep.json', import.meta.url), 'utf8'),
);
const secret = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
const ACCEPTED: Said = { status: 202, body: { accepted: true, duplicate: false } };
const EVENT = {
  event_type: 'tool.completed',
  subject: { task_id: 'task_42' },
  knowledge: { kind: 'tool_result', summary: 'The export has 1200 rows.' },
} as const;

async function startProducer(script: Script, options: Partial<ProducerOptions> = {}) {
  const room = await startRoom(script);
  const clock = manualClock();
  const identity = { producerId: 'prod_exporter', name: 'exporter', type: 'tool' } as const;
  const producer = createProducer({ url: room.url, ...identity, secret, clock, ...options });
  return { ...room, clock, producer };
}

describe('sending an event', () => {
  it('[K1] it is signed over the exact bytes, and a receiver believes it', async () => {
    const { producer, seen, clock } = await startProducer(() => ACCEPTED, { keyId: 'pk_1' });
    const sent = await producer.send(EVENT);
    const [one] = seen;
    expect(one).toMatchObject({ method: 'POST', url: '/akep/events' });
    expect(one?.headers).toMatchObject({
      'webhook-id': sent.eventId,
      'webhook-signature-key-id': 'pk_1',
      'content-type': 'application/json',
    });
    expect(one?.headers.authorization).toBeUndefined();
    const request = { secret, body: one?.body ?? '', headers: one?.headers ?? {}, now: clock.now() };
    await expect(verifyEvent(request)).resolves.toMatchObject({
      ok: true,
      event: { source: { name: 'exporter' } },
    });
  });

  it('[K3] a clock that is wrong is named when the server refuses, and only then', async () => {
    const refuse = (minutes: number): Said => ({
      status: 400,
      body: { error: 'The timestamp is too old.' },
      headers: { date: new Date(Date.parse('2026-03-08T12:00:00Z') + minutes * 60_000).toUTCString() },
    });
    for (const [minutes, said] of [
      [7, /clock is 7 min behind the server's/],
      [-9, /clock is 9 min ahead of the server's/],
      [1, /^((?!clock).)*$/],
    ] as const) {
      const { producer } = await startProducer(() => refuse(minutes));
      await expect(producer.send(EVENT)).rejects.toThrow(said);
    }
  });

  it('[K4] the rest of the envelope is filled in', async () => {
    const { producer, seen } = await startProducer(() => ACCEPTED);
    const { eventId } = await producer.send(EVENT);
    expect(eventId).toMatch(/^evt_[0-9a-f]{32}$/);
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual({
      spec: 'akep.v1',
      event_id: eventId,
      event_type: 'tool.completed',
      occurred_at: '2026-03-08T12:00:00.000Z',
      source: { producer_id: 'prod_exporter', name: 'exporter', type: 'tool' },
      subject: { task_id: 'task_42' },
      knowledge: { kind: 'tool_result', content_type: 'text/plain', summary: 'The export has 1200 rows.' },
      routing: { resume_policy: 'resume_if_waiting' },
    });
    expect(seen[0]?.headers['webhook-signature-key-id']).toBeUndefined();
  });

  it('[K8] what the caller gives stays as it is, and a duplicate is said to be one', async () => {
    const { producer, seen } = await startProducer(() => ({
      status: 202,
      body: { accepted: true, duplicate: true },
    }));
    const sent = await producer.send({
      ...EVENT,
      event_id: 'evt_mine_0001',
      occurred_at: '2026-01-01T00:00:00Z',
      source: { source_event_id: 'row 7' },
      knowledge: { ...EVENT.knowledge, content: { rows: 1200 } },
      routing: { resume_policy: 'never', sequence: 3 },
    });
    expect(sent).toEqual({ eventId: 'evt_mine_0001', accepted: true, duplicate: true });
    expect(JSON.parse(seen[0]?.body ?? '')).toMatchObject({
      event_id: 'evt_mine_0001',
      occurred_at: '2026-01-01T00:00:00Z',
      source: { producer_id: 'prod_exporter', source_event_id: 'row 7' },
      knowledge: { content_type: 'application/json', content: { rows: 1200 } },
      routing: { resume_policy: 'never', sequence: 3 },
    });
  });

  it('[K8] every retry has the same id and bytes, and a signature of its own time', async () => {
    const { producer, seen, clock } = await startProducer((_, count) => {
      if (count === 1) return 'hang_up';
      return count === 2 ? { status: 429, headers: { 'retry-after': '900' } } : ACCEPTED;
    });
    await producer.send(EVENT);
    expect(new Set(seen.map((one) => one.body)).size).toBe(1);
    expect(new Set(seen.map((one) => one.headers['webhook-id'])).size).toBe(1);
    const last = seen[2];
    const request = { secret, body: last?.body ?? '', headers: last?.headers ?? {}, now: clock.now() };
    expect(clock.naps.at(-1)).toBe(900_000);
    await expect(verifyEvent(request)).resolves.toMatchObject({ ok: true });
  });

  it.each(retries)(
    '[K6] when the server says $says it comes to $comes',
    async ({ says, comes, requests }) => {
      const { producer, seen } = await startProducer((_, count) => {
        const status = says[count - 1] ?? null;
        if (status === null) return 'hang_up';
        return status === 202 ? ACCEPTED : { status, body: { error: 'No subscription takes this event.' } };
      });
      const outcome = await producer.send(EVENT).then(
        () => 'accepted',
        (error: unknown) => faultOf(error),
      );
      expect({ outcome, requests: seen.length }).toEqual({ outcome: comes, requests });
    },
  );

  it('[K7] what the server refuses is told in its own words', async () => {
    const body = { error: 'No subscription takes this event.', path: '/event_type' };
    const { producer } = await startProducer(() => ({ status: 422, body }));
    await expect(producer.send(EVENT)).rejects.toMatchObject({
      fault: 'refused',
      message: 'The server refused (422): No subscription takes this event.',
      wire: { status: 422, field: '/event_type' },
    });
  });

  it.each([
    ['a command', { command: 'rm -rf /' }, /knowledge, not commands/],
    ['an id with a dot', { event_id: 'evt.export' }, /event_id/],
    ['a short id', { event_id: 'evt' }, /event_id/],
    ['a type in capitals', { event_type: 'Tool.Completed' }, /event_type/],
    ['nobody concerned', { subject: { colour: 'red' } }, /task_id/],
    ['nothing said', { knowledge: { kind: 'message' as const, summary: '' } }, /summary/],
    ['nothing known', { knowledge: undefined as never }, /summary/],
  ])('[K4] %s is wrong usage, and nothing is sent', async (_, more, hint) => {
    const { producer, seen } = await startProducer(() => ACCEPTED);
    const sending = producer.send({ ...EVENT, ...more });
    await expect(sending).rejects.toMatchObject({
      fault: 'wrong_usage',
      message: expect.stringMatching(hint),
    });
    expect(seen).toEqual([]);
  });

  it.each(['{}', '[]', '<html>', '{"accepted":"yes"}'])(
    '[K8] a reply of %s is no acceptance',
    async (body) => {
      const { producer } = await startProducer(() => ({ status: 202, body }));
      await expect(producer.send(EVENT)).rejects.toMatchObject({ fault: 'bad_reply' });
    },
  );

  it('[K1] https only, except on this machine; and not without a secret', async () => {
    const options = { producerId: 'prod_x', name: 'x', type: 'tool', secret } as const;
    expect(() => createProducer({ ...options, url: 'http://example.com' })).toThrow(/https/);
    expect(() => createProducer({ ...options, url: 'http://127.0.0.1:1', secret: '' })).toThrow(/secret/);
    expect(() => createProducer({ ...options, url: 'https://example.com/akep/events' })).not.toThrow();
    expect(() => createProducer({ ...options, url: 'http://localhost:8787/@home' })).not.toThrow();
  });

  it('[K1] a call that is aborted before it starts sends nothing', async () => {
    const { producer, seen } = await startProducer(() => ACCEPTED);
    const sending = producer.send(EVENT, { signal: AbortSignal.abort() });
    await expect(sending).rejects.toMatchObject({ fault: 'aborted' });
    expect(seen).toEqual([]);
  });
});
