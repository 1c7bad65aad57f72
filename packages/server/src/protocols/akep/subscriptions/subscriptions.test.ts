import { describe, expect, it } from 'vitest';
import {
  addSender,
  anEvent,
  answered,
  type Changes,
  idsOf,
  readAll,
  sharedInbox,
  subscribed,
  subscription,
} from '../../../testing/akep/akep.ts';
import { RELAY_SUBSCRIPTION, SUBSCRIPTION } from '../../../testing/akep/akep-examples.ts';
import { ledger, openWorld } from '../../../testing/wake.ts';

const PATH = '/akep/subscriptions';

describe('subscriptions', () => {
  it('[K18] are made, shown, changed and deleted', async () => {
    const world = await openWorld();
    const made = await answered(world.post(PATH, subscription()));
    const id = String(made.json.subscription_id);
    expect([made.status, made.headers.get('location')]).toEqual([201, `${PATH}/${id}`]);
    expect(made.json).toEqual({ ...subscription(), subscription_id: id, created_at: expect.any(String) });
    expect((await answered(world.get(PATH))).json).toEqual({ subscriptions: [made.json] });
    expect((await answered(world.get(`${PATH}/${id}`))).json).toEqual(made.json);
    const put = (body: unknown) => answered(world.desk('PUT', `${PATH}/${id}`, body, world.agent.key));
    const changed = { ...made.json, event_types: ['tool.failed'], sink: 'elsewhere' };
    expect(await put(changed)).toMatchObject({ status: 200, json: changed });
    expect((await answered(world.get(PATH))).json).toEqual({ subscriptions: [changed] });
    const gone = await world.desk('DELETE', `${PATH}/${id}`, undefined, world.agent.key);
    expect([gone.status, await gone.text()]).toEqual([204, '']);
    expect((await answered(world.get(`${PATH}/${id}`))).status).toBe(404);
    expect((await put(changed)).status).toBe(404);
    const lines = ['subscription.added', 'subscription.changed', 'subscription.removed'];
    for (const action of lines) expect(await ledger(world, action)).toHaveLength(1);
  });

  it('[K18] belong to their agent alone', async () => {
    const world = await openWorld();
    const other = await world.addAgent({ id: 'agent-02' });
    const { subscription_id: id } = await subscribed(world);
    expect((await answered(world.get(PATH, other.key))).json).toEqual({ subscriptions: [] });
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const body = method === 'PUT' ? subscription() : undefined;
      expect((await world.desk(method, `${PATH}/${id}`, body, other.key)).status).toBe(404);
    }
    expect((await answered(world.get(`${PATH}/${id}`))).status).toBe(200);
  });

  it("[K18] the project's examples are taken; the one with a webhook needs its address allowed", async () => {
    const world = await openWorld();
    expect((await answered(world.post(PATH, RELAY_SUBSCRIPTION))).status).toBe(201);
    const refused = await answered(world.post(PATH, SUBSCRIPTION));
    expect([refused.status, refused.json.path]).toEqual([400, '/delivery/url']);
    await world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks: ['https://agent.example.com'] });
    expect((await answered(world.post(PATH, SUBSCRIPTION))).status).toBe(201);
  });

  it.each([
    [{ spec: 'akep.v2' }, '/spec'],
    [{ sink: '' }, '/sink'],
    [{ event_types: [] }, '/event_types'],
    [{ event_types: ['a.b', 'a.b'] }, '/event_types'],
    [{ event_types: ['Not.Lower'] }, '/event_types/0'],
    [{ event_types: ['a.*'] }, '/event_types/0'],
    [{ filters: { 'a..b': 1 } }, '/filters'],
    [{ filters: { 'a b': 1 } }, '/filters'],
    [{ filters: { a: { $regex: '.*' } } }, '/filters/a'],
    [{ delivery: { type: 'pigeon' } }, '/delivery/type'],
    [{ delivery: {} }, '/delivery'],
    [{ delivery: { type: 'queue', queue: 'q' } }, '/delivery/type'],
    [{ delivery: { type: 'webhook' } }, '/delivery/url'],
    [{ delivery: { type: 'poll', replay_retention_seconds: 86_399 } }, '/delivery/replay_retention_seconds'],
    [
      { delivery: { type: 'poll', replay_retention_seconds: 2_592_001 } },
      '/delivery/replay_retention_seconds',
    ],
    [{ security: { signature_key_ids: [''] } }, '/security/signature_key_ids/0'],
    [{ capabilities: { max_payload_bytes: 1023 } }, '/capabilities/max_payload_bytes'],
    [{ capabilities: { resume_policies: ['always'] } }, '/capabilities/resume_policies/0'],
    [{ owner: 'somebody else' }, '/owner'],
  ])('[K18] %j is refused with its place', async (over, place) => {
    const { world } = shared();
    const reply = await answered(world.post(PATH, subscription(over)));
    expect([reply.status, reply.json.path]).toEqual([400, place]);
  });
  const shared = sharedInbox();

  it('[K18] a body that is no object is refused', async () => {
    const { world } = shared();
    const inherited = '{"spec":"akep.v1","filters":{"__proto__":1}}';
    for (const body of [
      '',
      '[]',
      '{',
      '"x"',
      'null',
      inherited,
      inherited.replace('__proto__', 'constructor'),
    ])
      expect((await answered(world.post(PATH, body))).status).toBe(400);
  });

  it('[K35] an agent may have a hundred of them', async () => {
    const world = await openWorld();
    await Promise.all(Array.from({ length: 100 }, () => subscribed(world)));
    const reply = await answered(world.post(PATH, subscription()));
    expect([reply.status, typeof reply.json.error]).toEqual([429, 'string']);
  });

  it('[K35] one names so much and no more: all of a space are read whenever one has changed', async () => {
    const world = await openWorld();
    const tasks = (count: number) => ({ filters: { 'subject.task_id': Array(count).fill('task_1234') } });
    const { subscription_id: id } = await subscribed(world, tasks(1000));
    const long = [
      tasks(2000),
      { event_types: Array.from({ length: 2000 }, (_, n) => `test.type-${n}`) },
      { filters: Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`subject.key_${n}`, 1])) },
      { filters: { [Array(6000).fill('ab').join('.')]: 1 } },
      { security: { signature_key_ids: Array.from({ length: 2000 }, (_, n) => `key-${n}`) } },
    ].map(subscription);
    for (const body of long) {
      expect((await answered(world.post(PATH, body))).status).toBe(413);
      expect((await world.desk('PUT', `${PATH}/${id}`, body, world.agent.key)).status).toBe(413);
    }
    expect((await answered(world.get(`${PATH}/${id}`))).json).toMatchObject(tasks(1000));
  });
});

