import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../core/canonical.ts';
import { anEvent, answered, freshId, openInbox, sharedInbox } from '../../../testing/akep/akep.ts';
import { SENSE2AI } from '../../../testing/akep/akep-examples.ts';
import { checkEvent } from '../schema.ts';
import { CLOUDEVENTS, cloudTextOf, envelopeTextOf, fromCloudEvent, toCloudEvent } from './cloudevents.ts';

const NOW = '2026-11-15T09:00:00.000000Z';
const CLOUD = { accept: CLOUDEVENTS };

/** Members that the strict reader refuses anywhere. */
const isPlain = (text: string) =>
  !/__proto__|"constructor"|"prototype"|\\ud[89a-f]/i.test(text) && !text.includes('e+308');

const attribute = fc
  .stringMatching(/^[a-z][a-z0-9]{2,19}$/)
  .filter((name) => !['data', 'resumepolicy', 'producerid', 'prototype', 'constructor'].includes(name));

/** Any CloudEvent whose id AKEP can name: all the attributes there are, extensions, and data of every kind. */
const cloudEvent = fc
  .record(
    {
      specversion: fc.constant('1.0'),
      type: fc.string({ minLength: 1 }),
      source: fc.string({ minLength: 1 }),
      time: fc.constantFrom('2026-11-15T09:00:00Z', '2026-11-15T09:00:00.123456789+05:30'),
      subject: fc.string(),
      datacontenttype: fc.string(),
      dataschema: fc.webUrl(),
      taskid: fc.string(),
      content: fc.oneof(
        fc.record({ data_base64: fc.base64String() }),
        fc.record({ data: fc.jsonValue({ maxDepth: 4 }) }),
      ),
    },
    { requiredKeys: ['specversion', 'type', 'source'] },
  )
  .map(({ content, ...attributes }) => ({ ...attributes, ...content }))
  .chain((event) =>
    fc
      .dictionary(attribute, fc.oneof(fc.string(), fc.integer(), fc.boolean()), { maxKeys: 3 })
      .map((extensions): JsonObject => ({ ...extensions, ...(event as JsonObject) })),
  )
  .filter((event) => isPlain(JSON.stringify(event)));

