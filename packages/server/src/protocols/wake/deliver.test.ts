import { afterAll, beforeAll, expect, it } from 'vitest';
import { client, draft, openStillWorld, openWorld, refusal, told } from '../../testing/wake.ts';
import { World } from '../../testing/world.ts';

const DELIVER = '/wake/v1/deliver';
const UUID_V4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const STAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

// Refusals leave nothing behind (a test below says so), so the tables share one world.
let world: World;
beforeAll(async () => {
  world = await World.open();
});
afterAll(() => world.stop());

function send(over: Record<string, unknown>): Promise<Response> {
  return world.post(DELIVER, draft(world, over));
}

it('[W6] 201 with id, status and time, and nothing else; Location leads to the answer', async () => {
  const { status, headers, text } = await told(send({}));
  const body = JSON.parse(text);
  expect(status).toBe(201);
  expect(body).toEqual({
    delivery_id: expect.stringMatching(UUID_V4),
    status: 'received',
    created_at: expect.stringMatching(STAMP),
  });
  expect(headers.get('location')).toBe(`/wake/v1/response/${body.delivery_id}`);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('no-store');
  const answer = await world.get(headers.get('location') ?? '');
  expect(await answer.json()).toMatchObject({ delivery_id: body.delivery_id, status: 'pending' });
});

it('[W6] created_at is UTC with six digits, also on a full second; ids differ', async () => {
  const still = (await openStillWorld()).world;
  const replies = await Promise.all([1, 2, 3].map(() => told(still.post(DELIVER, draft(still)))));
  const bodies = replies.map(({ text }) => JSON.parse(text));
  expect(bodies.map((body) => body.created_at).sort()).toEqual([
    '2026-11-15T09:00:00.000000Z',
    '2026-11-15T09:00:00.000001Z',
    '2026-11-15T09:00:00.000002Z',
  ]);
  expect(new Set(bodies.map((body) => body.delivery_id)).size).toBe(3);
});

it('[W6] the real client delivers all four types, and finds out by itself whose key it has', async () => {
  const wake = client(world, { provider: 'claude' });
  for (const type of ['update', 'question', 'output', 'alert'] as const) {
    const delivered = await wake.deliver({ type, headline: 'The report is ready', summary: 'Publish it?' });
    expect(delivered).toMatchObject({ deliveryId: expect.stringMatching(UUID_V4), deduplicated: false });
    expect(await wake.check(delivered.deliveryId)).toMatchObject({ status: 'pending', mayProceed: false });
  }
});

it.each(['agent_id', 'provider', 'type', 'headline', 'summary'])(
  '[W7] without %s, or with null, it is 400 and names the field',
  async (field) => {
    const wanted = {
      status: 400,
      code: 'missing_field',
      message: `${field} is required.`,
      field,
      docs: `${world.url}/docs/errors#missing_field`,
    };
    expect(await refusal(send({ [field]: undefined }))).toEqual(wanted);
    expect(await refusal(send({ [field]: null }))).toEqual(wanted);
  },
);

it.each([
  '',
  ' ',
  '{',
  '{"agent_id":"agent-01",}',
  "{'a':1}",
  'NaN',
  '[]',
  '[{}]',
  '"text"',
  '7',
  'true',
  'null',
])('[W7] a body of %j is 400', async (body) => {
  const refused = await refusal(world.post(DELIVER, body));
  expect(refused).toMatchObject({ status: 400, code: 'malformed_body' });
  expect(refused).not.toHaveProperty('field');
});

it('[W7] what is missing comes before whose it is, and that before what is wrong', async () => {
  const wrong = { agent_id: 'agent-02', headline: 7 };
  expect(await refusal(send({ ...wrong, summary: null }))).toMatchObject({ status: 400, field: 'summary' });
  expect(await refusal(send(wrong))).toMatchObject({ status: 403, field: 'agent_id' });
  expect(await refusal(send({ headline: 7 }))).toMatchObject({ status: 422, field: 'headline' });
});

const EMOJI = '🦉';

it.each([
  ['headline', 'x'.repeat(120)],
  ['headline', EMOJI.repeat(120)],
  ['headline', 'é'.repeat(120)],
  ['summary', 'x'.repeat(280)],
  ['summary', EMOJI.repeat(280)],
  ['provider', 'x'.repeat(128)],
  ['provider', EMOJI.repeat(128)],
  ['timeout_seconds', 60],
  ['timeout_seconds', 604_800],
  ['timeout_seconds', null],
  ['details', null],
  ['details', ''],
  ['details', 'plain text\nwith lines'],
  ['details', {}],
  ['details', { list: [1, null, true, { deep: 'x' }], none: null }],
  ['callback_webhook', null],
  ['task_id', 'x'.repeat(128)],
  ['task_id', null],
])('[W8] %s may be what it may just be (case %#)', async (field, value) => {
  expect((await send({ [field]: value })).status).toBe(201);
});

