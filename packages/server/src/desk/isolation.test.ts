import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { body, openDesk } from '../testing/desk/desk.ts';
import { deskRoutes, fill } from '../testing/desk/routes.ts';
import { Tenant } from '../testing/desk/tenant.ts';
import type { World } from '../testing/world.ts';

type Ids = Record<string, string>;
type Case = {
  /** Makes what the address is about, in a tenant's own space. */
  make(tenant: Tenant): Promise<Ids>;
  /** A body that is good for what `make` has made. */
  send?: (tenant: Tenant, ids: Ids) => Promise<unknown>;
  query?: string;
  /** What the tenant itself is answered, which proves that the request was a good one. */
  own?: number;
};

const delivery = async (tenant: Tenant) => ({ id: await tenant.deliver() });
const agent = (tenant: Tenant) => tenant.agent();
const event = async (tenant: Tenant) => {
  await tenant.callback();
  const { events } = await body<{ events: { event_id: string }[] }>(tenant.desk('GET', '/desk/events'));
  return { agent: 'agent-01', event: events[0]?.event_id ?? '' };
};
const producer = async (tenant: Tenant) => {
  const made = await body<{ producer_id: string; key_id: string }>(
    tenant.desk('POST', '/desk/producers', { name: `source ${randomUUID()}` }),
  );
  return { id: made.producer_id, key: made.key_id };
};

const task = async (tenant: Tenant) => ({ id: (await tenant.task()).id });
const taskContent = async (tenant: Tenant) => {
  const { id, laptop } = await tenant.task();
  const parts = [{ raw: Buffer.alloc(5000, 'hello').toString('base64'), filename: 'hello.txt' }];
  await laptop.say({ type: 'artifact', taskId: id, artifact: { artifactId: 'a', parts } });
  const shown = await body<{ log: { parts: { stored?: { id: string } }[] }[] }>(
    tenant.desk('GET', `/desk/tasks/${id}`),
  );
  return { id, content: shown.log.flatMap((e) => e.parts).find((p) => p.stored)?.stored?.id ?? '' };
};

