import pino, { type Logger } from 'pino';
import type { Config } from './config.ts';
import type { JsonObject } from './core/canonical.ts';
import { RULES } from './core/intake.ts';
import type { Cards } from './desk/cards.ts';
import { deskRoutes } from './desk/routes.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { Indexer } from './dispatch/indexer.ts';
import type { Mailer } from './dispatch/mailer.ts';
import { Outbound } from './dispatch/outbound.ts';
import type { PushParts } from './dispatch/prepare-push.ts';
import { Resealer } from './dispatch/resealer.ts';
import { Ticker } from './dispatch/ticker.ts';
import type { Ground } from './ground.ts';
import { addGroundRules, closeApp, makeApp } from './http/app.ts';
import { docsRoutes } from './http/docs.ts';
import { FastLanes } from './http/fast-lane.ts';
import { healthRoutes, Metrics } from './http/health.ts';
import { openApiRoutes } from './http/openapi.ts';
import { Parking } from './http/park.ts';
import { Presence } from './http/presence.ts';
import type { Shell } from './http/shell.ts';
import { Signer } from './http/signing.ts';
import { Streams } from './http/sse.ts';
import { staticRoutes } from './http/static.ts';
import { assertSafeBinding, isLoopbackHost, isPrivate, parseProxies } from './http/transport.ts';
import { Upgrades } from './http/upgrades.ts';
import { VERSION } from './http/version.ts';
import { CardMaker } from './protocols/a2a/card.ts';
import { Hub } from './protocols/a2a/hub.ts';
import { findNeighbour, pushBody } from './protocols/a2a/push-body.ts';
import { a2aRoutes } from './protocols/a2a/routes.ts';
import { akepRoutes } from './protocols/akep/routes.ts';
import { mcpRoutes } from './protocols/mcp/routes.ts';
import { wakeRoutes } from './protocols/wake/routes.ts';
import { ThreadedIntake } from './storage/intake/threaded.ts';
import { RecentLogs } from './storage/log-memory.ts';
import { noteResealed, takeUpKey } from './storage/sealing/sealed-by.ts';

export { type Ground, openGround } from './ground.ts';

export type Running = {
  url: string;
  ground: Ground;
  ticker: Ticker;
  indexer: Indexer;
  hub: Hub;
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
  const resealer = resealerOf(ground, log, warn);
  await resealer.takeUp();
  const intake = intakeOf(ground, warn);
  const room = { ...ground.room, intake, logs: new RecentLogs() };
  const wakeups = ground.data.store.signals;
  const parking = new Parking(wakeups);
  const streams = new Streams();
  const presence = new Presence(room, (tx, agent, at) => tx.agents.seen(agent, at));
  const producersSeen = new Presence(room, (tx, producer, at) => tx.producers.seen(producer, at));
  const callersSeen = new Presence(room, (tx, token, at) => tx.callers.used(token, at));
  const metrics = new Metrics({ parking, streams, room });
  const lanes = new FastLanes(binding, (route, status, millis) => metrics.note(route, status, millis));
  let url = config.url ?? '';
  const shell: Shell = {
    room,
    auditor,
    wakeups,
    parking,
    streams,
    lanes,
    upgrades: new Upgrades(),
    binding,
    baseUrl: () => url,
    presence,
    producersSeen,
    callersSeen,
    outbound,
    mail: config.smtpUrl !== null,
    about: { version: VERSION, retentionDays: config.retentionDays, producerRate: config.rateProducer },
  };

  const app = makeApp({ tls, log, proxies: config.trustProxy, baseUrl: shell.baseUrl });
  const routes: Route[] = [];
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.refuses) return;
    for (const name of [method].flat()) routes.push({ method: name, url });
  });
  shell.upgrades.attach(app.server, (request) => isPrivate(request, shell.binding));
  const hub = new Hub(shell, warn);
  shell.upgrades.serve('/a2a/connect', (...asked) => void hub.upgrade(...asked));
  const health = { draining: false };
  addGroundRules(app, shell);
  metrics.watch(app);
  presence.watch(app);
  docsRoutes(app, openApiRoutes(app, shell));
  healthRoutes(app, shell, { health, metrics });
  await app.register((door) => wakeRoutes(door, shell));
  await app.register((door) => akepRoutes(door, shell));
  await app.register((door) => mcpRoutes(door, shell));
  const signer = new Signer(room);
  // The first key is made now: looking at a card later must change nothing.
  await signer.currentId();
  await app.register((door) => a2aRoutes(door, shell, signer));
  const cards = deskCards(new CardMaker(shell, signer), signer);
  await app.register((door) => deskRoutes(door, shell, cards));
  await app.register((door) => staticRoutes(door, shell));

  lanes.guard(app);

  const mailer = await mailerFor(config.smtpUrl);
  const dispatcher = new Dispatcher({
    room,
    outbound,
    mailer,
    wakeups,
    warn,
    push: pushParts(shell, signer),
  });
  const checkpoint = () => auditor.checkpointAll();
  const ticker = new Ticker({
    room,
    wakeups,
    retentionDays: config.retentionDays,
    checkpoint,
    presence: [presence, producersSeen, callersSeen],
    warn,
  });
  const indexer = new Indexer({ room, wakeups, warn });
  const address = await app.listen({ port: config.port, host: config.host });
  url ||= address.replace('[::1]', 'localhost');
  resealer.start();
  dispatcher.start();
  hub.start();
  ticker.start();
  await indexer.start();

  const shutDown = async (): Promise<void> => {
    health.draining = true;
    lanes.close();
    parking.drain();
    streams.closeAll();
    await hub.stop();
    await closeApp(app);
    await dispatcher.stop();
    await intake.stop(); // after all who hand in
    await ticker.stop();
    await indexer.stop();
    await resealer.stop();
    // Nothing of this is a promise to anybody: a store that takes nothing more does not keep the rest from ending.
    const last = [...[presence, producersSeen, callersSeen].map((seen) => () => seen.flush()), checkpoint];
    for (const write of last)
      await write().catch((problem: unknown) => warn(problem, 'a last note could not be written'));
    await ground.stop();
  };
  let stopped: Promise<void> | null = null;
  // Asked twice, it stops once.
  const stop = (): Promise<void> => {
    stopped ??= shutDown();
    return stopped;
  };
  return { url, ground, ticker, indexer, hub, routes, stop };
}

