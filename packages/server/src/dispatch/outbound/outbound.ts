import { type JudgeAddress, judgeAddress } from './addresses.ts';
import { Attempt, type OutboundClock, type Outcome } from './attempt.ts';
import { failed } from './failure.ts';
import type { PoolRule } from './pools.ts';
import { type OutboundRequest, prepareRequest, type SendableRequest } from './request.ts';
import { dnsLookup, type Lookup, resolveChecked } from './resolve.ts';

export type { OutboundClock, Outcome } from './attempt.ts';
export type { OutboundRequest } from './request.ts';
export { dnsLookup, type Lookup } from './resolve.ts';

export type OutboundOptions = {
  /** From the name to the last byte (W22). */
  deadlineMs?: number;
  /** How many receivers' connections are kept; least recently used ones go first. */
  maxPools?: number;
  connectionsPerPool?: number;
  clock?: OutboundClock;
  /** With `judge` the seam for tests: they let a loopback address stand for a public one. */
  lookup?: Lookup;
  judge?: JudgeAddress;
  /** A certificate authority instead of the system's. */
  ca?: string;
};

const DEADLINE_MS = 30_000;
const MAX_REPLY_BYTES = 64 * 1024;
const MAX_POOLS = 512;
const CONNECTIONS_PER_POOL = 16;

const systemClock: OutboundClock = {
  nowMs: () => performance.now(),
  after(ms, fire) {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * The one way out, for callbacks, push, forwards, the image proxy and the Test button. Names are resolved and judged
 * for every request, and only addresses that were judged are dialled (W21).
 */
export class Outbound {
  readonly #poolRule: PoolRule;
  #wire: ReturnType<typeof loadWire> | null = null;
  readonly #clock: OutboundClock;
  readonly #lookup: Lookup;
  readonly #judge: JudgeAddress;
  readonly #deadlineMs: number;
  readonly #running = new Set<Attempt>();
  #stopped = false;

  constructor(options: OutboundOptions = {}) {
    this.#clock = options.clock ?? systemClock;
    this.#lookup = options.lookup ?? dnsLookup();
    this.#judge = options.judge ?? judgeAddress;
    this.#deadlineMs = options.deadlineMs ?? DEADLINE_MS;
    this.#poolRule = {
      maxPools: options.maxPools ?? MAX_POOLS,
      connectionsPerPool: options.connectionsPerPool ?? CONNECTIONS_PER_POOL,
      connectTimeoutMs: this.#deadlineMs,
      ca: options.ca,
    };
  }

  /** Never rejects for anything a receiver, its DNS or the network can do. */
  send(request: OutboundRequest): Promise<Outcome> {
    const attempt = new Attempt(this.#clock, this.#deadlineMs, request.signal);
    const prepared = prepareRequest(request);
    if (this.#stopped) attempt.end(failed('aborted'));
    else if (prepared === null) attempt.end(failed('refused_request'));
    else if (!attempt.over) this.#start(attempt, request, prepared);
    return attempt.outcome;
  }

  /** Whatever is under way ends as `aborted`. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const attempt of this.#running) attempt.end(failed('aborted'));
    if (this.#wire !== null) await (await this.#wire).pools.stop();
  }

  #start(attempt: Attempt, request: OutboundRequest, prepared: SendableRequest): void {
    this.#running.add(attempt);
    attempt.whenOver(() => this.#running.delete(attempt));
    this.#run(attempt, request, prepared).catch((error) => attempt.break(error));
  }

  async #run(
    attempt: Attempt,
    request: OutboundRequest,
    { target, headers, loopback }: SendableRequest,
  ): Promise<void> {
    const rule = { loopback, lookup: this.#lookup, judge: this.#judge };
    this.#wire ??= loadWire(this.#poolRule);
    const [wire, resolution] = await Promise.all([this.#wire, resolveChecked(target.hostname, rule)]);
    if (attempt.over) return;
    if (!resolution.ok) return attempt.end(failed(resolution.kind));
    const { pool, release } = wire.pools.take(target.origin, resolution.addresses);
    attempt.whenOver(release);
    const limits = { protocol: target.protocol, maxReplyBytes: request.maxReplyBytes ?? MAX_REPLY_BYTES };
    pool.dispatch(
      { path: target.path, method: request.method, headers, body: request.body },
      new wire.ReplyReader(attempt, limits),
    );
  }
}

/** What speaks HTTP comes with the first request: a server that calls nobody starts without it. */
async function loadWire(rule: PoolRule) {
  const [{ Pools }, { ReplyReader }] = await Promise.all([import('./pools.ts'), import('./exchange.ts')]);
  return { pools: new Pools(rule), ReplyReader };
}
