import type { IncomingMessage, ServerResponse } from 'node:http';
import { NOBODY } from '../../../core/tasks/callers/callers.ts';
import { ANEW, JSON_HEADERS, type Named, type Take } from '../../../http/fast-lane.ts';
import { toJson } from '../../../http/reading/body.ts';
import { readCall, rpcResult } from '../../../http/reading/json-rpc.ts';
import { operationOf, versionOf } from '../dialects/versions.ts';
import { type AgentParams, admit, type Entered } from '../door.ts';
import { answerText } from '../tasks/operations.ts';
import type { A2aParts } from './rpc-route.ts';

/** Addresses as nearly everybody writes them; other spellings take the framework's route. */
const ADDRESS = /^\/@([a-z0-9-]+)\/([A-Za-z0-9_-]+)(\/?)$/;

/**
 * JSON-RPC in front of the framework: messages and task look-ups, from callers with a credential. Everything else
 * takes the framework's route from the beginning, and so does every refusal: a refused message has written nothing.
 */
export function rpcLane(parts: A2aParts): (url: string) => Named | undefined {
  return (url) => {
    const found = ADDRESS.exec(url);
    if (found === null) return undefined;
    const [, handle = '', agent = '', slash] = found;
    const lane = (request: IncomingMessage, response: ServerResponse) =>
      letIn(parts, { request, response }, { handle, agent });
    return { route: `/@:handle/:agent${slash}`, lane };
  };
}

type Exchange = { request: IncomingMessage; response: ServerResponse };

async function letIn(parts: A2aParts, exchange: Exchange, params: AgentParams): Promise<Take> {
  const { request } = exchange;
  // Callers without a credential are counted by their network, which only the framework knows.
  if (request.headers.authorization === undefined) throw ANEW;
  const { shell, limits } = parts;
  const entered = await admit(shell, request, params);
  if (entered.place.caller === NOBODY) throw ANEW;
  limits.count(entered, exchange.response, shell.room.clock.now());
  return async (body) => {
    try {
      return { status: 200, headers: JSON_HEADERS, body: await answer(parts, exchange, entered, body) };
    } catch {
      throw ANEW;
    }
  };
}

async function answer(
  parts: A2aParts,
  { request, response }: Exchange,
  entered: Entered,
  body: Buffer,
): Promise<string> {
  const read = readCall(toJson(body));
  if (!read.ok) throw ANEW;
  const { id, method, params } = read.call;
  const { headers } = request;
  const version = versionOf({ headers, query: undefined });
  const named = operationOf(method, version);
  if (!('operation' in named)) throw ANEW;
  const { operation } = named;
  if (operation !== 'send' && operation !== 'get') throw ANEW;
  const { shell, cards, texts } = parts;
  const asked = { headers, raw: request };
  const call = { shell, cards, texts, request: asked, response, entered, version, params };
  return rpcResult(id, await answerText(call, operation));
}
