import type { FastifyInstance } from 'fastify';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { isAtHome } from '../core/agents/home.ts';
import { Fault } from '../core/faults.ts';
import { personBehind } from '../core/people/login/login.ts';
import { mayAct } from '../core/people/person.ts';
import type { Room } from '../core/room.ts';
import type { Store } from '../core/store.ts';
import { type Micros, SECOND } from '../core/time.ts';
import { bearerOf } from './entry/agent-key.ts';
import type { Shell } from './shell.ts';
import type { Parking } from './waiting/park.ts';
import type { Streams } from './waiting/sse.ts';

/** Counts and times per route pattern, never per address: ids do not belong in a metric. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #requests: Counter<'route' | 'status'>;
  readonly #seconds: Histogram<'route'>;

  constructor({ parking, streams, room }: { parking: Parking; streams: Streams; room: Room }) {
    const registers = [this.#registry];
    this.#requests = new Counter({
      name: 'lanternroom_requests_total',
      help: 'Answered requests',
      labelNames: ['route', 'status'],
      registers,
    });
    this.#seconds = new Histogram({
      name: 'lanternroom_request_seconds',
      help: 'Time to answer',
      labelNames: ['route'],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers,
    });
    const gauge = (name: string, help: string, read: () => number | Promise<number>) =>
      new Gauge({
        name,
        help,
        registers,
        async collect() {
          this.set(await read());
        },
      });
    gauge('lanternroom_parked_requests', 'Long-polls that wait', () => parking.size);
    gauge('lanternroom_open_streams', 'Open live streams', () => streams.size);
    const { directory } = room.store;
    const late = (at: Micros | null) => (at === null ? 0 : Math.max(0, room.clock.now() - at) / SECOND);
    gauge('lanternroom_oldest_job_seconds', 'How long the oldest outbound request is overdue', async () =>
      late(await directory.nextJobAt(0)),
    );
    gauge('lanternroom_oldest_held_seconds', 'How long the oldest held decision is overdue', async () =>
      late(await directory.nextHeldAt()),
    );
  }

  watch(app: FastifyInstance): void {
    app.addHook('onResponse', (request, reply, done) => {
      this.note(request.routeOptions.url ?? 'none', reply.statusCode, reply.elapsedTime);
      done();
    });
  }

  note(route: string, status: number, millis: number): void {
    this.#requests.inc({ route, status });
    this.#seconds.observe({ route }, millis / 1000);
  }

  /** The figures of the process are collected only after somebody has first asked for them. */
  async text(): Promise<string> {
    if (this.#registry.getSingleMetric('process_cpu_user_seconds_total') === undefined) {
      collectDefaultMetrics({ register: this.#registry });
    }
    return this.#registry.metrics();
  }
}

export function healthRoutes(
  app: FastifyInstance,
  { room }: Shell,
  { health, metrics }: { health: { draining: boolean }; metrics: Metrics },
): void {
  app.route({ method: 'GET', url: '/healthz', handler: async () => ({ status: 'ok' }) });

  /** Ready: the schema is current (or we would not listen), the store answers, and we are not stopping. */
  app.route({
    method: 'GET',
    url: '/readyz',
    handler: async () => {
      if (health.draining) throw new Fault('unavailable', 'The server is shutting down.', { retryAfter: 5 });
      if (!(await answers(room.store)))
        throw new Fault('unavailable', 'The store does not answer.', { retryAfter: 5 });
      return { status: 'ready' };
    },
  });

  app.route({
    method: 'GET',
    url: '/metrics',
    handler: async (request, reply) => {
      if (!(await isOperator(room, bearerOf(request)))) {
        const message =
          'Send the token of an owner of the first space in the header Authorization: Bearer lr_….';
        throw new Fault('unauthorized', message);
      }
      return reply
        .header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
        .send(await metrics.text());
    },
  });
}

function answers({ isAway, directory }: Store): Promise<boolean> {
  return directory.spaces().then(
    () => !isAway,
    () => false,
  );
}

/** The numbers cover the whole server, other tenants too: they are for an owner of the first space. */
async function isOperator(room: Room, token: string | null): Promise<boolean> {
  const person = token === null ? null : await personBehind(room, token);
  return person !== null && mayAct(person.role, 'owner') && (await isAtHome(room, person));
}
