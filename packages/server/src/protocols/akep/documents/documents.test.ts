import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import {
  anEvent,
  answered,
  opened,
  openInbox,
  page,
  subscribed,
  subscription,
} from '../../../testing/akep/akep.ts';
import { Relay, SseReader } from '../../../testing/akep/akep-live.ts';
import { AT_ONCE, draft } from '../../../testing/wake.ts';
import type { World } from '../../../testing/world.ts';
import { CLOUDEVENTS } from '../ingest/cloudevents.ts';

type Schema = Record<string, unknown>;
type Content = { content?: { 'application/json': { schema: Schema } } };
type Operation = {
  summary: string;
  security?: unknown[];
  parameters?: { name: string; in: string; required?: boolean }[];
  requestBody?: Content;
  responses: Record<string, Content>;
};
type OpenApi = { openapi: string; paths: Record<string, Record<string, Operation>> };
type AsyncApi = {
  channels: Record<string, { address: string; messages: Record<string, { $ref: string }> }>;
  operations: Record<string, { channel: { $ref: string }; messages: { $ref: string }[] }>;
  components: { messages: Record<string, { payload: Schema }> };
};

const ajv = new Ajv2020({ strict: false, formats: { 'date-time': true, uri: true, uuid: true } });

/** What is wrong with a value, in the words of the published schema. */
function flaws(schema: Schema, value: unknown): unknown {
  const validate = ajv.compile(schema);
  return validate(value) ? [] : validate.errors;
}

type Asked = {
  path: string;
  method: string;
  body?: unknown;
  headers?: Record<string, string>;
  status: number;
};

/** One good request for each operation that is documented, on things that are there. */
async function requests(): Promise<{ world: World; asked: Record<string, Asked> }> {
  const { world, sender } = await openInbox({ env: AT_ONCE });
  const { event_id } = await sender.sent();
  const { subscription_id } = await subscribed(world);
  const wait_id = await opened(world);
  const decided = await world.deliver();
  await world.decide(decided, { status: 'approved' });
  const open = await world.deliver();
  const ask = (method: string, path: string, status: number, body?: unknown): Asked => ({
    method,
    path,
    status,
    body,
  });
  const signed = anEvent();
  const headers = sender.headers(signed.event_id, JSON.stringify(signed));
  const asked: Record<string, Asked> = {
    'post /wake/v1/deliver': ask('POST', '/wake/v1/deliver', 201, draft(world)),
    'get /wake/v1/response/{id}': ask('GET', `/wake/v1/response/${decided}`, 200),
    'get /wake/v1/responses': ask('GET', '/wake/v1/responses', 200),
    'post /wake/v1/withdraw/{id}': ask('POST', `/wake/v1/withdraw/${open}`, 200, { reason: 'No need.' }),
    'post /akep/events': { ...ask('POST', '/akep/events', 202, signed), headers },
    'post /@{handle}/akep/events': { ...ask('POST', '/@home/akep/events', 202, signed), headers },
    'get /.well-known/akep.json': ask('GET', '/.well-known/akep.json', 200),
    'get /akep/events': ask('GET', '/akep/events', 200),
    'get /akep/events/wait': ask('GET', '/akep/events/wait', 200),
    'get /akep/events/{id}': ask('GET', `/akep/events/${event_id}`, 200),
    'post /akep/events/{id}/ack': ask('POST', `/akep/events/${event_id}/ack`, 200, { status: 'applied' }),
    'get /akep/tasks/{id}': ask('GET', '/akep/tasks/t_1', 200),
    'get /akep/subscriptions': ask('GET', '/akep/subscriptions', 200),
    'post /akep/subscriptions': ask('POST', '/akep/subscriptions', 201, subscription()),
    'get /akep/subscriptions/{id}': ask('GET', `/akep/subscriptions/${subscription_id}`, 200),
    'put /akep/subscriptions/{id}': ask('PUT', `/akep/subscriptions/${subscription_id}`, 200, subscription()),
    'delete /akep/subscriptions/{id}': ask('DELETE', `/akep/subscriptions/${subscription_id}`, 204),
    'get /akep/waits': ask('GET', '/akep/waits', 200),
    'post /akep/waits': ask('POST', '/akep/waits', 201, { interrupt_id: 'i', run_state_ref: 'r' }),
    'delete /akep/waits/{id}': ask('DELETE', `/akep/waits/${wait_id}`, 204),
    'get /akep/resumes': ask('GET', '/akep/resumes', 200),
    'get /akep/resumes/wait': ask('GET', '/akep/resumes/wait?timeout_seconds=0', 204),
    'get /akep/policy': ask('GET', '/akep/policy', 200),
    'put /akep/policy': ask('PUT', '/akep/policy', 200, { show_reviews: false }),
    'post /akep/emit': ask('POST', '/akep/emit', 202, anEvent()),
  };
  return { world, asked };
}

