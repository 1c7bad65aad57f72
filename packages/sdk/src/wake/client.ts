import { type Clock, systemClock } from '../clock.ts';
import type { LanternError } from '../faults.ts';
import { readEndpoint } from '../http/endpoint.ts';
import { createHttp } from '../http/http.ts';
import { defaultLog } from '../log/file-log.ts';
import type { WakeLog } from '../log/log.ts';
import {
  type Answer,
  type Assumed,
  type Checked,
  type Rejected,
  toAnswer,
  type Unanswered,
} from './answer.ts';
import { checkOnce } from './check.ts';
import { type DeliverOptions, deliver, discoverAgentId, type Limits, limitsOf } from './deliver.ts';
import { type Delivered, type Draft, fromDraft } from './draft.ts';
import { createJournal } from './journal.ts';
import type { CallOptions, Parts } from './parts.ts';
import { type Received, receive } from './receive.ts';
import { type SweepOptions, type Swept, sweep } from './sweep.ts';
import { type ProceedOnTimeout, type WaitOptions, waitFor } from './wait.ts';
import type { WebhookRequest } from './webhook.ts';
import { withdraw } from './withdraw.ts';

/** Which server, and which agent. */
export interface WakeOptions {
  /** Base URL of the server, with or without `/wake/v1`. */
  readonly url: string;
  readonly apiKey: string;
  /** Left out, the server is asked which agent the key belongs to. */
  readonly agentId?: string | undefined;
  /** Shown to the person: `claude`, `openai`, … */
  readonly provider?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: Clock | undefined;
  /** `~/.lantern/log.jsonl` where there are files, memory elsewhere. */
  readonly log?: WakeLog | undefined;
  /** Told once per spell of rate limiting, and once when the key is refused: surface it, do not loop on it. */
  readonly alert?: ((error: LanternError) => void) | undefined;
}

/** One agent's side of WAKE. */
export interface Wake {
  /**
   * Puts work or a question before a person. Retries by itself and never delivers twice.
   * @example
   * const { deliveryId } = await wake.deliver({ type: 'question', headline: 'Release is ready', summary: 'Ship 2.1 today?' });
   */
  deliver(draft: Draft, options?: DeliverOptions): Promise<Delivered>;
  /**
   * Looks once, without waiting.
   * @example
   * const answer = await wake.check(deliveryId); // answer.status may be 'pending'
   */
  check(deliveryId: string, options?: CallOptions): Promise<Checked>;
  /**
   * Waits for the answer, never for ever. Going on after the timeout takes an assumption, which is logged first.
   * @example
   * const answer = await wake.waitFor(deliveryId, { onTimeout: { assumption: 'Nobody objects to the draft.' } });
   * if (answer.mayProceed) ship();
   */
  waitFor(deliveryId: string, options: WaitOptions & ProceedOnTimeout): Promise<Answer | Assumed>;
  waitFor(deliveryId: string, options?: WaitOptions): Promise<Answer | Unanswered>;
  /**
   * Every answer since a point, oldest change first, in one loop for all deliveries.
   * @example
   * for await (const answer of wake.sweep({ since, follow: true })) { dispatch(answer); since = answer.resumeFrom; }
   */
  sweep(options?: SweepOptions): AsyncGenerator<Swept, void, void>;
  /**
   * Takes back what nobody has decided yet; fault `conflict` afterwards.
   * @example
   * await wake.withdraw(deliveryId, 'The build failed, there is nothing to ship.');
   */
  withdraw(deliveryId: string, reason: string, options?: CallOptions): Promise<Rejected>;
  /**
   * Checks a callback's signature and that it answers a delivery of this client.
   * @example
   * const received = await wake.receive({ secret, body: rawBody, headers: request.headers });
   */
  receive(request: WebhookRequest): Promise<Received>;
  /**
   * Accepts the answers to a delivery that another program submitted with this agent's key.
   * @example
   * await wake.adopt(idFromMyDatabase);
   */
  adopt(deliveryId: string): Promise<void>;
  /**
   * The delivery that this agent submitted under an idempotency key, out of the local log; null when there was none. The
   * server forgets a key after a day, the log does not: look here before asking a person again. Without `agentId`, and
   * when the log has the key, the server is asked whose key this client has: several agents may share a log.
   * @example
   * const deliveryId = (await wake.recall(key)) ?? (await wake.deliver(draft, { idempotencyKey: key })).deliveryId;
   */
  recall(idempotencyKey: string, options?: CallOptions): Promise<string | null>;
}

/**
 * A client for one agent. It holds the rules of conduct of WAKE (W23), so that the agent does not have to.
 *
 * @example
 * const wake = createWake({ url, apiKey: process.env.WAKE_API_KEY ?? '', provider: 'claude' });
 */
export function createWake(options: WakeOptions): Wake {
  const parts = assemble(options);
  const agentId = options.agentId ?? null;
  const provider = options.provider ?? 'custom';
  let known = agentId;

  async function put(draft: Draft, call: DeliverOptions): Promise<Delivered> {
    const limits = limitsOf(parts, call);
    const sender = { agentId: await whoAmI(limits), provider };
    return deliver(parts, fromDraft(draft, sender), { ...limits, ...call });
  }

  async function whoAmI(limits: Limits): Promise<string> {
    known ??= await discoverAgentId(parts, limits);
    return known;
  }

  async function recall(key: string, call: CallOptions): Promise<string | null> {
    const found = await parts.journal.findByKey(key);
    return found.size === 0 ? null : (found.get(await whoAmI(call)) ?? null);
  }

  function wait(id: string, call: WaitOptions & ProceedOnTimeout): Promise<Answer | Assumed>;
  function wait(id: string, call?: WaitOptions): Promise<Answer | Unanswered>;
  function wait(id: string, call: WaitOptions = {}): Promise<Answer | Assumed | Unanswered> {
    return waitFor(parts, id, call);
  }

  return {
    deliver: (draft, call = {}) => put(draft, call),
    check: async (id, call = {}) => toAnswer(await checkOnce(parts, id, { signal: call.signal })),
    waitFor: wait,
    sweep: (call = {}) => sweep(parts, call, agentId),
    withdraw: (id, reason, call = {}) => withdraw(parts, id, { reason, signal: call.signal }),
    receive: (request) => receive(parts, request),
    adopt: (id) => adopt(parts, id),
    recall: (key, call = {}) => recall(key, call),
  };
}

async function adopt(parts: Parts, deliveryId: string): Promise<void> {
  const isKnown = (await parts.journal.find(deliveryId)) !== null;
  if (!isKnown) await parts.journal.keep('adopted', deliveryId, { timeout_seconds: null });
}

function assemble(options: WakeOptions): Parts {
  const endpoint = readEndpoint(options.url, options.apiKey);
  const clock = options.clock ?? systemClock;
  const log = options.log ?? defaultLog();
  const { apiKey, agentId = null } = options;
  const journal = createJournal({ log, clock, apiKey, server: endpoint.base, agentId });
  const alert = async (error: LanternError) => {
    // The alert matters more than its line in the log.
    await journal.record('alert', { fault: error.fault, message: error.message }).catch(() => undefined);
    options.alert?.(error);
  };
  // Called as a plain function: browsers refuse a fetch that is called as a method of something else.
  const send = options.fetch ?? ((input, init) => fetch(input, init));
  const http = createHttp({ endpoint, apiKey, fetch: send, clock, random: Math.random, alert });
  return { http, journal, clock };
}