/** What the way out needs to know of A2A. */
/** The desk shows cards as A2A makes them, and knows nothing of A2A. */
function deskCards(cards: CardMaker, signer: Signer): Cards {
  const show = async (...asked: Parameters<CardMaker['public']>) =>
    JSON.parse((await cards.public(...asked)).body) as JsonObject;
  return {
    preview: async (at) => {
      const address = { ...at, createdAt: at.card.changedAt };
      return { v1: await show(address, '1.0'), all: await show(address, '0.3') };
    },
    rotate: () => signer.rotate(),
  };
}

function pushParts(shell: Shell, signer: Signer): PushParts {
  const { room, baseUrl, binding } = shell;
  return {
    render: pushBody(room, baseUrl),
    neighbour: (url) => findNeighbour(room, baseUrl(), url),
    sign: (body, about) => signer.signBody(body, { ...about, issuer: baseUrl() }),
    mayBeLoopback: isLoopbackHost(binding.host),
  };
}

/** A master key that was put in front of the one before it takes over from here. */
function resealerOf(
  { room, data, auditor }: Ground,
  log: Logger,
  warn: (problem: unknown, message: string) => void,
): Resealer {
  return new Resealer({
    room,
    takeUpKey: () => takeUpKey(data.store, data.vault),
    finish: async () => {
      await auditor.signAnew();
      await noteResealed(data.store, data.vault);
    },
    note: (message) => log.info(message),
    warn,
  });
}

/** What comes in crowds is written beside the doors, on a thread of its own. */
function intakeOf({ data, room }: Ground, warn: (problem: unknown, message: string) => void): ThreadedIntake {
  const { at, masters, turns } = data.shared;
  return new ThreadedIntake({
    data: { at, masters, settings: room.settings },
    turns,
    here: (kind, unit) => RULES[kind](room, unit),
    tell: (news) => data.store.hear(news),
    warn,
  });
}

/** Loaded where there is a mail server: most starts need none of it. */
async function mailerFor(smtpUrl: string | null): Promise<Mailer | null> {
  if (smtpUrl === null) return null;
  const { Mailer } = await import('./dispatch/mailer.ts');
  return new Mailer(smtpUrl);
}