const OURS = /^(?:\/@\{handle\})?\/(?:akep|wake)\/|^\/\.well-known\/akep\.json$/;

describe('/openapi.json', () => {
  it('[K23] says what is served: every operation answers, with bodies as the schemas have them', async () => {
    const { world, asked } = await requests();
    const document = (await (await fetch(`${world.url}/openapi.json`)).json()) as OpenApi;
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      OURS.test(path)
        ? Object.entries(methods).map(([method, op]) => [`${method} ${path}`, op] as const)
        : [],
    );
    expect(operations.map(([name]) => name).sort()).toEqual(Object.keys(asked).sort());
    for (const [name, operation] of operations) {
      const one = asked[name];
      if (one === undefined) continue;
      const sent = operation.requestBody?.content?.['application/json'].schema;
      if (sent !== undefined) expect([name, flaws(sent, one.body)]).toEqual([name, []]);
      const reply = await ask(world, one);
      expect([name, reply.status, reply.text.slice(0, 200)]).toEqual([name, one.status, expect.any(String)]);
      // What an agent reads with its key is nobody else's, and new each time.
      const kept = name.startsWith('get /.well-known') ? null : 'no-store';
      expect([name, reply.headers.get('cache-control')]).toEqual([name, kept]);
      const schema = operation.responses[String(one.status)]?.content?.['application/json'].schema;
      if (schema === undefined) expect([name, reply.text]).toEqual([name, '']);
      else expect([name, flaws(schema, reply.json)]).toEqual([name, []]);
    }
  });

  it('[K23] every address that is served is in it, or in /asyncapi.json', async () => {
    const { world } = await openInbox();
    const openApi = (await (await fetch(`${world.url}/openapi.json`)).json()) as OpenApi;
    const asyncApi = (await (await fetch(`${world.url}/asyncapi.json`)).json()) as AsyncApi;
    const live = Object.values(asyncApi.channels).map((channel) => channel.address);
    const documented = new Set([...Object.keys(openApi.paths), ...live]);
    const served = new Set(
      world.running.routes.map(({ url }) => url.replace(/:(\w+)/g, '{$1}')).filter((url) => OURS.test(url)),
    );
    expect([...served].filter((url) => !documented.has(url) && !url.endsWith('*'))).toEqual([]);
  });

  it('[K23] says how each door words a refusal', async () => {
    const { world, asked } = await requests();
    const document = (await (await fetch(`${world.url}/openapi.json`)).json()) as OpenApi;
    for (const [name, one] of Object.entries(asked)) {
      const [method = '', path = ''] = name.split(' ');
      const schema = document.paths[path]?.[method]?.responses.default?.content?.['application/json'].schema;
      const nobody = await ask(world, { ...one, headers: {} }, {});
      if (nobody.status < 400) continue;
      expect([name, flaws(schema ?? { not: {} }, nobody.json)]).toEqual([name, []]);
    }
  });

  it('[K23][K26] CloudEvents are in it as well, in and out', async () => {
    const { world, sender } = await openInbox();
    const { paths } = (await (await fetch(`${world.url}/openapi.json`)).json()) as OpenApi;
    const { event_id } = await sender.sent();
    const cloud = { authorization: `Bearer ${world.agent.key}`, accept: CLOUDEVENTS };
    const read: [string, string][] = [
      ['/akep/events', '/akep/events'],
      ['/akep/events/wait', '/akep/events/wait'],
      ['/akep/events/{id}', `/akep/events/${event_id}`],
    ];
    for (const [path, url] of read) {
      const reply = await ask(world, { method: 'GET', path: url, status: 200 }, cloud);
      expect(reply.text).toContain('"specversion":"1.0"');
      const schema = paths[path]?.get?.responses['200']?.content?.['application/json'].schema ?? { not: {} };
      expect([path, flaws(schema, reply.json)]).toEqual([path, []]);
    }
    const event = { specversion: '1.0', id: 'evt_cloud_0001', source: '/shop', type: 'a.b.c', data: [1] };
    for (const path of ['/akep/events', '/@{handle}/akep/events', '/akep/emit']) {
      const content = paths[path]?.post?.requestBody?.content as
        | Record<string, { schema: Schema }>
        | undefined;
      expect([path, flaws(content?.[CLOUDEVENTS]?.schema ?? { not: {} }, event)]).toEqual([path, []]);
    }
  });

  it('[K23] without a key nothing answers that the document does not say is open', async () => {
    const { world, asked } = await requests();
    const document = (await (await fetch(`${world.url}/openapi.json`)).json()) as OpenApi;
    for (const [name, one] of Object.entries(asked)) {
      const [method = '', path = ''] = name.split(' ');
      const open = document.paths[path]?.[method]?.security?.length === 0;
      const { status } = await ask(world, one, {});
      expect([name, status === 401]).toEqual([name, !open]);
    }
  });
});

