import { parseJson } from '../json.ts';
import { type Bytes, fromHex, toBytes } from '../signing/hmac.ts';
import {
  bodyOf,
  headerOf,
  holdsAny,
  type SignedRequest,
  type StandardFlaw,
  type StandardHeaders,
  secretsOf,
  standardFlaw,
  standardOf,
  tagsOf,
} from '../signing/signed-request.ts';
import { readResponse } from './answer.ts';
import { secretBytes } from './signature.ts';
import type { ResponseBody } from './wire.ts';

/** A request as it arrived: the raw body, before any parser, and its headers. */
export type WebhookRequest = SignedRequest;

/** Why a callback is not genuine, or is none. For the log; a sender need not know. */
export type WebhookRefusal = StandardFlaw | 'no_signature' | 'bad_body' | 'wrong_delivery';

/** Whether it may be believed, and what it says. */
export type Verified =
  | { readonly ok: true; readonly response: ResponseBody }
  | { readonly ok: false; readonly reason: WebhookRefusal };

/**
 * Whether a callback is genuine. Never throws: whatever arrived, the result says what to do with it. Both header
 * families are checked, and where both are present both must hold; during a rotation, the one that carries both
 * signatures (W20).
 *
 * @example
 * const result = await verifyWebhook({ secret: process.env.WAKE_WEBHOOK_SECRET, body: rawBody, headers: request.headers });
 * if (!result.ok) return reply(401, result.reason);
 * handle(result.response);
 */
export async function verifyWebhook(request: WebhookRequest): Promise<Verified> {
  const reason = await findFlaw(request);
  if (reason !== null) return { ok: false, reason };
  const body = bodyOf(request.body);
  const response = body === null ? null : readResponse(parseJson(new TextDecoder().decode(body)));
  if (response === null) return { ok: false, reason: 'bad_body' };
  const named = headerOf(request.headers, 'x-wake-delivery-id');
  if (named !== null && named.toLowerCase() !== response.delivery_id.toLowerCase()) {
    return { ok: false, reason: 'wrong_delivery' };
  }
  return { ok: true, response };
}

async function findFlaw(request: WebhookRequest): Promise<WebhookRefusal | null> {
  const secrets = secretsOf(request);
  const body = bodyOf(request.body);
  if (secrets === null) return 'bad_secret';
  if (body === null) return 'bad_body';
  const wake = headerOf(request.headers, 'x-wake-signature');
  const standard = standardOf(request.headers);
  if (wake === null && standard === null) return 'no_signature';
  if (standard !== null) {
    const keys = secrets.map(secretBytes).filter((key) => key !== null);
    const flaw = await standardFlaw(standard, { keys, body, request });
    if (flaw !== null || isRotating(standard)) return flaw;
  }
  return wake === null || (await holdsWake(wake, secrets, body)) ? null : 'bad_signature';
}

/**
 * `X-Wake-Signature` has room for one signature: during a rotation, a holder of the other secret goes by the family
 * that has both.
 */
function isRotating({ signature }: StandardHeaders): boolean {
  const tags = (signature ?? '').split(/ +/).filter((tag) => tag.startsWith('v1,'));
  return tags.length > 1;
}

function holdsWake(header: string, secrets: readonly string[], body: Bytes): Promise<boolean> {
  return holdsAny(secrets.map(toBytes), tagsOf(header, 'sha256=', / *, */, fromHex), body);
}
