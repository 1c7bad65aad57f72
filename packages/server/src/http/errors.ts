import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { Fault, type FaultName, isFault } from '../core/faults.ts';

/** How one door words a refusal on the wire. A fault without a status does not compile. */
export type Door = {
  status: Record<FaultName, number>;
  headers(fault: Fault): Record<string, string>;
  body(fault: Fault, baseUrl: string): unknown;
};

/** The statuses that plain HTTP suggests; a door starts from these and says where it differs. */
export const HTTP_STATUS: Record<FaultName, number> = {
  unauthorized: 401,
  login_failed: 401,
  session_expired: 401,
  proof_needed: 403,
  https_required: 403,
  agent_mismatch: 403,
  agent_key_on_desk: 403,
  role_too_low: 403,
  cross_site: 403,
  not_found: 404,
  agent_not_found: 404,
  unsupported_version: 404,
  method_not_allowed: 405,
  malformed_body: 400,
  missing_field: 400,
  invalid_field: 422,
  target_not_allowed: 422,
  secret_in_details: 422,
  payload_too_large: 413,
  unsupported_media_type: 415,
  header_too_large: 431,
  range_not_satisfiable: 416,
  rate_limited: 429,
  idempotency_conflict: 409,
  already_decided: 409,
  already_held: 409,
  content_changed: 409,
  withdrawn: 409,
  superseded: 409,
  not_pending: 409,
  nothing_held: 409,
  name_taken: 409,
  last_owner: 409,
  setup_closed: 410,
  invitation_closed: 410,
  image_unavailable: 502,
  no_subscription: 422,
  event_conflict: 409,
  ack_conflict: 409,
  cursor_expired: 410,
  bad_signature: 400,
  not_knowledge: 400,
  key_refused: 403,
  task_ended: 409,
  not_cancelable: 409,
  storage_full: 507,
  unavailable: 503,
  internal: 500,
};

/** What Fastify itself refuses, in our words. */
const FROM_FASTIFY: Record<string, () => Fault> = {
  FST_ERR_CTP_BODY_TOO_LARGE: () =>
    new Fault('payload_too_large', 'The body may have at most 1 MiB. Send a reference to anything larger.'),
  FST_ERR_CTP_INVALID_MEDIA_TYPE: notJson,
  FST_ERR_CTP_EMPTY_TYPE: notJson,
  FST_ERR_ROUTE_MISSING_CONTENT_TYPE: notJson,
  FST_ERR_CTP_EMPTY_JSON_BODY: () => new Fault('malformed_body', 'The body is empty; send a JSON object.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new Fault('malformed_body', 'The body is not as long as Content-Length says.'),
  FST_ERR_BAD_URL: () => new Fault('not_found', 'This address is not well-formed.'),
};

function notJson(): Fault {
  return new Fault('unsupported_media_type', 'Send JSON, with the header Content-Type: application/json.');
}

/** Anything we did not foresee is "internal error" outside and one full log line inside. */
export function toFault(error: FastifyError | Error): Fault {
  if (isFault(error)) return error;
  if (isCutOff(error)) return new Fault('malformed_body', 'The connection ended in the middle of the body.');
  const known = 'code' in error ? FROM_FASTIFY[error.code] : undefined;
  return known === undefined
    ? new Fault('internal', 'Internal error. It was logged; retrying may help.')
    : known();
}

/**
 * A caller who leaves in the middle of a body causes a stream error, to which Fastify gives a status. Nobody reads
 * the answer; but if it were counted and logged as our fault, anybody could wake the operator.
 */
function isCutOff(error: FastifyError | Error): boolean {
  return 'code' in error && error.code === 'ECONNRESET' && error.statusCode === 400;
}

export type ErrorBody = {
  error: { code: string; message: string; field?: string; docs: string } & Record<string, unknown>;
};

/** The same for /openapi.json. */
export const ErrorForm = Type.Object({
  error: Type.Object(
    {
      code: Type.String(),
      message: Type.String(),
      field: Type.Optional(Type.String()),
      docs: Type.String({ format: 'uri' }),
    },
    { additionalProperties: true },
  ),
});

/** One body shape for every error (W1). */
export function errorBody(fault: Fault, baseUrl: string): ErrorBody {
  const { field, extra } = fault.detail;
  return {
    error: {
      code: fault.fault,
      message: fault.message,
      ...(field === undefined ? {} : { field }),
      docs: `${baseUrl}/docs/errors#${fault.fault}`,
      ...extra,
    },
  };
}

function sendFault(reply: FastifyReply, door: Door, fault: Fault, baseUrl: string): FastifyReply {
  if (fault.detail.retryAfter !== undefined) reply.header('retry-after', String(fault.detail.retryAfter));
  return reply
    .code(door.status[fault.fault])
    .headers({
      'cache-control': 'no-store',
      'content-type': 'application/json; charset=utf-8',
      ...door.headers(fault),
    })
    .send(JSON.stringify(door.body(fault, baseUrl)));
}

const QUIET_MS = 1_000;
let quietUntil = 0;

/** At most one line a second: a full disk refuses every request, and the log may be on the same disk. */
function logCause(request: FastifyRequest, fault: Fault): void {
  const now = performance.now();
  if (now < quietUntil) return;
  quietUntil = now + QUIET_MS;
  request.log.error({ ...told(request), err: fault.detail.cause }, fault.message);
}

/** What a line says of its request: no query and no id, which may be content or a secret. */
function told({ id, routeOptions }: FastifyRequest) {
  return { reqId: id, url: routeOptions.url };
}

/** Our own failures are logged once, with the request's id; the caller is only told that something failed. */
export function logFault(request: FastifyRequest, error: unknown, fault: Fault): void {
  if (fault.fault === 'internal') request.log.error({ ...told(request), err: error }, 'unexpected error');
  else if (fault.detail.cause !== undefined) logCause(request, fault);
}

/** The one error handler of a door. */
export function errorHandler(door: Door, baseUrl: () => string) {
  return (error: FastifyError | Error, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const fault = toFault(error);
    logFault(request, error, fault);
    return sendFault(reply, door, fault, baseUrl());
  };
}