function ask(
  world: World,
  one: Asked,
  key: Record<string, string> = { authorization: `Bearer ${world.agent.key}` },
) {
  const json: Record<string, string> = one.body === undefined ? {} : { 'content-type': 'application/json' };
  return answered(
    fetch(world.url + one.path, {
      method: one.method,
      headers: { ...key, ...json, ...one.headers },
      ...(one.body === undefined ? {} : { body: JSON.stringify(one.body) }),
    }),
  );
}

describe('/asyncapi.json', () => {
  const at = (document: unknown, ref: string): unknown =>
    ref
      .slice(2)
      .split('/')
      .reduce((value, name) => (value as Record<string, unknown> | undefined)?.[name], document);

  it('[K23] says what is live: every frame is as its schema has it', async () => {
    const { world, sender } = await openInbox();
    const document = (await (await fetch(`${world.url}/asyncapi.json`)).json()) as AsyncApi;
    const payload = (name: string) => document.components.messages[name]?.payload ?? { not: {} };
    await sender.sent({ routing: { resume_policy: 'resume_immediately' } });
    const relay = await Relay.open(world);
    const [resume, event] = [await relay.next(), await relay.next()];
    expect(flaws(payload('resumeFrame'), resume)).toEqual([]);
    expect(flaws(payload('eventFrame'), event)).toEqual([]);
    const ack = { type: 'ack', event_id: 'evt_nowhere_1', status: 'applied' };
    expect(flaws(payload('ackFrame'), ack)).toEqual([]);
    relay.send(ack);
    expect(flaws(payload('errorFrame'), await relay.next())).toEqual([]);
    const stream = await SseReader.open(world);
    expect(flaws(payload('resume'), JSON.parse((await stream.next())?.data ?? ''))).toEqual([]);
    expect(flaws(payload('event'), JSON.parse((await stream.next())?.data ?? ''))).toEqual([]);
  });

  it('[K23] every reference in it leads somewhere', async () => {
    const { world } = await openInbox();
    const document = (await (await fetch(`${world.url}/asyncapi.json`)).json()) as AsyncApi;
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"(#[^"]*)"/g)].map((m) => m[1] ?? '');
    expect(refs.length).toBeGreaterThan(10);
    expect(refs.filter((ref) => at(document, ref) === undefined)).toEqual([]);
  });
});

describe('/.well-known/akep.json', () => {
  it('[K23] names what is really served', async () => {
    const { world } = await openInbox();
    const { next_cursor } = await page(world);
    const document = (await (await fetch(`${world.url}/.well-known/akep.json`)).json()) as {
      profiles: string[];
      endpoints: Record<string, string>;
      signature: { algorithms: string[]; tolerance_seconds: number };
    };
    expect(document.profiles).toEqual([
      'webhook',
      'replay_inbox',
      'relay',
      'task_state',
      'knowledge_publisher',
    ]);
    expect(document.signature).toMatchObject({ algorithms: ['v1', 'v1a'], tolerance_seconds: 300 });
    // As the project's own document has it.
    expect(document).toMatchObject({
      service_name: 'Lanternroom',
      issuer: world.url,
      delivery_profiles: document.profiles,
      signature_algorithms: ['v1', 'v1a'],
      auth_schemes: ['bearer'],
      retention: { minimum_unacked_seconds: 604_800 },
    });
    const { stream: _stream, relay, ...plain } = document.endpoints;
    expect(relay).toBe(`${world.url.replace('http', 'ws')}/akep/relay`);
    for (const [name, url] of Object.entries(plain)) {
      const filled = `${url.replace(/\{\w+\}/, 'x')}?timeout_seconds=0&cursor=${name === 'resumes' ? '' : next_cursor}`;
      const reply = await fetch(filled.replace('cursor=&', '').replace(/&cursor=$/, ''), {
        headers: { authorization: `Bearer ${world.agent.key}` },
      });
      expect([name, reply.status === 404 && name !== 'tasks']).toEqual([name, false]);
    }
  });
});
