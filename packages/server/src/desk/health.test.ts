import { describe, expect, test } from 'vitest';
import { HOUR, SECOND } from '../core/time.ts';
import { openDesk, status } from '../testing/desk/desk.ts';
import { Tenant } from '../testing/desk/tenant.ts';
import { aJob } from '../testing/stores/things.ts';
import { draft } from '../testing/wake.ts';

type Parameter = { name: string; in: string };
type Described = { responses: object; requestBody?: { required: boolean }; parameters?: Parameter[] };
type OpenApi = { openapi: string; paths: Record<string, Record<string, Described>> };

describe('health', () => {
  test('[D33] /healthz is the process, /readyz the store too', async () => {
    const { world } = await openDesk();
    expect(await (await fetch(`${world.url}/healthz`)).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(`${world.url}/readyz`)).json()).toEqual({ status: 'ready' });
  });

  test('[D33] without its store the process is healthy and not ready', async () => {
    const { world } = await openDesk();
    await world.sql('alter table spaces rename to gone');
    expect(await status(fetch(`${world.url}/healthz`))).toBe(200);
    expect(await status(fetch(`${world.url}/readyz`))).toBeGreaterThanOrEqual(500);
    await world.sql('alter table gone rename to spaces');
    expect(await status(fetch(`${world.url}/readyz`))).toBe(200);
  });

  test('[D33] a store that can be read and not written is ready: taken out of service, it would answer nobody', async () => {
    const { world } = await openDesk();
    const id = await world.deliver();
    await world.sql('alter table ledger rename to gone');
    expect(await status(world.post('/wake/v1/deliver', draft(world)))).toBeGreaterThanOrEqual(500);
    expect(await status(world.get(`/wake/v1/response/${id}`))).toBe(200);
    expect(await status(fetch(`${world.url}/readyz`))).toBe(200);
    await world.sql('alter table gone rename to ledger');
  });

  test("[D33] /metrics needs the token of the first space's owner, and shows no ids", async () => {
    const { world } = await openDesk();
    const neighbour = await Tenant.add(world, 'neighbour');
    expect(await status(neighbour.desk('GET', '/metrics'))).toBe(401);
    const { token } = await world.addPerson('decider@example.com', 'decider');
    const id = await world.deliver();
    await world.desk('GET', `/desk/deliveries/${id}`);
    expect(await status(fetch(`${world.url}/metrics`))).toBe(401);
    expect(await status(world.get('/metrics'))).toBe(401);
    expect(await status(world.desk('GET', '/metrics', undefined, token))).toBe(401);
    const reply = await world.desk('GET', '/metrics');
    expect(reply.headers.get('content-type')).toContain('text/plain');
    const text = await reply.text();
    expect(text).toMatch(/^lanternroom_requests_total\{route="\/desk\/deliveries\/:id",status="200"\} 1$/m);
    expect(text).not.toContain(id);
  });

  test('[D33] /metrics tells how long work is overdue', async () => {
    const { world } = await openDesk();
    const gauge = async (name: string) => {
      const text = await (await world.desk('GET', '/metrics')).text();
      return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    };
    expect(await gauge('lanternroom_oldest_job_seconds')).toBe(0);
    expect(await gauge('lanternroom_oldest_held_seconds')).toBe(0);
    const now = world.room.clock.now();
    // Somebody else has it, so that nobody here takes it away.
    const job = aJob({ space: world.space.id, dueAt: now - 90 * SECOND, leasedUntil: now + HOUR });
    await world.room.store.write(world.space.id, [], (tx) =>
      tx.jobs.insert(job, { url: 'https://example.com', body: '' }),
    );
    expect(await gauge('lanternroom_oldest_job_seconds')).toBe(90);
  });

  test('[D33] /openapi.json describes what is really served', async () => {
    const { world } = await openDesk();
    const document = (await (await fetch(`${world.url}/openapi.json`)).json()) as OpenApi;
    expect(document.openapi).toBe('3.1.0');
    const served = new Set(world.running.routes.map(({ method, url }) => `${method} ${url}`));
    // Verbs of A2A (`{id}:cancel`) share one route; its own test of the documents asks for each of them.
    const plain = Object.entries(document.paths).filter(([path]) => !path.includes(':'));
    const described = plain.flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    );
    expect(described.filter((at) => !served.has(at))).toEqual([]);
    expect(described).toEqual(
      expect.arrayContaining([
        'POST /wake/v1/deliver',
        'GET /wake/v1/response/:id',
        'GET /wake/v1/responses',
        'POST /wake/v1/withdraw/:id',
      ]),
    );
    for (const methods of Object.values(document.paths)) {
      for (const { responses } of Object.values(methods)) expect(Object.keys(responses)).toContain('default');
    }
  });

  test('[D33][W12][W15][W17] it names what a request to WAKE may carry, and each of these is read', async () => {
    const { world } = await openDesk();
    const { paths } = (await (await fetch(`${world.url}/openapi.json`)).json()) as OpenApi;
    const named = (method: string, path: string) =>
      paths[path]?.[method]?.parameters?.filter((one) => one.in !== 'path').map((one) => one.name);
    expect(named('post', '/wake/v1/deliver')).toEqual(['Idempotency-Key']);
    expect(named('get', '/wake/v1/response/{id}')).toEqual(['wait', 'Prefer']);
    const sweep = named('get', '/wake/v1/responses') ?? [];
    expect(sweep).toEqual(['agent_id', 'status', 'since', 'limit']);
    for (const name of sweep) {
      const { error } = (await (await world.get(`/wake/v1/responses?${name}=`)).json()) as Record<
        string,
        object
      >;
      expect(error).toMatchObject({ field: name });
    }
    expect(Object.keys(paths['/wake/v1/deliver']?.post?.responses ?? {})).toEqual(['200', '201', 'default']);
    expect(paths['/akep/events/{id}/ack']?.post?.requestBody?.required).toBe(false);
    expect(paths).toHaveProperty(['/.well-known/wake.json']);
  });
});
