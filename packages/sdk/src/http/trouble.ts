import { type Fault, LanternError, type WireTrouble } from '../faults.ts';
import { isRecord, parseJson, textOf } from '../json.ts';
import { certificateTrouble, codeOf } from './certificate.ts';
import type { Endpoint } from './endpoint.ts';
import { type Attempt, type Replied, retryAfterMs } from './retry.ts';

/** What one attempt brought, before it is trusted. */
export interface Exchange {
  readonly attempt: Attempt;
  readonly text: string;
  readonly location: string | null;
  readonly cause: unknown;
  /** How far this machine's clock is ahead of the server's, by the reply's own date. */
  readonly skewMs?: number | null;
}

/** The JSON of a good reply, null where there is none to expect, or the refusal as an error. */
export function readReply(exchange: Exchange, endpoint: Endpoint): unknown {
  const status = exchange.attempt.kind === 'reply' ? exchange.attempt.status : 0;
  if (status >= 400) throw refusal(status, exchange);
  if (status < 200 || status >= 300) {
    const target = exchange.location === null ? 'another address' : JSON.stringify(exchange.location);
    const message = `${endpoint.base} sends on to ${target}: give the final address of the server instead.`;
    throw new LanternError('bad_reply', message);
  }
  if (status === 204) return null;
  const body = parseJson(exchange.text);
  if (body !== undefined) return body;
  const message = `${endpoint.base} did not answer in JSON: check that this is the address of the server.`;
  throw new LanternError('bad_reply', message);
}

/** JSON came where a stream of events was expected. */
export function noStream({ base }: Endpoint): LanternError {
  const message = `${base} did not answer with a stream of events: check that this is the address of the server, and that no proxy in between buffers streams.`;
  return new LanternError('bad_reply', message);
}

const REFUSALS: Readonly<Record<number, Fault>> = {
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  410: 'cursor_expired',
};

function refusal(status: number, exchange: Exchange): LanternError {
  const { message, supported, ...said } = saidBy(exchange.text);
  const wire: WireTrouble = { status, ...said };
  const name = said.code === null ? status : `${status} ${said.code}`;
  const sentence = `The server refused (${name}): ${message ?? 'it gave no reason; check the address.'}`;
  const advice = [sentence, versionAdvice(supported), clockAdvice(status, exchange.skewMs ?? 0)].filter(
    Boolean,
  );
  return new LanternError(refusedWith(wire), advice.join(' '), { wire });
}

function versionAdvice(supported: string | null): string | null {
  if (supported === null) return null;
  return `It speaks ${supported}, this SDK v1: upgrade whichever of the two is older (the server's /packages says how to install the SDK that fits it).`;
}

// Well within the five minutes that a signature may be old: below this, the clock is not the reason.
const NOTABLE_SKEW_MS = 120_000;

/** 400 is the answer to a signature that is too old (K3). */
function clockAdvice(status: number, skewMs: number): string | null {
  if (status !== 400 || Math.abs(skewMs) < NOTABLE_SKEW_MS) return null;
  const minutes = Math.round(Math.abs(skewMs) / 60_000);
  return `This machine's clock is ${minutes} min ${skewMs > 0 ? 'ahead of' : 'behind'} the server's, and what is signed must be fresh: set it right.`;
}

/** 410 means an expired cursor only if the reply says where to continue (K17). */
function refusedWith({ status, oldestCursor }: WireTrouble): Fault {
  const fault = REFUSALS[status] ?? 'refused';
  return fault === 'cursor_expired' && oldestCursor === null ? 'refused' : fault;
}

/** WAKE says `{error: {code, message, field}}`, AKEP `{error: "sentence", path}`. */
function saidBy(
  text: string,
): Omit<WireTrouble, 'status'> & { message: string | null; supported: string | null } {
  const parsed = parseJson(text);
  const body = isRecord(parsed) ? parsed : {};
  const error = isRecord(body.error) ? body.error : { message: body.error, field: body.path };
  return {
    code: textOf(error.code),
    message: textOf(error.message),
    field: textOf(error.field),
    oldestCursor: textOf(body.oldest_cursor),
    supported: Array.isArray(error.supported) ? error.supported.join(', ') : null,
  };
}

/** The same refusal, in words that say what a refused key means. */
export function keyRefused(error: unknown, endpoint: Endpoint): LanternError {
  const said = error instanceof Error ? error.message : 'no reason given';
  const wire = error instanceof LanternError && error.wire !== null ? { wire: error.wire } : {};
  const message = `${said} ${stopAndAsk(endpoint)}`;
  return new LanternError('forbidden', message, { ...wire, cause: error });
}

export function troubleOf(fault: Fault, exchange: Exchange, endpoint: Endpoint): LanternError {
  const { attempt, cause } = exchange;
  const facts = attempt.kind === 'failed' ? { cause } : { wire: wireOf(attempt) };
  return new LanternError(fault, sentence(fault, exchange, endpoint), facts);
}

/** It is unknown whether it arrived. */
export function lost(exchange: Exchange, endpoint: Endpoint): LanternError {
  return troubleOf(exchange.attempt.kind === 'failed' ? 'unreachable' : 'server_failed', exchange, endpoint);
}

/** Another attempt would come too late for the caller. */
export function tooLate(exchange: Exchange, pauseMs: number, endpoint: Endpoint): LanternError {
  const { attempt } = exchange;
  if (attempt.kind === 'failed') return troubleOf('unreachable', exchange, endpoint);
  const fault = attempt.status === 429 ? 'rate_limited' : 'server_failed';
  const message = `${endpoint.base} cannot answer now (${attempt.status}) and wants to be asked again in ${Math.ceil(pauseMs / 1_000)} s, which is longer than this was to take: try again then.${itSays(exchange)}`;
  return new LanternError(fault, message, { wire: wireOf(attempt) });
}

/** What there is to tell of a reply whose words are not looked at. */
export function wireOf({ status, retryAfter, servedAtMs }: Replied): WireTrouble {
  const askedMs = retryAfterMs(retryAfter, servedAtMs ?? Number.NaN);
  const asked = askedMs === null ? {} : { retryAfterMs: askedMs };
  return { status, code: null, field: null, oldestCursor: null, ...asked };
}

/** The server's own words name the limit. */
function itSays(exchange: Exchange): string {
  const { message } = saidBy(exchange.text);
  return message === null ? '' : ` It says: ${message}`;
}

function stopAndAsk(endpoint: Endpoint): string {
  return `${endpoint.base} does not accept this API key: stop, ask a person for a new key ("lanternroom agent rotate NAME"), set WAKE_API_KEY and start again.`;
}

function sentence(fault: Fault, exchange: Exchange, endpoint: Endpoint): string {
  if (fault === 'unauthorized') return stopAndAsk(endpoint);
  if (fault === 'rate_limited') {
    return `Still over the rate limit after waiting as asked and trying once more: check whether the agent is caught in a loop before it goes on.${itSays(exchange)}`;
  }
  if (fault === 'unreachable') {
    const silence = `Nothing answers at ${endpoint.base} (${reasonOf(exchange.cause)}): check the address and that the server runs, then try again.`;
    return certificateTrouble(endpoint.base, exchange.cause) ?? silence;
  }
  return `The server at ${endpoint.base} failed several times in a row: try again later, and look at its log if it keeps failing.`;
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'no reply';
  if (cause.name === 'TimeoutError') return 'no reply in time';
  return codeOf(cause) ?? 'no connection';
}
