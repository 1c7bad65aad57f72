import { aborted, type Clock } from '../clock.ts';
import type { Fault, LanternError } from '../faults.ts';
import { faultOf } from '../faults.ts';
import type { Endpoint } from './endpoint.ts';
import { judge, type Replied, repliedBy, type Tried } from './retry.ts';
import { isStream } from './sse.ts';
import { type Exchange, keyRefused, lost, noStream, readReply, tooLate, troubleOf } from './trouble.ts';
import { writeJson } from './write-json.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Instead of `body`: exactly this text, the same in every attempt. */
  readonly text?: string;
  /** Fixed, or made for each attempt: a signature carries the time of its attempt. */
  readonly headers?: Headings | (() => Promise<Headings>);
  /** How long the server may hold the reply on purpose, on top of the ordinary limit. */
  readonly heldMs?: number;
  /** When the caller must have an answer, or know that there is none. Nothing waits beyond it. */
  readonly untilMs?: number;
  /** Not sent again when it is unknown whether it arrived: doing it twice would do harm. */
  readonly once?: boolean;
}

type Headings = Readonly<Record<string, string>>;

/** Performs one call: retried, waited for, or turned into a fault. A reply without a body is null. */
export interface Http {
  send(call: Call, signal?: AbortSignal): Promise<unknown>;
  /** A reply that stays open. Tried once: only the caller knows from where to continue. */
  open(call: Call, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Whether the server has ever answered sensibly: then the address is right. */
  readonly hasAnswered: boolean;
}

export interface HttpParts {
  readonly endpoint: Endpoint;
  /** Null where the request is signed instead. */
  readonly apiKey: string | null;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  readonly random: () => number;
  /** Called once when the key hits its limit for good, and once when it is refused. */
  readonly alert: (error: LanternError) => void | Promise<void>;
  /** 403 is about the key and not about the call, so it stops everything as 401 does (K11). */
  readonly stopsOnForbidden?: boolean;
}

const REPLY_MS = 30_000;
// For a reply that is on its way when the time is up.
const LATE_MS = 10_000;

export function createHttp(parts: HttpParts): Http {
  return new RetryingHttp(parts);
}

class RetryingHttp implements Http {
  readonly #parts: HttpParts;
  /** Why nothing is sent any more: the key was refused, and stays so. */
  #stopped: LanternError | null = null;
  #isLimited = false;
  #hasAnswered = false;

