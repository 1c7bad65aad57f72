import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { Fault, isFault } from '../../../core/faults.ts';
import { logFault, toFault } from '../../../http/errors.ts';
import type { JsonBody } from '../../../http/reading/body.ts';
import {
  RPC,
  type RpcCall,
  type RpcError,
  type RpcId,
  readCall,
  rpcError,
  rpcResult,
} from '../../../http/reading/json-rpc.ts';
import type { Shell } from '../../../http/shell.ts';
import type { CardMaker } from '../cards/card.ts';
import { type Operation, operationOf, type Version, versionOf } from '../dialects/versions.ts';
import { enteredOf } from '../door.ts';
import { rpcStatus, toRpcError, withDetails } from '../errors.ts';
import type { OutsideLimits } from '../limits.ts';
import { answerText, type StreamedCall } from '../tasks/operations.ts';
import { begin, pour } from '../tasks/streaming.ts';
import type { TaskTexts } from '../tasks/task-texts.ts';

export type A2aParts = { shell: Shell; cards: CardMaker; limits: OutsideLimits; texts: TaskTexts };

/** JSON-RPC at an agent's own address: three dialects on one URL (A1, A4). */
export async function rpc(
  parts: A2aParts,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const entered = enteredOf(request);
  const body = request.body as JsonBody | null;
  if (body === null || body === undefined)
    throw new Fault('malformed_body', 'The body is empty; send a JSON-RPC request.');
  const read = readCall(body);
  if (!read.ok) {
    const error = withDetails(read.error, safeVersion(request), read.field);
    return answer(reply, 200, rpcError(read.id, error));
  }
  const { id } = read.call;
  try {
    const version = versionOf(request);
    const named = operationOf(read.call.method, version);
    if (!('operation' in named))
      return answer(reply, 200, rpcError(id, withDetails(noMethod(named.hint), version, 'method')));
    const call: StreamedCall = {
      ...parts,
      request,
      reply,
      response: reply.raw,
      entered,
      version,
      params: read.call.params,
    };
    return await perform(call, named.operation, read.call);
  } catch (reason) {
    return refuse(request, reply, id, reason);
  }
}

async function perform(call: StreamedCall, operation: Operation, { id }: RpcCall): Promise<FastifyReply> {
  if (operation !== 'stream' && operation !== 'subscribe')
    return answer(call.reply, 200, rpcResult(id, await answerText(call, operation)));
  const wrap = (result: string) => rpcResult(id, result);
  try {
    await pour(call, await begin(call, operation), wrap);
  } catch (reason) {
    // 0.3 clients look for the error of a resubscription in the stream (A10).
    if (operation === 'stream' || call.version === '1.0' || !isFault(reason)) throw reason;
    const stream = call.shell.streams.open(call.reply, () => {}, { farewell: '' });
    stream.send({ data: rpcError(id, toRpcError(reason, call.version)) });
    stream.close();
  }
  return call.reply;
}

function noMethod(message: string): RpcError {
  return { code: RPC.methodNotFound, message };
}

function answer(reply: FastifyReply, status: number, text: string): FastifyReply {
  reply.raw.setHeader('content-type', 'application/json; charset=utf-8');
  return reply.code(status).send(text);
}

function safeVersion(request: FastifyRequest): Version {
  try {
    return versionOf(request);
  } catch {
    return '1.0';
  }
}

export function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  id: RpcId,
  reason: unknown,
): FastifyReply {
  const fault = toFault(reason as FastifyError);
  logFault(request, reason, fault);
  if (fault.fault === 'unauthorized') reply.header('www-authenticate', 'Bearer realm="a2a"');
  if (fault.detail.retryAfter !== undefined) reply.header('retry-after', String(fault.detail.retryAfter));
  reply.header('cache-control', 'no-store');
  return answer(reply, rpcStatus(fault), rpcError(id, toRpcError(fault, safeVersion(request))));
}
