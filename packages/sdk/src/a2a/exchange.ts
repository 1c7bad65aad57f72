import { aborted, type Clock } from '../clock.ts';
import { type Fault, LanternError } from '../faults.ts';
import { certificateTrouble } from '../http/certificate.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { repliedBy } from '../http/retry.ts';
import { wireOf } from '../http/trouble.ts';
import { writeJson } from '../http/write-json.ts';
import { isRecord, parseJson, textOf } from '../json.ts';

/** Whom to ask, and with what. */
export interface CallerParts {
  readonly endpoint: Endpoint;
  readonly token: string | undefined;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}

export interface Request {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly lastEventId?: string | undefined;
}

/** `limit` ends the request; `signal` tells whether it was the caller who wanted that. */
export async function post(
  parts: CallerParts,
  request: Request,
  { signal, limit }: { signal: AbortSignal | undefined; limit: AbortSignal },
): Promise<Response> {
  const text = writeJson({ jsonrpc: '2.0', id: 1, method: request.method, params: request.params });
  const reply = await parts
    .fetch(`${parts.endpoint.base}/`, {
      method: 'POST',
      headers: headersOf(parts, request),
      body: text,
      // The token must not follow a redirect to another host.
      redirect: 'manual',
      signal: limit,
    })
    .catch((cause: unknown) => {
      if (signal?.aborted) throw aborted(signal);
      const { base } = parts.endpoint;
      const silence = `Nothing answers at ${base}: check the address and that the server runs.`;
      throw new LanternError('unreachable', certificateTrouble(base, cause) ?? silence, { cause });
    });
  if (reply.status === 200) return reply;
  throw await refusal(parts, reply);
}

function headersOf({ token }: CallerParts, { lastEventId }: Request): Record<string, string> {
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'a2a-version': '1.0',
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
  };
}

const BY_STATUS: Readonly<Record<number, Fault>> = {
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  408: 'server_failed',
  429: 'rate_limited',
};

async function refusal({ endpoint }: CallerParts, reply: Response): Promise<LanternError> {
  const { status } = reply;
  const body = parseJson(await reply.text().catch(() => ''));
  const error = isRecord(body) ? body.error : null;
  const said = isRecord(error) ? textOf(error.message) : textOf(error);
  const fault = BY_STATUS[status] ?? (status >= 500 ? 'server_failed' : 'refused');
  const sentence = `${endpoint.base} refused (${status}): ${said ?? 'it gave no reason; check the address.'}`;
  return new LanternError(fault, sentence, { wire: wireOf(repliedBy(reply)) });
}

/** A2A's own codes, as far as a caller would act on them. */
const BY_CODE: Readonly<Record<number, Fault>> = { [-32001]: 'not_found', [-32002]: 'conflict' };

/** The result, or the refusal in the answer as an error. */
export function resultOf(parts: CallerParts, answer: unknown): unknown {
  if (!isRecord(answer)) throw strange(parts);
  const { error } = answer;
  if (!isRecord(error)) return answer.result;
  const code = typeof error.code === 'number' ? error.code : 0;
  const fault = BY_CODE[code] ?? (code === -32603 ? 'server_failed' : 'refused');
  const message = `The agent's server refused (${code}): ${textOf(error.message) ?? 'no reason given'}`;
  throw new LanternError(fault, message, {
    wire: { status: 200, code: String(code), field: fieldIn(error.data), oldestCursor: null },
  });
}

/** The member that is wrong, from the details of 1.0 (google.rpc.BadRequest). */
function fieldIn(data: unknown): string | null {
  for (const detail of Array.isArray(data) ? data : []) {
    const violations = isRecord(detail) ? detail.fieldViolations : null;
    const first = Array.isArray(violations) ? violations[0] : null;
    if (isRecord(first)) return textOf(first.field);
  }
  return null;
}

/** An answer that cannot be understood. */
export function strange({ endpoint }: CallerParts): LanternError {
  const message = `${endpoint.base} did not answer as A2A 1.0 does: check that this is the address of an agent.`;
  return new LanternError('bad_reply', message);
}