describe('what a subscription takes', () => {
  /** Whether an agent with just this subscription gets the event. */
  async function takes(
    over: Changes,
    event: Changes,
    headers: Record<string, string> = {},
  ): Promise<boolean> {
    const { world, sender } = shared();
    const { subscription_id: id } = await subscribed(world, { event_types: ['test.taken'], ...over });
    const { status } = await sender.send(anEvent({ event_type: 'test.taken', ...event }), { headers });
    await world.desk('DELETE', `${PATH}/${id}`, undefined, world.agent.key);
    expect([202, 422]).toContain(status);
    return status === 202;
  }
  const shared = sharedInbox();

  it('[K7] it is not the one of everything that takes it here', async () => {
    const { world } = shared();
    const { json } = await answered(world.get(PATH));
    for (const { subscription_id: id } of json.subscriptions as { subscription_id: string }[])
      await world.desk('DELETE', `${PATH}/${id}`, undefined, world.agent.key);
    expect(await takes({}, {})).toBe(true);
    expect(await takes({ event_types: ['test.other'] }, {})).toBe(false);
    expect(await takes({ event_types: ['test.other', 'test.taken'] }, {})).toBe(true);
    expect(await takes({ event_types: ['*'] }, {})).toBe(true);
  });

  const content = { a: { b: 'deep' }, list: ['x'], n: 0, no: false, nil: null, '0': 'zero' };
  const knowledge = { kind: 'message', content_type: 'x/y', summary: 's', content };

  it.each([
    [{ 'source.name': 'demo' }, true],
    [{ 'source.name': 'Demo' }, false],
    [{ 'source.name': 'dem' }, false],
    [{ 'source.name': ['other', 'demo'] }, true],
    [{ 'source.name': [] }, false],
    [{ 'source.name': 'demo', 'subject.task_id': 't_1' }, true],
    [{ 'source.name': 'demo', 'subject.task_id': 't_2' }, false],
    [{ 'knowledge.content.a.b': 'deep' }, true],
    [{ 'knowledge.content.a': 'deep' }, false],
    [{ 'knowledge.content.n': 0 }, true],
    [{ 'knowledge.content.n': '0' }, false],
    [{ 'knowledge.content.no': false }, true],
    [{ 'knowledge.content.nil': null }, true],
    [{ 'knowledge.content.missing': null }, false],
    [{ 'knowledge.content.list': ['x'] }, false],
    [{ 'knowledge.content.list.0': 'x' }, true],
    [{ 'knowledge.content.list.length': 1 }, false],
    [{ 'knowledge.content.0': 'zero' }, true],
    [{ 'source.producer_id': 'prod_demo' }, true],
    [{ 'source.producer_id': ['prod_other'] }, false],
    [{ valueOf: 'x' }, false],
    [{ 'source.constructor.name': 'Object' }, false],
    [{ 'source.__proto__': null }, false],
    [{ 'subject.__proto__.x': 1 }, false],
    [{ 'source.toString': 'x' }, false],
    [{ 'source.toString.length': 0 }, false],
    [{ 'source.hasOwnProperty.name': 'hasOwnProperty' }, false],
    [{ 'source.name.length': 4 }, false],
    [{ 'event_type.constructor.name': 'String' }, false],
  ])('[K18] the filter %j: %s', async (filters, taken) => {
    expect(await takes({ filters }, { knowledge })).toBe(taken);
  });

  it('[K7] by the name of the source and by the producer', async () => {
    const { sender } = shared();
    expect(await takes({ security: { accepted_source_names: ['demo'] } }, {})).toBe(true);
    expect(await takes({ security: { accepted_source_names: ['other'] } }, {})).toBe(false);
    expect(await takes({ security: { accepted_source_names: [] } }, {})).toBe(false);
    expect(await takes({ security: { accepted_producer_ids: [sender.id] } }, {})).toBe(true);
    expect(await takes({ security: { accepted_producer_ids: ['prod_other'] } }, {})).toBe(false);
  });

  it('[K7] declared key ids mean that the header is required', async () => {
    const { sender } = shared();
    const own = { 'webhook-signature-key-id': sender.made.keyId };
    const security = { signature_key_ids: [sender.made.keyId, '2026-05'] };
    expect(await takes({ security }, {})).toBe(false);
    expect(await takes({ security }, {}, own)).toBe(true);
    expect(await takes({ security: { signature_key_ids: ['2026-05'] } }, {}, own)).toBe(false);
    expect(await takes({}, {}, own)).toBe(true);
  });

  it('[K7] an event that a changed subscription no longer takes is refused', async () => {
    const world = await openWorld();
    const sender = await addSender(world);
    const { subscription_id: id } = await subscribed(world);
    const first = await sender.sent();
    await world.desk('PUT', `${PATH}/${id}`, subscription({ event_types: ['tool.failed'] }), world.agent.key);
    expect((await sender.send(anEvent())).status).toBe(422);
    expect(idsOf(await readAll(world))).toEqual([first.event_id]);
  });
});