describe('CloudEvents', () => {
  const shared = sharedInbox();

  it('[K26] what comes in goes out identical, and is a valid envelope in between', () => {
    const check = (event: JsonObject) => {
      const given = { ...event, id: 'evt_cloud_0001' };
      const envelope = fromCloudEvent(given, { now: NOW });
      expect(checkEvent(envelope, true)).toMatchObject({ ok: true });
      expect(toCloudEvent(JSON.parse(JSON.stringify(envelope)))).toEqual(JSON.parse(JSON.stringify(given)));
    };
    fc.assert(fc.property(cloudEvent, check), { numRuns: 500 });
  });

  it('[K26][W29] one with thousands of extensions costs no more than it has letters', () => {
    const extensions = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`x${n}`, n]));
    const around = { specversion: '1.0', id: 'evt_cloud_0002', source: 's', type: 't', said: 'exact json' };
    const given = { ...around, data: anEvent({ extensions }) };
    const text = JSON.stringify(given);
    const envelope = fromCloudEvent(JSON.parse(text), { now: NOW });
    const kept = envelopeTextOf(text, given as unknown as JsonObject, envelope);
    expect(JSON.parse(kept)).toEqual(envelope);
    expect(cloudTextOf(kept)).toBe(text);
  });

  it('[K26] an envelope inside of one comes back as it was, with every attribute around it', () => {
    const around = fc.dictionary(attribute, fc.string(), { maxKeys: 4 });
    const extensions = fc.option(
      fc.dictionary(fc.constantFrom('ai.x', 'io.cloudevents', 'b-c'), fc.jsonValue({ maxDepth: 2 })),
      { nil: undefined },
    );
    const check = (attributes: JsonObject, extra: unknown) => {
      const envelope = anEvent(extra === undefined ? {} : { extensions: extra });
      const given = { specversion: '1.0', id: 'x', source: 's', type: 't', ...attributes, data: envelope };
      const kept = fromCloudEvent(JSON.parse(JSON.stringify(given)), { now: NOW });
      expect(checkEvent(kept, true)).toMatchObject({ ok: true });
      expect(toCloudEvent(kept)).toEqual(JSON.parse(JSON.stringify(given)));
    };
    fc.assert(fc.property(around as fc.Arbitrary<JsonObject>, extensions, check), { numRuns: 300 });
  });

  it('[K26] an envelope of ours goes out in one and comes in unchanged', () => {
    const outside = toCloudEvent(SENSE2AI as unknown as JsonObject);
    expect(outside).toMatchObject({
      specversion: '1.0',
      id: SENSE2AI.event_id,
      type: 'knowledge.acquired',
      source: '/akep/prod_sense2ai_01',
      subject: 'task_123',
    });
    expect(fromCloudEvent(outside, { now: NOW })).toBe(outside.data);
  });

  it.each([
    ['com.github.pull_request.opened', 'com.github.pull_request.opened'],
    ['com.example.OrderCreated', 'com.example.ordercreated'],
    ['über/order created!', 'ber-order-created'],
    ['x', 'cloudevent.x'],
    ['!!!', 'cloudevent.unnamed'],
    ['a'.repeat(200), 'a'.repeat(128)],
  ])('[K26] the type %s is filtered as %s', (type, event_type) => {
    const event = { specversion: '1.0', id: 'evt_cloud_0002', source: 's', type };
    expect(fromCloudEvent(event, { now: NOW }).event_type).toBe(event_type);
  });

  it('[K26] through the server: one in, the same out, and readable as an envelope', async () => {
    const { world, sender } = await openInbox();
    const given = {
      specversion: '1.0',
      id: freshId(),
      source: '/shop',
      type: 'com.example.OrderCreated',
      taskid: 't_9',
      traceparent: '00-abc',
      data: { summary: 'Order 7 is in.', n: 1 },
    };
    const sent = await sender.send(
      { id: given.id, body: JSON.stringify(given) },
      { contentType: CLOUDEVENTS },
    );
    expect(sent.status).toBe(202);
    const plain = await answered(world.get(`/akep/events/${given.id}`));
    expect(plain.json.event).toMatchObject({
      event_type: 'com.example.ordercreated',
      source: { producer_id: sender.id, name: '/shop' },
      subject: { task_id: 't_9' },
      knowledge: { summary: 'Order 7 is in.', content: given.data },
    });
    const cloud = await answered(world.get(`/akep/events/${given.id}`, world.agent.key, CLOUD));
    expect(cloud.json.event).toEqual(given);
    const page = await answered(world.get('/akep/events', world.agent.key, CLOUD));
    expect(page.json.events).toEqual([given]);
  });

  it.each([
    ['Application/CloudEvents+JSON', true],
    ['application/cloudevents+json; charset=utf-8', true],
    ['application/json, application/cloudevents+json', true],
    ['application/cloudevents+json;q=0.9, */*;q=0.1', true],
    ['application/json, application/cloudevents+json;q=0.5', false],
    ['application/json, application/cloudevents+json; q=0', false],
    ['application/cloudevents+json;q=0.5, */*', false],
    ['application/cloudevents-batch+json', false],
  ])('[K26] who accepts %s gets CloudEvents: %s', async (accept, isCloud) => {
    const { world, sender } = shared();
    const { event_id } = await sender.sent();
    for (const path of [`/akep/events/${event_id}`, '/akep/events?last=1']) {
      const { json } = await answered(world.get(path, world.agent.key, { accept }));
      const [event] = json.event === undefined ? (json.events as object[]) : [json.event];
      expect([path, 'specversion' in Object(event)]).toEqual([path, isCloud]);
    }
  });

  it('[K26] without a time it has that of its arrival, and is a duplicate later all the same', async () => {
    const { sender } = await openInbox();
    const event = { specversion: '1.0', id: freshId(), source: 's', type: 'a.b.c' };
    const send = () =>
      sender.send(
        { id: event.id, body: JSON.stringify(event) },
        { contentType: `${CLOUDEVENTS}; charset=utf-8` },
      );
    expect((await send()).json.duplicate).toBe(false);
    expect((await send()).json.duplicate).toBe(true);
  });

  it.each([
    [[], 'a list'],
    [{ specversion: '0.3', id: 'evt_cloud_bad', source: 's', type: 'a.b' }, 'another version'],
    [{ specversion: '1.0', source: 's', type: 'a.b' }, 'no id'],
    [{ specversion: '1.0', id: 'evt_cloud_bad', type: 'a.b' }, 'no source'],
    [{ specversion: '1.0', id: 'evt_cloud_bad', source: 's' }, 'no type'],
    [{ specversion: '1.0', id: 'evt_cloud_bad', source: 's', type: 'a.b', time: 'now' }, 'a wrong time'],
    [
      { specversion: '1.0', id: 'evt_cloud_bad', source: 's', type: 'a.b', resumepolicy: 'x' },
      'a wrong policy',
    ],
    [
      { specversion: '1.0', id: 'evt_cloud_bad', source: 's', type: 'a', data: anEvent({ command: 'x' }) },
      'a command inside',
    ],
    [{ specversion: '1.0', id: 'evt_cloud_bad', source: '', type: 'a.b' }, 'an empty source'],
    [
      { specversion: '1.0', id: 'evt_cloud_bad', source: 's', type: 'a.b', data: 1, data_base64: 'aGk=' },
      'data twice',
    ],
    [
      { specversion: '1.0', id: 'evt_cloud_bad', source: 's', type: 'a.b', data_base64: '!' },
      'data that is no base64',
    ],
    [
      { specversion: '1.0', id: 'evt_cloud_bad', source: 's', type: 'a.b', trace: { a: 1 } },
      'an attribute that is an object',
    ],
  ])('[K26] %j (%s) is refused', async (event, _) => {
    const { sender } = shared();
    const body = { id: 'evt_cloud_bad', body: JSON.stringify(event) };
    const reply = await sender.send(body, { contentType: CLOUDEVENTS });
    expect([reply.status, typeof reply.json.error]).toEqual([400, 'string']);
  });

  const HUGE = '{"n":12345678901234567890,"m":1.10}';

  it.each([
    ['data', (id: string) => `{"specversion":"1.0","id":"${id}","source":"s","type":"t.t","data":${HUGE}}`],
    [
      'an envelope with attributes around it',
      (id: string) => {
        const inner = JSON.stringify(anEvent({ event_id: id, extensions: { 'a.b': 1 } }));
        const envelope = inner
          .replace('"summary"', `"content":${HUGE},"summary"`)
          .replace('"a.b":1', `"a.b":${HUGE}`);
        return `{"specversion":"1.0","id":"x","source":"s","type":"t.t","data":${envelope}}`;
      },
    ],
  ])('[K26] numbers in %s keep their digits, in and out', async (_, write) => {
    const { world, sender } = await openInbox();
    const id = freshId();
    const body = write(id);
    expect((await sender.send({ id, body }, { contentType: CLOUDEVENTS })).status).toBe(202);
    const times = body.split(HUGE).length;
    const out = await answered(world.get(`/akep/events/${id}`, world.agent.key, CLOUD));
    expect(out.text.split(HUGE)).toHaveLength(times);
    const inner = await answered(world.get(`/akep/events/${id}`));
    expect(inner.text.split(HUGE).length).toBeGreaterThanOrEqual(times);
  });

  it('[K26] an envelope goes out with the digits it has', async () => {
    const { world, sender } = await openInbox();
    const event = anEvent();
    const body = JSON.stringify(event).replace('"summary"', `"content":${HUGE},"summary"`);
    expect((await sender.send({ id: event.event_id, body })).status).toBe(202);
    for (const path of [`/${event.event_id}`, '?limit=1']) {
      const out = await answered(world.get(`/akep/events${path}`, world.agent.key, CLOUD));
      expect(out.text).toContain(HUGE);
    }
  });

  it.each(['1', 'a/b.c', 'ü'])('[K26] the id %s is kept; the event has the id of its message', async (id) => {
    const { world, sender } = await openInbox();
    const given = { specversion: '1.0', id, source: '/shop', type: 'com.example.thing' };
    const message = { id: freshId(), body: JSON.stringify(given) };
    expect((await sender.send(message, { contentType: CLOUDEVENTS })).status).toBe(202);
    expect((await sender.send(message, { contentType: CLOUDEVENTS })).json.duplicate).toBe(true);
    const out = await answered(world.get(`/akep/events/${message.id}`, world.agent.key, CLOUD));
    expect(out.json.event).toEqual(given);
  });

  it('[K26] the other modes are refused with a sentence: headers are not under the signature', async () => {
    const { sender } = await openInbox();
    const error = 'Send CloudEvents one by one, whole in the body, as application/cloudevents+json.';
    const headers = { 'ce-specversion': '1.0', 'ce-id': 'evt_binary_1', 'ce-type': 't.t', 'ce-source': 's' };
    const binary = await sender.send({ id: 'evt_binary_1', body: '{"n":1}' }, { headers });
    expect([binary.status, binary.json]).toEqual([400, { error }]);
    const contentType = 'application/cloudevents-batch+json';
    const batch = await sender.send({ id: 'evt_batch_01', body: '[]' }, { contentType });
    expect([batch.status, batch.json]).toEqual([400, { error }]);
  });
});