/** Every address of the desk that names something. One that is not here fails the first test below. */
const CASES: Record<string, Case> = {
  'GET /desk/deliveries/:id': { make: delivery },
  'GET /desk/deliveries/:id/raw': { make: delivery },
  'GET /desk/deliveries/:id/image': { make: delivery, query: '?src=https://example.com/x.png', own: 404 },
  'POST /desk/deliveries/:id/decision': {
    make: delivery,
    send: async (tenant, { id = '' }) => ({ status: 'approved', content_sha256: await tenant.hashOf(id) }),
  },
  'DELETE /desk/deliveries/:id/decision': { make: async (tenant) => ({ id: await tenant.decided() }) },
  'POST /desk/deliveries/:id/read': { make: delivery },
  'POST /desk/deliveries/:id/snooze': {
    make: delivery,
    send: async () => ({ until: '2027-01-01T00:00:00Z' }),
  },
  'PUT /desk/deliveries/:id/draft': { make: delivery, send: async () => ({ mode: 'approved' }), own: 204 },
  'DELETE /desk/deliveries/:id/draft': { make: delivery, own: 204 },
  'GET /desk/agents/:id': { make: agent },
  'GET /desk/agents/:id/prompt': { make: agent },
  'GET /desk/agents/:id/subscriptions': { make: agent },
  'POST /desk/agents/:id/keys': { make: agent, send: async () => ({}), own: 201 },
  'DELETE /desk/agents/:id/keys/:key': { make: agent },
  'PUT /desk/agents/:id/callbacks': { make: agent, send: async () => ({ callbacks: [] }) },
  'POST /desk/agents/:id/callbacks/test': {
    make: agent,
    send: async () => ({ url: 'https://example.com/' }),
    own: 422,
  },
  'POST /desk/agents/:id/callback-secret': { make: agent, own: 201 },
  'POST /desk/callbacks/:id/send-again': { make: async (tenant) => ({ id: await tenant.callback() }) },
  'PUT /desk/people/:id': {
    make: async (tenant) => ({ id: await tenant.person() }),
    send: async () => ({ role: 'decider' }),
  },
  'POST /desk/people/:id/reset': { make: async (tenant) => ({ id: await tenant.person() }), own: 201 },
  'DELETE /desk/people/:id': { make: async (tenant) => ({ id: await tenant.person() }), own: 204 },
  'DELETE /desk/invitations/:id': {
    make: async (tenant) => {
      const sent = { email: `${randomUUID()}@example.com`, role: 'reader' };
      const made = await body<{ invitation_id: string }>(tenant.desk('POST', '/desk/invitations', sent));
      return { id: made.invitation_id };
    },
    own: 204,
  },
  'DELETE /desk/sessions/:id': { make: async (tenant) => ({ id: await tenant.session() }), own: 204 },
  'PUT /desk/passkeys/:id': {
    make: async (tenant) => ({ id: await tenant.passkey() }),
    send: async () => ({ name: 'phone' }),
    own: 204,
  },
  'DELETE /desk/passkeys/:id': { make: async (tenant) => ({ id: await tenant.passkey() }), own: 204 },
  'DELETE /desk/tokens/:id': {
    make: async (tenant) => {
      const browser = await tenant.browser();
      const made = await body<{ token_id: string }>(browser.send('POST', '/desk/tokens', { name: 'x' }));
      return { id: made.token_id };
    },
  },
  'GET /desk/inboxes/:agent': { make: async (tenant) => ({ agent: (await agent(tenant)).id }) },
  'GET /desk/events/:agent/:event': { make: event },
  'GET /desk/events/:agent/:event/raw': { make: event },
  'POST /desk/events/:agent/:event/replay': { make: event, own: 201 },
  'POST /desk/producers/:id/keys': { make: producer, send: async () => ({}), own: 201 },
  'DELETE /desk/producers/:id/keys/:key': { make: producer },
  'GET /desk/producers/:id/refused': { make: producer },
  'GET /desk/tasks/:id': { make: task },
  'POST /desk/tasks/:id/cancel': { make: task },
  'GET /desk/tasks/:id/content/:content': { make: taskContent },
  'GET /desk/agents/:id/callers': { make: agent },
  'POST /desk/agents/:id/callers': { make: agent, send: async () => ({ name: 'a partner' }), own: 201 },
  'DELETE /desk/agents/:id/callers/:caller': {
    make: async (tenant) => {
      const { id } = await tenant.agent();
      const made = await body<{ caller_id: string }>(
        tenant.desk('POST', `/desk/agents/${id}/callers`, { name: 'a partner' }),
      );
      return { id, caller: made.caller_id };
    },
  },
  'GET /desk/agents/:id/card': { make: agent },
  'PUT /desk/agents/:id/card': { make: agent, send: async () => ({ version: '2.0.0' }) },
  'POST /desk/agents/:id/card/preview': { make: agent, send: async () => ({ version: '2.0.0' }) },
};

/** Another id of the same shape, that nobody has. */
function unknownLike(id: string): string {
  if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(id)) return randomUUID();
  const letters = randomUUID().replaceAll('-', '').repeat(2);
  const prefix = /^[a-z]+[_-]/.exec(id)?.[0] ?? '';
  return prefix + letters.slice(0, id.length - prefix.length);
}

/** What a stranger learns from a reply: everything but the id that they sent. */
async function tell(reply: Promise<Response>, ids: Ids) {
  const got = await reply;
  let text = await got.text();
  for (const id of Object.values(ids)) text = text.replaceAll(id, '…');
  const headers = [...got.headers].filter(([name]) => !['date', 'connection', 'keep-alive'].includes(name));
  return { status: got.status, headers, text };
}

async function openTwo(): Promise<{ world: World; mine: Tenant; theirs: Tenant }> {
  const { world } = await openDesk();
  return { world, mine: Tenant.home(world), theirs: await Tenant.add(world, 'other') };
}

