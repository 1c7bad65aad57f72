import type { Fault, FaultName } from '../../core/faults.ts';
import { HTTP_STATUS } from '../../http/errors.ts';
import { RPC, type RpcError } from '../../http/reading/json-rpc.ts';
import type { Version } from './dialects/versions.ts';

/** The codes of A2A itself (A11). */
const A2A = {
  taskNotFound: -32001,
  taskNotCancelable: -32002,
  unsupportedOperation: -32004,
  contentTypeNotSupported: -32005,
  versionNotSupported: -32009,
  /** Ours: who may not call, or not so often. */
  refused: -32000,
} as const;

type Wire = { code: number; reason: string; http: number; status: string };

const INTERNAL: Wire = { code: RPC.internalError, reason: 'INTERNAL', http: 500, status: 'INTERNAL' };

/** Every fault that is not simply "internal error". */
const WIRE: Partial<Record<FaultName, Wire>> = {
  not_found: { code: A2A.taskNotFound, reason: 'TASK_NOT_FOUND', http: 404, status: 'NOT_FOUND' },
  agent_not_found: { code: A2A.refused, reason: 'AGENT_NOT_FOUND', http: 404, status: 'NOT_FOUND' },
  not_cancelable: {
    code: A2A.taskNotCancelable,
    reason: 'TASK_NOT_CANCELABLE',
    http: 400,
    status: 'FAILED_PRECONDITION',
  },
  task_ended: {
    code: A2A.unsupportedOperation,
    reason: 'UNSUPPORTED_OPERATION',
    http: 400,
    status: 'FAILED_PRECONDITION',
  },
  unsupported_version: {
    code: A2A.versionNotSupported,
    reason: 'VERSION_NOT_SUPPORTED',
    http: 400,
    status: 'FAILED_PRECONDITION',
  },
  unsupported_media_type: {
    code: A2A.contentTypeNotSupported,
    reason: 'CONTENT_TYPE_NOT_SUPPORTED',
    http: 415,
    status: 'INVALID_ARGUMENT',
  },
  invalid_field: invalid(),
  missing_field: invalid(),
  target_not_allowed: invalid(),
  idempotency_conflict: invalid(),
  malformed_body: { code: RPC.parseError, reason: 'INVALID_JSON', http: 400, status: 'INVALID_ARGUMENT' },
  payload_too_large: {
    code: RPC.invalidRequest,
    reason: 'PAYLOAD_TOO_LARGE',
    http: 413,
    status: 'INVALID_ARGUMENT',
  },
  unauthorized: { code: A2A.refused, reason: 'UNAUTHENTICATED', http: 401, status: 'UNAUTHENTICATED' },
  https_required: { code: A2A.refused, reason: 'HTTPS_REQUIRED', http: 403, status: 'PERMISSION_DENIED' },
  rate_limited: { code: A2A.refused, reason: 'RATE_LIMITED', http: 429, status: 'RESOURCE_EXHAUSTED' },
  method_not_allowed: {
    code: RPC.invalidRequest,
    reason: 'METHOD_NOT_ALLOWED',
    http: 405,
    status: 'INVALID_ARGUMENT',
  },
  range_not_satisfiable: {
    code: RPC.invalidRequest,
    reason: 'RANGE_NOT_SATISFIABLE',
    http: 416,
    status: 'OUT_OF_RANGE',
  },
  unavailable: { ...INTERNAL, reason: 'UNAVAILABLE', http: 503, status: 'UNAVAILABLE' },
  storage_full: {
    ...INTERNAL,
    reason: 'STORAGE_FULL',
    http: HTTP_STATUS.storage_full,
    status: 'UNAVAILABLE',
  },
};

function invalid(): Wire {
  return { code: RPC.invalidParams, reason: 'INVALID_PARAMS', http: 400, status: 'INVALID_ARGUMENT' };
}

function wireOf(fault: Fault): Wire {
  return WIRE[fault.fault] ?? INTERNAL;
}

const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';
const BAD_REQUEST = 'type.googleapis.com/google.rpc.BadRequest';

type Problem = { message: string; reason: string; field: string | undefined };

/** 1.0 wants details with a `@type` each. */
function detailsOf({ message, reason, field }: Problem): object[] {
  const info = { '@type': ERROR_INFO, reason, domain: 'a2a-protocol.org' };
  if (field === undefined) return [info];
  return [info, { '@type': BAD_REQUEST, fieldViolations: [{ field, description: message }] }];
}

function described(code: number, problem: Problem, version: Version): RpcError {
  const { message, field } = problem;
  if (version === '1.0') return { code, message, data: detailsOf(problem) };
  return field === undefined ? { code, message } : { code, message, data: { field } };
}

function problemOf(fault: Fault): Problem {
  return { message: fault.message, reason: wireOf(fault).reason, field: fault.detail.field };
}

export function toRpcError(fault: Fault, version: Version): RpcError {
  return described(wireOf(fault).code, problemOf(fault), version);
}

const REASONS: Record<number, string> = {
  [RPC.invalidRequest]: 'INVALID_REQUEST',
  [RPC.methodNotFound]: 'METHOD_NOT_FOUND',
  [RPC.invalidParams]: 'INVALID_PARAMS',
};

/** An error of the transport itself, with the data that the version requires. */
export function withDetails({ code, message }: RpcError, version: Version, field?: string): RpcError {
  return described(code, { message, reason: REASONS[code] ?? INTERNAL.reason, field }, version);
}

/** JSON-RPC answers 200 to whatever reached a method; anything else has the status of its reason. */
export function rpcStatus(fault: Fault): number {
  const { http, code } = wireOf(fault);
  const isOfMethod = http === 400 || http === 404 || http === 500;
  return isOfMethod && code !== A2A.refused ? 200 : http;
}

export function restStatus(fault: Fault): number {
  return wireOf(fault).http;
}

export function toRestError(fault: Fault): object {
  return restError(wireOf(fault), problemOf(fault));
}

/** Not one of our faults: "not found" means a task here, and a client would take it for that. */
export function noSuchAddress(): object {
  const message = 'A2A has no such address below an agent. Its card says where it is called.';
  const reason = REASONS[RPC.methodNotFound] ?? INTERNAL.reason;
  return restError({ http: 404, status: 'NOT_FOUND' }, { message, reason, field: undefined });
}

function restError({ http, status }: Pick<Wire, 'http' | 'status'>, problem: Problem): object {
  return { error: { code: http, status, message: problem.message, details: detailsOf(problem) } };
}
