import pino from 'pino';
import type { Config } from './config.ts';
import { takeIn } from './core/deliveries/accept.ts';
import { deskRoutes } from './desk/routes.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { Indexer } from './dispatch/indexer.ts';
import type { Mailer } from './dispatch/mailer.ts';
import { Outbound } from './dispatch/outbound.ts';
import { Ticker } from './dispatch/ticker.ts';
import type { Ground } from './ground.ts';
import { addGroundRules, closeApp, makeApp } from './http/app.ts';
import { docsRoutes } from './http/docs.ts';
import { healthRoutes, Metrics } from './http/health.ts';
import { openApiRoutes } from './http/openapi.ts';
import { Parking } from './http/park.ts';
import { Presence } from './http/presence.ts';
import type { Shell } from './http/shell.ts';
import { Streams } from './http/sse.ts';
import { staticRoutes } from './http/static.ts';
import { assertSafeBinding, parseProxies } from './http/transport.ts';
import { akepRoutes } from './protocols/akep/routes.ts';
import { wakeRoutes } from './protocols/wake/routes.ts';
import { ThreadedIntake } from './storage/intake.ts';
import { VERSION } from './version.ts';

export { type Ground, openGround } from './ground.ts';

export type Running = {
  url: string;
  ground: Ground;
  ticker: Ticker;
  indexer: Indexer;
  /** Every address that is served, as it was registered. */
  routes: readonly Route[];
  stop(): Promise<void>;
};

export type Route = { method: string; url: string };

/** The whole server: ground, doors, the way out and the clock's work. Stops in the reverse order. */
export async function startServer(
  config: Config,
  ground: Ground,
  { outbound = new Outbound() }: { outbound?: Outbound } = {},
): Promise<Running> {
  const proxies = parseProxies(config.trustProxy);
  const tls =
    config.tlsCert !== null && config.tlsKey !== null ? { cert: config.tlsCert, key: config.tlsKey } : null;
  const binding = { host: config.host, tls: tls !== null, proxies };
  assertSafeBinding(binding);

  const log = pino({ level: config.log });
  const warn = (problem: unknown, message: string) => log.warn({ err: problem }, message);
  const { auditor } = ground;
  const intake = intakeOf(ground, warn);
  const room = { ...ground.room, intake };
  const wakeups = ground.data.store.signals;
  const parking = new Parking(wakeups);
  const streams = new Streams();
  const presence = new Presence(room, (tx, agent, at) => tx.agents.seen(agent, at));
  const producersSeen = new Presence(room, (tx, producer, at) => tx.producers.seen(producer, at));
  let url = config.url ?? '';
  const shell: Shell = {
    room,
    auditor,
    wakeups,
    parking,
    streams,
    binding,
    baseUrl: () => url,
    presence,
    producersSeen,
    outbound,
    mail: config.smtpUrl !== null,
    about: { version: VERSION, retentionDays: config.retentionDays, producerRate: config.rateProducer },
  };

  const app = makeApp({ tls, log, proxies: config.trustProxy, baseUrl: shell.baseUrl });
  const routes: Route[] = [];
  app.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) routes.push({ method: name, url });
  });
  const metrics = new Metrics({ parking, streams });
  const health = { draining: false };
  addGroundRules(app, shell);
  metrics.watch(app);
  presence.watch(app);
  docsRoutes(app, openApiRoutes(app, shell));
  healthRoutes(app, shell, { health, metrics });
  await app.register((door) => wakeRoutes(door, shell));
  await app.register((door) => akepRoutes(door, shell));
  await app.register((door) => deskRoutes(door, shell));
  await app.register((door) => staticRoutes(door, shell));

  const mailer = await mailerFor(config.smtpUrl);
  const dispatcher = new Dispatcher({ room, outbound, mailer, wakeups, warn });
  const checkpoint = () => auditor.checkpointAll();
  const ticker = new Ticker({
    room,
    wakeups,
    retentionDays: config.retentionDays,
    checkpoint,
    presence: [presence, producersSeen],
    warn,
  });
  const indexer = new Indexer({ room, wakeups, warn });
  const address = await app.listen({ port: config.port, host: config.host });
  url ||= address.replace('[::1]', 'localhost');
  dispatcher.start();
  ticker.start();
  await indexer.start();

  const shutDown = async (): Promise<void> => {
    health.draining = true;
    parking.drain();
    streams.closeAll();
    await closeApp(app);
    await intake.stop();
    await ticker.stop();
    await indexer.stop();
    await dispatcher.stop();
    await presence.flush();
    await producersSeen.flush();
    await checkpoint();
    await ground.stop();
  };
  let stopped: Promise<void> | null = null;
  // Asked twice, it stops once.
  const stop = (): Promise<void> => {
    stopped ??= shutDown();
    return stopped;
  };
  return { url, ground, ticker, indexer, routes, stop };
}

/** Deliveries that come in crowds are written beside the doors, on a thread of their own. */
function intakeOf({ data, room }: Ground, warn: (problem: unknown, message: string) => void): ThreadedIntake {
  return new ThreadedIntake({
    data: { file: data.database, master: data.master, settings: room.settings },
    turns: data.turns,
    here: (unit) => takeIn(room, unit),
    tell: (news) => data.store.signals.tell(news),
    warn,
  });
}

/** Loaded where there is a mail server: most starts need none of it. */
async function mailerFor(smtpUrl: string | null): Promise<Mailer | null> {
  if (smtpUrl === null) return null;
  const { Mailer } = await import('./dispatch/mailer.ts');
  return new Mailer(smtpUrl);
}
