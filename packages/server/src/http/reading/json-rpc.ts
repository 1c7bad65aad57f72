import { isJsonObject, type JsonObject } from '../../core/canonical.ts';
import { ExactJson } from '../../core/exact-json.ts';
import type { JsonBody } from './body.ts';

/** JSON-RPC 2.0: the transport, which knows no protocol. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
} as const;

/** Kept as written where a double would round it: a client that counts beyond 2^53 looks for its own digits. */
export type RpcId = string | number | null | ExactJson;

export type RpcError = { code: number; message: string; data?: unknown };

export type RpcCall = { id: RpcId; method: string; params: JsonObject };

/** Not a valid request; `field` is the member that is wrong. */
type Unread = { ok: false; id: RpcId; error: RpcError; field?: string };

export type RpcRead = { ok: true; call: RpcCall } | Unread;

/**
 * Reads one call. A request without an id is answered with the id null and not treated as a notification: callers of an
 * agent want an answer, and the official 0.3 SDK looks for its errors there.
 */
export function readCall({ value: body, raw }: JsonBody): RpcRead {
  if (Array.isArray(body)) return refuse(null, 'Batches are not served here. Send one request at a time.');
  if (!isJsonObject(body)) return refuse(null, 'The request must be a JSON object.');
  const { id: given = null, jsonrpc, method, params } = body;
  if (given !== null && typeof given !== 'string' && typeof given !== 'number')
    return refuse(null, 'id must be a string, a number or null.', 'id');
  const mayBeRounded = typeof given === 'number' && !Number.isSafeInteger(given);
  const id = mayBeRounded ? ExactJson.member(raw.toString(), 'id') : given;
  if (jsonrpc !== '2.0') return refuse(id, 'jsonrpc must be "2.0".', 'jsonrpc');
  if (typeof method !== 'string' || method === '') return refuse(id, 'method must be a string.', 'method');
  if (params !== undefined && params !== null && !isJsonObject(params))
    return {
      ok: false,
      id,
      error: { code: RPC.invalidParams, message: 'params must be an object with named members.' },
      field: 'params',
    };
  return { ok: true, call: { id, method, params: params ?? {} } };
}

function refuse(id: RpcId, message: string, field?: string): Unread {
  const error = { code: RPC.invalidRequest, message };
  return field === undefined ? { ok: false, id, error } : { ok: false, id, error, field };
}

/** `result` is already JSON text: stored bytes need not be parsed to be sent. */
export function rpcResult(id: RpcId, result: string): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`;
}

export function rpcError(id: RpcId, error: RpcError): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":${JSON.stringify(error)}}`;
}

function idText(id: RpcId): string {
  return id instanceof ExactJson ? id.text : JSON.stringify(id);
}
