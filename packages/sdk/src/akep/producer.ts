import { type Clock, systemClock } from '../clock.ts';
import { LanternError } from '../faults.ts';
import { readProducerEndpoint } from '../http/endpoint.ts';
import { createHttp, type Http } from '../http/http.ts';
import { writeJson } from '../http/write-json.ts';
import { isRecord } from '../json.ts';
import { type EventDraft, fromEventDraft } from './envelope.ts';
import { signEvent, signingKey } from './signature.ts';
import type { AkepEvent, SourceType } from './wire.ts';

/** Who sends, and with which key it is signed. */
export interface ProducerOptions {
  /** Base URL of the server; with `/@handle` at its end for one space. */
  readonly url: string;
  readonly producerId: string;
  /** `source.name` and `source.type` of every event. */
  readonly name: string;
  readonly type: SourceType;
  /** As `lanternroom producer add` printed it. Without one the server tries the keys that have none. */
  readonly keyId?: string | undefined;
  /** `whsec_…`, or `whsk_…`, the private half of a key that was added with `--public-key`; that one needs `keyId`. */
  readonly secret: string;
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: Clock | undefined;
  /** Told once per spell of rate limiting. */
  readonly alert?: ((error: LanternError) => void) | undefined;
}

/** The event is on the disk of the server. */
export interface Sent {
  readonly eventId: string;
  readonly accepted: true;
  /** The server had this very event already: sent before, or by an earlier attempt whose reply was lost. */
  readonly duplicate: boolean;
}

/** An outside system that makes things known to agents. */
export interface Producer {
  /**
   * Signs and sends one event, and returns when it is on the server's disk. Retries with the same id and the same
   * bytes under a fresh signature, so that it is stored once. Fault `conflict`: the id was used for something else;
   * fault `refused` with status 422: no subscription takes it.
   * @example
   * const { duplicate } = await producer.send({
   *   event_type: 'tool.completed',
   *   subject: { task_id: 'task_42' },
   *   knowledge: { kind: 'tool_result', summary: 'The export has 1200 rows.' },
   * });
   */
  send(event: EventDraft, options?: { readonly signal?: AbortSignal | undefined }): Promise<Sent>;
}

/**
 * A system that makes things known to agents: it signs what it says (K1) and never says it twice.
 *
 * @example
 * const producer = createProducer({
 *   url,
 *   producerId: 'prod_exporter',
 *   name: 'exporter',
 *   type: 'tool',
 *   keyId: process.env.AKEP_KEY_ID,
 *   secret: process.env.AKEP_WEBHOOK_SECRET ?? '',
 * });
 */
export function createProducer(options: ProducerOptions): Producer {
  const clock = options.clock ?? systemClock;
  if (signingKey(options.secret) === null) {
    throw new LanternError('wrong_usage', 'The producer has no secret: set AKEP_WEBHOOK_SECRET to it.');
  }
  if (options.keyId !== undefined && !/^[\x21-\x7e]+$/.test(options.keyId)) {
    throw new LanternError('wrong_usage', 'The key id holds spaces or line breaks: give it as it was shown.');
  }
  const http = createHttp({
    endpoint: readProducerEndpoint(options.url),
    apiKey: null,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    clock,
    random: Math.random,
    alert: (error) => options.alert?.(error),
  });
  const source = { producer_id: options.producerId, name: options.name, type: options.type };

  async function send(event: EventDraft, call: { signal?: AbortSignal | undefined } = {}): Promise<Sent> {
    const envelope = fromEventDraft(event, { source, nowMs: clock.now() });
    return sendSigned(http, envelope, { ...options, clock, signal: call.signal });
  }

  return { send };
}

type Signer = Pick<ProducerOptions, 'secret' | 'keyId'> & { clock: Clock; signal: AbortSignal | undefined };

async function sendSigned(http: Http, envelope: Pick<AkepEvent, 'event_id'>, by: Signer): Promise<Sent> {
  const { event_id: id } = envelope;
  const text = writeJson(envelope);
  const headers = () =>
    signEvent({
      secret: by.secret,
      keyId: by.keyId,
      id,
      body: text,
      timestamp: Math.floor(by.clock.now() / 1_000),
    });
  const reply = await http.send({ method: 'POST', path: '/akep/events', text, headers }, by.signal);
  return { eventId: id, ...demandAccepted(reply) };
}

export function demandAccepted(reply: unknown): { accepted: true; duplicate: boolean } {
  if (isRecord(reply) && reply.accepted === true)
    return { accepted: true, duplicate: reply.duplicate === true };
  const message =
    'The server did not say that it accepted the event: check that this is the address of an AKEP server.';
  throw new LanternError('bad_reply', message);
}
