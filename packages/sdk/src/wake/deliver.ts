import { endOf } from '../clock.ts';
import { faultOf, LanternError } from '../faults.ts';
import { writeJson } from '../http/write-json.ts';
import { isRecord, textOf } from '../json.ts';
import { type Delivered, demandDeliverReply } from './draft.ts';
import type { CallOptions, Parts } from './parts.ts';
import type { DeliverBody } from './wire.ts';

/** How one delivery is made. */
export interface DeliverOptions extends CallOptions {
  /** The same key and draft deliver once, even from two processes. Left out, each call has its own. */
  readonly idempotencyKey?: string | undefined;
  /**
   * How long it may take. Left out, it waits as long as the server asks for, which over the limit of a key can be an
   * hour. Otherwise what would take longer is told at once: `rate_limited`, `server_failed` or `unreachable`.
   */
  readonly withinMs?: number | undefined;
}

/** For every request that a delivery takes. */
export interface Limits extends CallOptions {
  readonly untilMs?: number;
}

export function limitsOf({ clock }: Parts, { signal, withinMs }: DeliverOptions): Limits {
  return { signal, ...(withinMs === undefined ? {} : { untilMs: endOf(clock, 'withinMs', withinMs) }) };
}

/** Intent, request, id: in this order, so that a log that cannot be written is noticed before anything is sent. */
export async function deliver(
  parts: Parts,
  body: DeliverBody,
  options: Limits & Pick<DeliverOptions, 'idempotencyKey'>,
): Promise<Delivered> {
  const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID();
  assertIdempotencyKey(idempotencyKey);
  const text = writeJson(body);
  const until = untilOf(options);
  const facts = { agent_id: body.agent_id, idempotency_key: idempotencyKey };
  await parts.journal.record('deliver', { ...facts, delivery: body });
  const headers = { 'idempotency-key': idempotencyKey };
  const path = '/wake/v1/deliver';
  const reply = demandDeliverReply(
    await parts.http.send({ method: 'POST', path, text, headers, ...until }, options.signal),
  );
  const deduplicated = reply.deduplicated === true;
  const kept = { ...facts, timeout_seconds: body.timeout_seconds ?? null, deduplicated };
  await parts.journal.keep('delivered', reply.delivery_id, kept);
  return { deliveryId: reply.delivery_id, createdAt: reply.created_at, deduplicated, idempotencyKey };
}

function untilOf({ untilMs }: Limits): { untilMs?: number } {
  return untilMs === undefined ? {} : { untilMs };
}

function assertIdempotencyKey(key: string): void {
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return;
  const message =
    'An idempotency key is a text of 1 to 255 visible ASCII characters without spaces: give another one.';
  throw new LanternError('wrong_usage', message);
}

/** The key decides who the agent is, but the wire wants the id spelled out (W3), so the server is asked. */
export async function discoverAgentId(parts: Parts, limits: Limits): Promise<string> {
  const card = await parts.http
    .send({ method: 'GET', path: '/.well-known/wake.json', ...untilOf(limits) }, limits.signal)
    .catch((cause: unknown) => {
      const fault = faultOf(cause);
      const isPlainServer = fault === 'not_found' || fault === 'refused' || fault === 'bad_reply';
      if (!isPlainServer) throw cause;
      return null;
    });
  const agentId = isRecord(card) ? textOf(card.agent_id) : null;
  if (agentId !== null && agentId !== '') return agentId;
  const message =
    'The server does not say which agent this key belongs to: check the address, or set the agent id (WAKE_AGENT_ID).';
  throw new LanternError('wrong_usage', message);
}