describe('what a subscription says it can do', () => {
  const immediately = { routing: { resume_policy: 'resume_immediately' } };

  async function resumed(policies: (string[] | undefined)[]): Promise<boolean> {
    const world = await openWorld();
    const sender = await addSender(world);
    for (const resume_policies of policies)
      await subscribed(world, resume_policies === undefined ? {} : { capabilities: { resume_policies } });
    await sender.sent(immediately);
    const { json } = await answered(world.get('/akep/resumes'));
    return (json.resumes as unknown[]).length === 1;
  }

  it('[K33] resume_policies is how far an event may go; the freest of the subscriptions counts', async () => {
    expect(await resumed([undefined])).toBe(true);
    expect(await resumed([['append_only', 'resume_if_waiting']])).toBe(false);
    expect(await resumed([['never']])).toBe(false);
    expect(await resumed([[]])).toBe(false);
    expect(await resumed([['append_only', 'resume_immediately']])).toBe(true);
    expect(await resumed([['never'], undefined])).toBe(true);
  });

  it('[K34] without ack_required entries arrive as stored', async () => {
    const world = await openWorld();
    const sender = await addSender(world);
    await subscribed(world, { delivery: { type: 'poll', ack_required: false } });
    const { event_id } = await sender.sent();
    const { json } = await answered(world.get(`/akep/events/${event_id}`));
    expect(json.ack).toMatchObject({ status: 'stored', reason: null });
    const applied = await answered(world.post(`/akep/events/${event_id}/ack`, { status: 'applied' }));
    expect(applied.status).toBe(200);
    await subscribed(world);
    const both = await sender.sent();
    expect((await answered(world.get(`/akep/events/${both.event_id}`))).json.ack).toBeNull();
  });
});