  constructor(parts: HttpParts) {
    this.#parts = parts;
  }

  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  async send(call: Call, signal?: AbortSignal): Promise<unknown> {
    const { endpoint, clock, random } = this.#parts;
    // Outside the attempts: a body that is not JSON is the caller's mistake, not the network's.
    const written = { ...call, text: textOf(call) };
    let tried: Tried = { failures: 0, limits: 0 };
    for (;;) {
      if (this.#stopped !== null) throw this.#stopped;
      const exchange = await exchangeOnce(this.#parts, written, signal);
      const verdict = judge(exchange.attempt, tried, { nowMs: clock.now(), random: random() });
      if (verdict.kind === 'take') return wasRemoved(call, exchange, tried) ? null : this.#take(exchange);
      if (verdict.kind === 'give_up') return this.#giveUp(troubleOf(verdict.fault, exchange, endpoint));
      if (call.once === true && verdict.counts === 'failures') throw lost(exchange, endpoint);
      if (isTooLate(call, clock.now() + verdict.ms)) throw tooLate(exchange, verdict.ms, endpoint);
      tried = { ...tried, [verdict.counts]: tried[verdict.counts] + 1 };
      await clock.sleep(verdict.ms, signal);
    }
  }

  async open(call: Call, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { endpoint } = this.#parts;
    if (this.#stopped !== null) throw this.#stopped;
    const opened = await openOnce(this.#parts, call, signal);
    if (opened instanceof ReadableStream) return opened;
    const { attempt } = opened;
    // No waiting here: the reader of a stream reconnects by itself.
    if (attempt.kind === 'failed') throw troubleOf('unreachable', opened, endpoint);
    if (attempt.status === 401) return this.#giveUp(troubleOf('unauthorized', opened, endpoint));
    if (attempt.status < 500 && attempt.status !== 429) {
      await this.#take(opened);
      throw noStream(endpoint);
    }
    throw troubleOf('server_failed', opened, endpoint);
  }

  async #take(exchange: Exchange): Promise<unknown> {
    this.#isLimited = false;
    try {
      const reply = readReply(exchange, this.#parts.endpoint);
      this.#hasAnswered = true;
      return reply;
    } catch (error) {
      if (!this.#stops(faultOf(error))) throw error;
      return this.#giveUp(keyRefused(error, this.#parts.endpoint));
    }
  }

  async #giveUp(error: LanternError): Promise<never> {
    const isNews = this.#isNews(error.fault);
    if (this.#stops(error.fault)) this.#stopped = error;
    if (error.fault === 'rate_limited') this.#isLimited = true;
    if (isNews) await this.#parts.alert(error);
    throw error;
  }

  /** One alert per spell of rate limiting and one for a refused key, not one for every call. */
  #isNews(fault: Fault): boolean {
    return fault === 'rate_limited' ? !this.#isLimited : this.#stops(fault) && this.#stopped === null;
  }

  #stops(fault: Fault | null): boolean {
    return fault === 'unauthorized' || (fault === 'forbidden' && this.#parts.stopsOnForbidden === true);
  }
}

function textOf({ text, body }: Call): string | undefined {
  return text ?? (body === undefined ? undefined : writeJson(body));
}

/** "Gone" on the second attempt means that the first one succeeded and its reply got lost. */
function wasRemoved({ method }: Call, { attempt }: Exchange, { failures }: Tried): boolean {
  return method === 'DELETE' && failures > 0 && attempt.kind === 'reply' && attempt.status === 404;
}

function isTooLate({ untilMs }: Call, atMs: number): boolean {
  return untilMs !== undefined && atMs > untilMs;
}

/** How long one attempt may take, in whole milliseconds: a timeout takes no others. */
function limitOf({ heldMs = 0, untilMs }: Pick<Call, 'heldMs' | 'untilMs'>, nowMs: number): number {
  const most = REPLY_MS + heldMs;
  return Math.ceil(untilMs === undefined ? most : Math.min(most, Math.max(untilMs - nowMs, 0) + LATE_MS));
}

type WrittenCall = Omit<Call, 'text'> & { readonly text: string | undefined };

async function exchangeOnce(parts: HttpParts, call: WrittenCall, signal?: AbortSignal): Promise<Exchange> {
  if (signal?.aborted) throw aborted(signal);
  const limit = AbortSignal.timeout(limitOf(call, parts.clock.now()));
  const headers = await headersOf(parts.apiKey, call);
  try {
    const reply = await parts.fetch(parts.endpoint.base + call.path, {
      method: call.method,
      headers,
      // The key must not follow a redirect to another host.
      redirect: 'manual',
      signal: signal ? AbortSignal.any([signal, limit]) : limit,
      ...(call.text === undefined ? {} : { body: call.text }),
    });
    const attempt = repliedBy(reply);
    const text = await reply.text();
    return {
      attempt,
      text,
      location: reply.headers.get('location'),
      cause: null,
      skewMs: skewOf(parts, attempt),
    };
  } catch (cause) {
    if (signal?.aborted) throw aborted(signal);
    return { attempt: { kind: 'failed' }, text: '', location: null, cause };
  }
}

async function openOnce(
  parts: HttpParts,
  call: Call,
  signal?: AbortSignal,
): Promise<ReadableStream<Uint8Array> | Exchange> {
  if (signal?.aborted) throw aborted(signal);
  try {
    const headers = {
      ...(await headersOf(parts.apiKey, { ...call, text: undefined })),
      accept: 'text/event-stream',
    };
    const given = signal === undefined ? {} : { signal };
    const request = { method: call.method, headers, redirect: 'manual', ...given } as const;
    const reply = await parts.fetch(parts.endpoint.base + call.path, request);
    if (reply.status === 200 && reply.body !== null && isStream(reply)) return reply.body;
    const attempt = repliedBy(reply);
    return { attempt, text: await reply.text(), location: reply.headers.get('location'), cause: null };
  } catch (cause) {
    if (signal?.aborted) throw aborted(signal);
    return { attempt: { kind: 'failed' }, text: '', location: null, cause };
  }
}

/** Only for signed calls: with a key, the local time does not matter. */
function skewOf({ apiKey, clock }: HttpParts, { servedAtMs = null }: Replied): number | null {
  return apiKey !== null || servedAtMs === null ? null : clock.now() - servedAtMs;
}

async function headersOf(apiKey: string | null, call: WrittenCall): Promise<Record<string, string>> {
  const content = call.text === undefined ? {} : { 'content-type': 'application/json' };
  const own = typeof call.headers === 'function' ? await call.headers() : call.headers;
  const key = apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
  return { ...content, ...own, ...key, accept: 'application/json' };
}
