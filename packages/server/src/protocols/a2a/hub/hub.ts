import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { ACCESS, accessTopic } from '../../../core/access.ts';
import { isActive, type KeyRecord } from '../../../core/agents/key.ts';
import { isFault, isStoreTrouble } from '../../../core/faults.ts';
import type { AgentId, SpaceId } from '../../../core/ids.ts';
import { entry } from '../../../core/maps.ts';
import { RENEW_LINKS_EVERY, renewLinks } from '../../../core/tasks/presence.ts';
import { identify } from '../../../http/entry/agent-key.ts';
import type { Shell } from '../../../http/shell.ts';
import { refuseUpgrade, stopListening } from '../../../http/sockets/upgrades.ts';
import { inParts } from '../../../http/waiting/in-parts.ts';
import type { Connection, Opened, Surroundings } from './connection.ts';
import { CLOSE, FRAME_MOST, HEARTBEAT_SECONDS, PROTOCOL } from './frames.ts';
import type { Wish } from './inbox-feed.ts';

/** How long a laptop may take to answer our goodbye. */
const GOODBYE_MS = 2_000;

type OpenLink = { agent: AgentId; link: string; connection: Connection };

type Warn = (problem: unknown, message: string) => void;

/** `GET /a2a/connect`: all laptops that are connected here, and the heartbeat that finds those that are gone (A13). */
export class Hub {
  readonly #shell: Shell;
  readonly #warn: Warn;
  /** One object for all connections. */
  readonly #around: Surroundings;
  readonly #sockets = new WebSocketServer({
    noServer: true,
    maxPayload: FRAME_MOST,
    perMessageDeflate: false,
    // Pings are answered where frames are read (http/sockets/pace.ts).
    autoPong: false,
    clientTracking: false,
    handleProtocols: () => PROTOCOL,
  });
  /** One text for all connections of a space: each key that is looked up brings its own. */
  readonly #spaces = new Map<SpaceId, SpaceId>();
  readonly #open = new Set<Connection>();
  readonly #ending = new Set<Promise<void>>();
  #read: Promise<typeof import('./connection.ts')> | null = null;
  #beat: NodeJS.Timeout | null = null;
  #renew: NodeJS.Timeout | null = null;
  #stopping = false;
  #isAskingForKeys = false;
  #off = () => {};

  constructor(shell: Shell, warn: Warn) {
    this.#shell = shell;
    this.#warn = warn;
    const { room, wakeups } = shell;
    this.#around = { room, wakeups, warn, isActive: (digest) => this.#isActive(digest) };
  }

  get size(): number {
    return this.#open.size;
  }

  start(): void {
    this.#off = this.#shell.wakeups.on(ACCESS, (about) => this.#accessEnded(about));
    this.#beat = setInterval(() => void this.beat(), HEARTBEAT_SECONDS * 1000);
    this.#renew = setInterval(() => void this.renew(), RENEW_LINKS_EVERY / 1000);
  }

  /** Says goodbye, and cuts off laptops that do not answer it. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#off();
    if (this.#beat !== null) clearInterval(this.#beat);
    if (this.#renew !== null) clearInterval(this.#renew);
    const all = [...this.#open];
    for (const connection of all) connection.close(CLOSE.restarting, 'restarting, please reconnect');
    const losingPatience = setTimeout(() => {
      for (const connection of all) connection.terminate();
    }, GOODBYE_MS);
    await Promise.all(all.map((connection) => connection.gone));
    clearTimeout(losingPatience);
    await Promise.all(this.#ending);
  }

  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const refusal = this.#refusal(request);
    if (refusal !== null) return refuseUpgrade(socket, refusal.status, refusal.error);
    try {
      const { key } = await identify(this.#shell.room, request);
      const { Connection } = await this.#reading();
      this.#sockets.handleUpgrade(request, socket, head, (opened) => {
        stopListening(socket);
        const { replaces, wish } = askedIn(request);
        const at = this.#placeOf(key);
        const connection = new Connection(this.#around, { socket: opened, wire: request.socket, at }, wish);
        this.#welcome(connection, opened, replaces);
      });
    } catch (reason) {
      if (isFault(reason) && reason.fault === 'unauthorized')
        return refuseUpgrade(socket, 401, reason.message, ['www-authenticate: Bearer']);
      refuseUpgrade(socket, 503, 'The server cannot look up keys just now. Come back in a moment.');
    }
  }

  /** Loaded with the first laptop: reading frames takes a fifth of all files of a start. */
  #reading(): Promise<typeof import('./connection.ts')> {
    this.#read ??= import('./connection.ts');
    return this.#read;
  }

  #refusal(request: IncomingMessage): { status: number; error: string } | null {
    if (this.#stopping) return { status: 503, error: 'The server is restarting. Come back in a moment.' };
    const offered = request.headers['sec-websocket-protocol'];
    if (offered !== undefined && !offered.split(',').some((name) => name.trim() === PROTOCOL))
      return { status: 400, error: `Offer the subprotocol ${PROTOCOL}.` };
    return null;
  }

  #placeOf({ space, agent, tier, digest }: KeyRecord): Opened['at'] {
    const link = `link_${this.#shell.room.ids.letters(16)}`;
    return { space: entry(this.#spaces, space, () => space), agent, tier, link, digest };
  }

  async #isActive(digest: string): Promise<boolean> {
    const { store, clock } = this.#shell.room;
    const identity = await store.directory.identityByDigest(digest);
    return identity !== null && isActive(identity.key, clock.now());
  }

  #welcome(connection: Connection, socket: WebSocket, replaces: string | null): void {
    this.#open.add(connection);
    socket.on('close', () => {
      const ending = this.#end(connection).finally(() => this.#ending.delete(ending));
      this.#ending.add(ending);
    });
    this.#hello(connection, replaces).catch((problem: unknown) => {
      if (isFault(problem) && !isStoreTrouble(problem)) return connection.refuse(problem);
      this.#warn(problem, 'a laptop could not be taken in');
      connection.close(CLOSE.away, 'the store is away, please reconnect');
    });
  }

  async #hello(connection: Connection, replaces: string | null): Promise<void> {
    const { room, baseUrl, presence } = this.#shell;
    const { space, agent, link } = connection.at;
    presence.note(space, agent);
    const handle = (await room.store.read(space, (tx) => tx.spaces.get()))?.handle ?? 'home';
    const hello = {
      type: 'hello',
      protocol: PROTOCOL,
      agent: `@${handle}/${agent}`,
      connectionId: link,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      maxFrameBytes: FRAME_MOST,
      uploadUrl: `${baseUrl()}/a2a/uploads`,
    };
    await connection.start(JSON.stringify(hello), replaces);
  }

  async #end(connection: Connection): Promise<void> {
    if (!this.#open.delete(connection)) return;
    await connection.end().catch((problem: unknown) => this.#warn(problem, 'a laptop was not written off'));
  }

  /** Checks every socket once; public so that a test can call it. */
  async beat(): Promise<void> {
    for await (const some of inParts(this.#open))
      for (const connection of some) if (!connection.beat()) connection.terminate();
    await this.#askForKeys();
  }

  /**
   * Apart from the beat: a store that is away would delay some beats until they came together, and nobody can answer
   * two at once.
   */
  async #askForKeys(): Promise<void> {
    if (this.#isAskingForKeys) return;
    this.#isAskingForKeys = true;
    try {
      for await (const some of inParts(this.#open))
        await Promise.all(some.map((connection) => this.#askForKey(connection)));
    } finally {
      this.#isAskingForKeys = false;
    }
  }

  async #askForKey(connection: Connection): Promise<void> {
    const { space, agent } = connection.at;
    if (!connection.isClosed && (await connection.askAgain())) this.#shell.presence.note(space, agent);
  }

  /** One listener for all laptops: most of them lie idle. */
  #accessEnded(about: ReadonlySet<string>): void {
    for (const connection of this.#open) {
      const { space, agent } = connection.at;
      if (about.has(accessTopic(space, agent)) || about.has('')) void connection.askAgain();
    }
  }

  /** Records who is still here; public so that a test can call it. */
  async renew(): Promise<void> {
    const bySpace = new Map<SpaceId, OpenLink[]>();
    for (const connection of this.#open) {
      const { space, agent, link } = connection.at;
      entry(bySpace, space, (): OpenLink[] => []).push({ agent, link, connection });
    }
    for (const [space, links] of bySpace) {
      await this.#renewIn(space, links).catch((problem: unknown) =>
        this.#warn(problem, 'connections could not be renewed'),
      );
    }
  }

  async #renewIn(space: SpaceId, links: readonly OpenLink[]): Promise<void> {
    for await (const some of inParts(links))
      for (const { connection } of await renewLinks(this.#shell.room, space, some)) await connection.rejoin();
  }
}

type Asked = { replaces: string | null; wish: Wish };

/** What the laptop says of itself: the connection it had before, and what it wants beside its tasks. */
function askedIn({ url }: IncomingMessage): Asked {
  const query = new URLSearchParams((url ?? '').split('?')[1] ?? '');
  const isOn = (name: string) => query.get(name) === '1' || query.get(name) === 'true';
  const wish = { events: isOn('events'), resumes: isOn('resumes'), cursor: query.get('cursor') || null };
  return { replaces: query.get('replaces'), wish };
}