describe('another space', () => {
  test('[D27] every address of the desk that names something has a case here', async () => {
    const { world } = await openDesk();
    const served = deskRoutes(world).filter(({ url }) => url.includes(':'));
    expect(served.map(({ method, url }) => `${method} ${url}`).sort()).toEqual(Object.keys(CASES).sort());
  });

  test.each(Object.entries(CASES))(
    '[D27] %s answers for its ids as for ids that nobody has',
    async (at, c) => {
      const { mine, theirs } = await openTwo();
      const [method = '', url = ''] = at.split(' ');
      const ask = (ids: Ids, sent: unknown) =>
        mine.desk(method, fill(url, (name) => ids[name] ?? '') + (c.query ?? ''), sent);
      const [own, foreign] = [await c.make(mine), await c.make(theirs)];
      const sent = await c.send?.(mine, own);
      const unknown = Object.fromEntries(
        Object.entries(foreign).map(([name, id]) => [name, unknownLike(id)]),
      );
      // Where an address has two ids, the first may be one of ours.
      const mixes = url.split(':').length === 2 ? [{}] : [{}, firstOf(own)];
      for (const mix of mixes) {
        const stranger = await tell(ask({ ...unknown, ...mix }, sent), { ...unknown, ...mix });
        expect(stranger.status).toBe(404);
        expect(await tell(ask({ ...foreign, ...mix }, sent), { ...foreign, ...mix })).toEqual(stranger);
      }
      expect((await ask(own, sent)).status).toBe(c.own ?? 200);
    },
  );

  test('[D27] nothing of it is in any list', async () => {
    const { world, mine, theirs } = await openTwo();
    const made: Ids[] = [];
    for (const c of Object.values(CASES)) made.push(await c.make(theirs));
    const ids = new Set(made.flatMap((one) => Object.values(one)).filter((id) => id !== 'agent-01'));
    expect(ids.size).toBeGreaterThan(20);
    const lists = deskRoutes(world).filter(
      ({ method, url }) => method === 'GET' && !url.includes(':') && url !== '/desk/stream',
    );
    for (const { url } of lists) {
      for (const query of ['', '?section=earlier', '?agent=agent-01', '?format=csv', '?week=2026-W46']) {
        const text = await (await mine.desk('GET', url + query)).text();
        expect([url, [...ids].filter((id) => text.includes(id))]).toEqual([url, []]);
      }
    }
  });

  test('[D27] a filter for its agent is a filter for an agent that nobody has', async () => {
    const { mine, theirs } = await openTwo();
    const { id } = await theirs.agent();
    const unknown = unknownLike(id);
    for (const path of ['/desk/deliveries?agent=', '/desk/history?agent=', '/desk/audit?subject=']) {
      const [foreign, stranger] = [mine.desk('GET', path + id), mine.desk('GET', path + unknown)];
      expect(await tell(foreign, { id })).toEqual(await tell(stranger, { id: unknown }));
    }
  });

  test('[D27] a cursor of its list shows nothing of it', async () => {
    const { mine, theirs } = await openTwo();
    const ids = [await theirs.deliver(), await theirs.deliver()];
    const { next_cursor } = await body<{ next_cursor: string }>(
      theirs.desk('GET', '/desk/deliveries?limit=1'),
    );
    const text = await (await mine.desk('GET', `/desk/deliveries?cursor=${next_cursor}`)).text();
    for (const id of ids) expect(text).not.toContain(id);
  });

  test('[D27][W14] its agents cannot be reached with our keys', async () => {
    const { world, mine, theirs } = await openTwo();
    const [foreign, unknown] = [await theirs.deliver(), randomUUID()];
    const asks: ((id: string) => Promise<Response>)[] = [
      (id) => world.get(`/wake/v1/response/${id}`, mine.key),
      (id) => world.get(`/wake/v1/response/${id}?wait=60`, mine.key),
      (id) => world.post(`/wake/v1/withdraw/${id}`, { reason: 'x' }, mine.key),
      (id) => world.post('/wake/v1/deliver', { ...SAMPLE, revises: id }, mine.key),
    ];
    const bucket = (told: Awaited<ReturnType<typeof tell>>) => ({
      ...told,
      headers: told.headers.filter(([name]) => !name.startsWith('ratelimit')),
    });
    for (const ask of asks) {
      const stranger = bucket(await tell(ask(unknown), { unknown }));
      expect([404, 422]).toContain(stranger.status);
      expect(bucket(await tell(ask(foreign), { foreign }))).toEqual(stranger);
    }
    expect(await body(world.get('/wake/v1/responses', mine.key))).toMatchObject({ total: 0 });
  });
});

const SAMPLE = { agent_id: 'agent-01', provider: 'p', type: 'question', headline: 'h', summary: 's' };

function firstOf(ids: Ids): Ids {
  return Object.fromEntries(Object.entries(ids).slice(0, 1));
}