it.each([
  ['headline', 'x'.repeat(121)],
  ['headline', EMOJI.repeat(121)],
  ['summary', 'x'.repeat(281)],
  ['summary', EMOJI.repeat(281)],
  ['provider', 'x'.repeat(129)],
  ['agent_id', 'x'.repeat(129)],
  ['timeout_seconds', 59],
  ['timeout_seconds', 604_801],
  ['timeout_seconds', 60.5],
  ['timeout_seconds', -60],
  ['timeout_seconds', 0],
  ['timeout_seconds', '3600'],
  ['timeout_seconds', true],
  ['timeout_seconds', [3600]],
  ['type', 'Question'],
  ['type', 'decision'],
  ['type', ''],
  ['type', 7],
  ['type', ['question']],
  ['headline', 7],
  ['headline', false],
  ['headline', {}],
  ['headline', ['x']],
  ['headline', ''],
  ['headline', '   '],
  ['headline', '\u00a0\u2003'],
  ['headline', '\u200b\u200d'],
  ['summary', '\t'],
  ['summary', 7],
  ['provider', ''],
  ['provider', ' '],
  ['provider', {}],
  ['provider', 'a\0b'],
  ['task_id', 'a\0b'],
  ['dedupe_key', 'a\0b'],
  ['details', []],
  ['details', [{}]],
  ['details', 7],
  ['details', true],
  ['callback_webhook', 7],
  ['callback_webhook', {}],
  ['allow_secrets', {}],
  ['allow_secrets', 'all'],
  ['allow_secrets', ['/details/x']],
  ['task_id', 'x'.repeat(129)],
  ['thread_id', ''],
  ['interrupt_id', 7],
  ['dedupe_key', 'x'.repeat(129)],
  ['revises', 'not-an-id'],
])('[W8] a wrong %s is 422 and named (case %#)', async (field, value) => {
  const refused = await refusal(send({ details: null, [field]: value }));
  expect(refused).toEqual({
    status: 422,
    code: 'invalid_field',
    message: expect.any(String),
    field,
    docs: `${world.url}/docs/errors#invalid_field`,
  });
});

it.each([
  ['control character', '\u0000'],
  ['control character', '\u0007'],
  ['control character', '\u007f'],
  ['control character', '\u009b'],
  ['control character', '\t'],
  ['line break', '\n'],
  ['line break', '\r'],
  ['line break', '\u0085'],
  ['line break', '\u2028'],
  ['line break', '\u2029'],
  ['bidirectional override', '\u202e'],
  ['bidirectional override', '\u202a'],
  ['bidirectional override', '\u2066'],
  ['bidirectional override', '\u2069'],
])(
  '[W9] a %s is refused in headline and summary, and allowed in details (case %#)',
  async (kind, character) => {
    const text = `Pay ${character}now`;
    for (const field of ['headline', 'summary']) {
      const refused = await refusal(send({ [field]: text }));
      expect(refused).toMatchObject({ status: 422, code: 'invalid_field', field });
      expect(refused.message).toMatch(new RegExp(`${kind} \\(?U\\+`));
      expect(refused.message).not.toContain(character);
    }
    expect((await send({ details: { note: text } })).status).toBe(201);
  },
);

it('[W9] everything else is kept as it was sent, byte for byte', async () => {
  const details = {
    z: 1,
    a: '<script>alert(1)</script>',
    rtl: 'שלום \u200f',
    e: '👩‍👧',
    n: 1.5e300,
    zero: -0,
  };
  const text = `\n {"details": ${JSON.stringify(details)}, ${JSON.stringify(draft(world, { details: undefined })).slice(1)}`;
  const reply = await world.post(DELIVER, text);
  const { delivery_id: id } = (await reply.json()) as { delivery_id: string };
  expect(await (await world.desk('GET', `/desk/deliveries/${id}/raw`)).text()).toBe(text);
});

it('[W10] unknown fields are accepted, ignored and kept', async () => {
  const id = await world.deliver({
    priority: 'high',
    urgency: { level: 3 },
    status: 'approved',
    delivery_id: 'mine',
  });
  expect(id).not.toBe('mine');
  const answer = await world.get(`/wake/v1/response/${id}`);
  expect(await answer.json()).toMatchObject({ delivery_id: id, status: 'pending' });
  const shown = await world.desk('GET', `/desk/deliveries/${id}`);
  expect(await shown.json()).toMatchObject({ content: { priority: 'high', urgency: { level: 3 } } });
});

it('[W8] a refused delivery leaves nothing behind, neither for the agent nor on the desk', async () => {
  const empty = await openWorld();
  for (const over of [{ headline: 7 }, { summary: null }, { agent_id: 'agent-02' }, { details: [] }]) {
    await empty.post(DELIVER, draft(empty, over), undefined, { 'idempotency-key': 'k' });
  }
  expect(await (await empty.get('/wake/v1/responses')).json()).toMatchObject({ total: 0 });
  expect(await (await empty.desk('GET', '/desk/deliveries')).json()).toMatchObject({ deliveries: [] });
});
