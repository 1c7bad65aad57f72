import type { Logger } from 'pino';
import type { Config } from './config.ts';
import type { JsonObject } from './core/canonical.ts';
import { RULES } from './core/intake.ts';
import type { Cards } from './desk/agents/cards.ts';
import { deskRoutes } from './desk/routes.ts';
import { Dispatcher } from './dispatch/dispatcher.ts';
import { Indexer } from './dispatch/indexer.ts';
import type { Mailer } from './dispatch/mailer.ts';
import { Outbound } from './dispatch/outbound/outbound.ts';
import type { PushParts } from './dispatch/prepare/push.ts';
import { Resealer } from './dispatch/resealer.ts';
import { Ticker } from './dispatch/ticker.ts';
import type { Ground } from './ground.ts';
import { Addresses, type Route } from './http/addresses.ts';
import { addGroundRules, closeApp, makeApp } from './http/app.ts';
import { isFromElsewhere } from './http/entry/origin.ts';
import { Presence } from './http/entry/presence.ts';
import {
  assertSafeBinding,
  type Binding,
  isLoopbackHost,
  isPrivate,
  parseProxies,
} from './http/entry/transport.ts';
import { FastLanes } from './http/fast-lane.ts';
import { healthRoutes, Metrics } from './http/health.ts';
import { VERSION } from './http/package-files.ts';
import { docsRoutes } from './http/pages/docs/routes.ts';
import { downloadRoutes } from './http/pages/downloads.ts';
import { openApiRoutes } from './http/pages/openapi.ts';
import { staticRoutes } from './http/pages/static.ts';
import type { Shell } from './http/shell.ts';
import { signCallback } from './http/signing/callback-signature.ts';
import { Signer } from './http/signing/signer.ts';
import { Upgrades } from './http/sockets/upgrades.ts';
import { LargeAnswers } from './http/waiting/large-answers.ts';
import { Parking } from './http/waiting/park.ts';
import { Streams } from './http/waiting/sse.ts';
import { openLog } from './log.ts';
import { CardMaker } from './protocols/a2a/cards/card.ts';
import { Hub } from './protocols/a2a/hub/hub.ts';
import { findNeighbour, pushBody } from './protocols/a2a/push/body.ts';
import { a2aRoutes } from './protocols/a2a/routes.ts';
import { akepRoutes } from './protocols/akep/routes.ts';
import { mcpRoutes } from './protocols/mcp/routes.ts';
import { wakeRoutes } from './protocols/wake/routes.ts';
import { ThreadedIntake } from './storage/intake/threaded.ts';
import { RecentLogs } from './storage/log-memory.ts';
import { noteResealed, takeUpKey } from './storage/sealing/sealed-by.ts';

export { type Ground, openGround } from './ground.ts';
export { openLog } from './log.ts';

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

type Warn = (problem: unknown, message: string) => void;

/** The whole server: ground, doors, the way out and the clock's work. Stops in the reverse order. */
export async function startServer(
  config: Config,
  ground: Ground,
  { outbound = new Outbound() }: { outbound?: Outbound } = {},
): Promise<Running> {
  const binding = bindingOf(config);
  assertSafeBinding(binding);

  const log = openLog(config.log);
  const warn: Warn = (problem, message) => log.warn({ err: problem }, message);
  const resealer = resealerOf(ground, log, warn);
  await resealer.takeUp();
  await ground.data.local?.store.listen();
  const intake = intakeOf(ground, warn);
  const room = { ...ground.room, intake, logs: new RecentLogs() };
  const reached = { url: config.url ?? '' };
  const { shell, metrics } = shellOf(config, ground, { room, binding, outbound, baseUrl: () => reached.url });
  const signer = new Signer(room);
  // The first key is made now, so that reading a card later changes nothing.
  await signer.currentId();
  const doors = await openDoors(config, shell, { log, warn, metrics, signer });
  const workers = await workersOf(config, ground, { room, shell, outbound, signer, warn });

  const address = await doors.app.listen({ port: config.port, host: config.host });
  reached.url ||= address.replace('[::1]', 'localhost');
  resealer.start();
  doors.hub.start();
  await workers.start();

  const shutDown = async (): Promise<void> => {
    await doors.close();
    await workers.dispatcher.stop();
    await intake.stop(); // after everything that hands work to it
    await workers.stop();
    await resealer.stop();
    await workers.lastNotes();
    await ground.stop();
  };
  let stopped: Promise<void> | null = null;
  // Asked twice, it still stops once.
  const stop = (): Promise<void> => {
    stopped ??= shutDown();
    return stopped;
  };
  const { ticker, indexer } = workers;
  return { url: reached.url, ground, ticker, indexer, hub: doors.hub, routes: shell.addresses.routes, stop };
}

function bindingOf({ host, tlsCert, tlsKey, trustProxy }: Config): Binding {
  return { host, tls: tlsCert !== null && tlsKey !== null, proxies: parseProxies(trustProxy) };
}

type ShellParts = Pick<Shell, 'room' | 'binding' | 'outbound' | 'baseUrl'>;

/** What every door gets, including what counts their callers. */
function shellOf(config: Config, { data, auditor }: Ground, parts: ShellParts) {
  const { room } = parts;
  const wakeups = data.store.signals;
  const parking = new Parking(wakeups);
  const streams = new Streams();
  const metrics = new Metrics({ parking, streams, room });
  const shell: Shell = {
    ...parts,
    auditor,
    wakeups,
    parking,
    streams,
    largeAnswers: new LargeAnswers(),
    addresses: new Addresses(),
    lanes: new FastLanes(parts.binding, (route, status, millis) => metrics.note(route, status, millis)),
    upgrades: new Upgrades(),
    presence: new Presence(room, (tx, agent, at) => tx.agents.seen(agent, at)),
    producersSeen: new Presence(room, (tx, producer, at) => tx.producers.seen(producer, at)),
    callersSeen: new Presence(room, (tx, token, at) => tx.callers.used(token, at)),
    mail: config.smtpUrl !== null,
    about: { version: VERSION, retentionDays: config.retentionDays, producerRate: config.rateProducer },
  };
  return { shell, metrics };
}

