import type { Fault } from '../../core/faults.ts';
import type { Session } from '../statement.ts';
import { awayFault, isAway, isReadOnly, isSilent, isStale, storageFault } from './errors.ts';
import { type Greeting, PgLink } from './link.ts';

const PROBE_EVERY_MS = 250;
const WATCH_EVERY_MS = 1_000;
/** After this long, a probe checks whether the database is there at all. */
const SUSPICIOUS_MS = 3_000;

/**
 * Where the database is, and whether it is reachable. While it is not, everybody is told so at once and one probe
 * looks for it: nobody waits for a connection that cannot come.
 */
export class Whereabouts {
  readonly #urls: readonly string[];
  readonly #whenBack = new Set<() => void>();
  readonly #greeted: (greeting: Greeting) => void;
  readonly #links = new Set<PgLink>();
  #first = 0;
  #probe: NodeJS.Timeout | null = null;
  #watch: NodeJS.Timeout | null = null;
  #problem: unknown;
  #stopped = false;

  /** Several hosts in one address are tried in turn, until one takes writes. */
  constructor(url: string, greeted: (greeting: Greeting) => void) {
    this.#urls = eachHost(url);
    this.#greeted = greeted;
  }

  /** A lost connection alone says little; a failed probe is conclusive. */
  get isAway(): boolean {
    return this.#problem !== undefined;
  }

  /** What the last probe met. */
  get problem(): unknown {
    return this.#problem;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  onBack(hear: () => void): void {
    this.#whenBack.add(hear);
  }

  /** A fresh connection to the primary. */
  async connect(lost: (reason: Error) => void): Promise<PgLink> {
    let problem: unknown;
    for (let i = 0; i < this.#urls.length; i++) {
      const at = (this.#first + i) % this.#urls.length;
      try {
        const link = await PgLink.open(this.#urls[at] ?? '', lost);
        if (!link.greeting.isReadOnly) {
          this.#first = at;
          this.#greeted(link.greeting);
          return link;
        }
        await link.close();
        problem = new ReadOnlyDatabase();
      } catch (reason) {
        problem = reason;
      }
    }
    throw problem;
  }

  /** A connection was lost or could not be made. */
  lost(): void {
    if (this.#probe !== null || this.#stopped) return;
    this.#probe = setTimeout(() => void this.#look(), 0);
  }

  stop(): void {
    this.#stopped = true;
    if (this.#probe !== null) clearTimeout(this.#probe);
    if (this.#watch !== null) clearInterval(this.#watch);
  }

  /**
   * A connection that is watched: a database that hangs does not close connections, and everybody would wait for
   * ever.
   */
  async connectWatched(lost: (reason: Error) => void): Promise<PgLink> {
    const link = await this.connect(lost);
    this.#links.add(link);
    link.onClose(() => this.#links.delete(link));
    if (!this.#stopped) this.#startWatching();
    return link;
  }

  #startWatching(): void {
    this.#watch ??= setInterval(() => {
      const now = performance.now();
      const silences = [...this.#links].map((one) => one.silence(now));
      if (silences.some((millis) => millis >= SUSPICIOUS_MS)) this.lost();
    }, WATCH_EVERY_MS).unref();
  }

  /** Probes get no answer either. Connections that still bring answers stay. */
  #letGo(): void {
    const now = performance.now();
    for (const link of this.#links) if (link.isIdle || link.silence(now) >= SUSPICIOUS_MS) link.abandon();
  }

  async #look(): Promise<void> {
    try {
      const link = await this.connect(() => {});
      await link.close();
      this.#probe = null;
      this.#problem = undefined;
      for (const hear of this.#whenBack) hear();
    } catch (reason) {
      this.#problem = reason;
      if (isSilent(reason)) this.#letGo();
      if (!this.#stopped) this.#probe = setTimeout(() => void this.#look(), PROBE_EVERY_MS);
    }
  }
}

export class ReadOnlyDatabase extends Error {
  constructor() {
    super(
      'This PostgreSQL takes no writes: it is a standby, or default_transaction_read_only is on. Point DATABASE_URL at the primary.',
    );
  }
}

/** `postgres://user@one:5432,two:5433/name` names two hosts, as libpq reads it. */
function eachHost(url: string): string[] {
  const parts = /^(postgres(?:ql)?:\/\/(?:[^/]*@)?)([^/?]*)(.*)$/.exec(url);
  const hosts = parts?.[2]?.split(',') ?? [];
  return hosts.length < 2 ? [url] : hosts.map((host) => `${parts?.[1]}${host}${parts?.[3]}`);
}

/** One connection with a purpose: made when it is first needed, and made again after it was lost. */
export class Lane {
  readonly #where: Whereabouts;
  #link: Promise<PgLink> | null = null;

  constructor(where: Whereabouts) {
    this.#where = where;
  }

  async get(): Promise<PgLink> {
    if (this.#link === null) {
      if (this.#where.isAway || this.#where.isStopped) throw awayFault(this.#where.problem);
      const link = this.#where.connectWatched(() => this.#drop(link));
      link.catch(() => this.#drop(link));
      this.#link = link;
    }
    return this.#link.catch((reason: unknown) => {
      throw awayFault(reason);
    });
  }

  /** Examines the error of a statement; a useless connection is discarded. */
  told(reason: unknown): Fault | unknown {
    if (!isAway(reason) && !isReadOnly(reason)) return reason;
    this.#drop(this.#link);
    return awayFault();
  }

  /** The next use opens a new connection. */
  discard(): void {
    const link = this.#link;
    this.#link = null;
    link?.then((open) => open.close()).catch(() => {});
  }

  async close(): Promise<void> {
    const link = await this.#link?.catch(() => null);
    this.#link = null;
    await link?.close();
  }

  #drop(link: Promise<PgLink> | null): void {
    if (link === null || this.#link !== link) return;
    this.#link = null;
    this.#where.lost();
    link.then((open) => open.close()).catch(() => {});
  }
}

/** Single statements, each its own transaction, all on one connection. */
export function laneSession(lane: Lane): Session {
  const on = async <T>(work: (link: PgLink) => Promise<T>): Promise<T> => {
    const link = await lane.get();
    return work(link)
      .catch((reason: unknown) => {
        if (isStale(reason)) return work(link);
        throw reason;
      })
      .catch((reason: unknown) => {
        throw storageFault(lane.told(reason));
      });
  };
  return {
    all: (statement, params) => on((link) => link.all(statement, params)),
    one: (statement, params) => on((link) => link.one(statement, params)),
    run: (statement, params) => on((link) => link.run(statement, params)),
  };
}