type DoorParts = { log: Logger; warn: Warn; metrics: Metrics; signer: Signer };

/** Registers every address; the server does not listen yet. */
async function openDoors(config: Config, shell: Shell, { log, warn, metrics, signer }: DoorParts) {
  const { tlsCert: cert, tlsKey: key, trustProxy: proxies } = config;
  const tls = cert !== null && key !== null ? { cert, key } : null;
  const app = makeApp({ tls, log, proxies, baseUrl: shell.baseUrl });
  shell.addresses.watch(app);
  shell.upgrades.attach(app.server, {
    isPrivate: (request) => isPrivate(request, shell.binding),
    isFromElsewhere: (request) => isFromElsewhere(shell, request),
  });
  const hub = new Hub(shell, warn);
  shell.upgrades.serve('/a2a/connect', (...asked) => void hub.upgrade(...asked));
  const health = { draining: false };
  addGroundRules(app, shell);
  metrics.watch(app);
  shell.presence.watch(app);
  docsRoutes(app, openApiRoutes(app, shell));
  downloadRoutes(app, shell);
  healthRoutes(app, shell, { health, metrics });
  await app.register((door) => wakeRoutes(door, shell));
  await app.register((door) => akepRoutes(door, shell));
  await app.register((door) => mcpRoutes(door, shell));
  await app.register((door) => a2aRoutes(door, shell, signer));
  const cards = deskCards(new CardMaker(shell, signer), signer);
  await app.register((door) => deskRoutes(door, shell, cards));
  await app.register((door) => staticRoutes(door, shell));
  shell.lanes.guard(app);

  const close = async (): Promise<void> => {
    health.draining = true;
    shell.lanes.close();
    shell.parking.drain();
    shell.streams.closeAll();
    await hub.stop();
    await closeApp(app);
  };
  return { app, hub, close };
}

type WorkerParts = { room: Shell['room']; shell: Shell; outbound: Outbound; signer: Signer; warn: Warn };

/** What runs without being asked: the way out, the ticker, the word index. */
async function workersOf(
  config: Config,
  { data, auditor }: Ground,
  { room, shell, outbound, signer, warn }: WorkerParts,
) {
  const wakeups = data.store.signals;
  const mailer = await mailerFor(config.smtpUrl);
  const push = pushParts(shell, signer);
  const dispatcher = new Dispatcher({ room, outbound, mailer, wakeups, warn, push, sign: signCallback });
  const presence = [shell.presence, shell.producersSeen, shell.callersSeen];
  const checkpoint = () => auditor.checkpointAll();
  const { retentionDays } = config;
  const ticker = new Ticker({ room, wakeups, retentionDays, checkpoint, presence, warn });
  const indexer = new Indexer({ room, wakeups, warn });
  return {
    dispatcher,
    ticker,
    indexer,
    start: async () => {
      dispatcher.start();
      ticker.start();
      await indexer.start();
    },
    stop: async () => {
      await ticker.stop();
      await indexer.stop();
    },
    /** None of this was promised to anybody: a store that cannot write must not keep the rest from stopping. */
    lastNotes: async () => {
      for (const write of [...presence.map((seen) => () => seen.flush()), checkpoint])
        await write().catch((problem: unknown) => warn(problem, 'a last note could not be written'));
    },
  };
}

/** The desk shows the cards that A2A makes, without knowing A2A. */
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

/** What the way out needs to know of A2A. */
function pushParts(shell: Shell, signer: Signer): PushParts {
  const { room, baseUrl, binding } = shell;
  return {
    render: pushBody(room, baseUrl),
    neighbour: (url) => findNeighbour(room, baseUrl(), url),
    sign: (body, about) => signer.signBody(body, { ...about, issuer: baseUrl() }),
    mayBeLoopback: isLoopbackHost(binding.host),
  };
}

/** When a new master key was put before the old one, everything is resealed with it. */
function resealerOf({ room, data, auditor }: Ground, log: Logger, warn: Warn): Resealer {
  return new Resealer({
    room,
    // Another replica may have replaced the key in the database; the file of checkpoints is each one's own.
    takeUpKey: async () =>
      (await takeUpKey(data.store, data.vault)) || (data.shared.masters.length > 1 && auditor.isFileOlder()),
    finish: async () => {
      await auditor.signAnew();
      await noteResealed(data.store, data.vault);
    },
    note: (message) => log.info(message),
    warn,
  });
}

/** What arrives in crowds is written on a second thread. */
function intakeOf({ data, room }: Ground, warn: Warn): ThreadedIntake {
  const { at, masters, turns } = data.shared;
  return new ThreadedIntake({
    data: { at, masters, settings: room.settings },
    turns,
    here: (kind, unit) => RULES[kind](room, unit),
    tell: (news) => data.store.hear(news),
    warn,
  });
}

/** Loaded only with a mail server: most starts do not need it. */
async function mailerFor(smtpUrl: string | null): Promise<Mailer | null> {
  if (smtpUrl === null) return null;
  const { Mailer } = await import('./dispatch/mailer.ts');
  return new Mailer(smtpUrl);
}
