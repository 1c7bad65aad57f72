import { aborted, type Clock, systemClock } from '../clock.ts';
import { type Endpoint, readEndpoint, readProducerEndpoint } from '../endpoint.ts';
import { type Fault, faultOf, LanternError } from '../faults.ts';
import { isRecord, parseJson, textOf } from '../json.ts';
import { readEvents } from '../sse.ts';
import { createWatch } from '../watch.ts';
import { writeJson } from '../write-json.ts';
import { pauseBefore } from './backoff.ts';
import type { Said } from './task.ts';
import { isEnded, type Message, type StreamItem, type Task } from './wire.ts';

export interface CallerOptions {
  /** The agent's address: `https://host/@handle/name`. */
  readonly agent: string;
  /** A key of an agent in the same space, or a caller token (`ct_…`); not needed for a public agent. */
  readonly token?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: Clock | undefined;
}

export interface SendOptions {
  /** The same id gives the same task, so that sending again is safe; made here when left out. */
  readonly messageId?: string | undefined;
  /** Goes on with a task that waits for input. */
  readonly taskId?: string | undefined;
  /** Belongs to a conversation. */
  readonly contextId?: string | undefined;
  /** Answer at once, with the task as it is stored: do not wait for the agent. */
  readonly returnImmediately?: boolean | undefined;
  /** Where the server tells about every change, also when nobody waits here. */
  readonly push?: { readonly url: string; readonly token?: string } | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The other side of a task: whoever wants something from an agent. */
export interface Caller {
  /** Sends a message; waits for the agent up to half a minute. The answer is a task, or a message alone. */
  send(said: Said, options?: SendOptions): Promise<{ task: Task } | { message: Message }>;
  get(taskId: string, options?: { historyLength?: number; signal?: AbortSignal }): Promise<Task>;
  /** Everything that happens to the task, to its end or its next question. Goes on after a lost connection, without gaps. */
  stream(said: Said, options?: SendOptions): AsyncGenerator<StreamItem, void, undefined>;
  /** The same for a task that is already there. */
  subscribe(taskId: string, options?: { signal?: AbortSignal }): AsyncGenerator<StreamItem, void, undefined>;
  cancel(taskId: string, options?: { signal?: AbortSignal }): Promise<Task>;
}

interface CallerParts {
  readonly endpoint: Endpoint;
  readonly token: string | undefined;
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}

const TRIES = 5;
/** The server holds a send for half a minute at most. */
const REPLY_MS = 60_000;

/**
 * Calls an agent: this server's, or any that speaks A2A 1.0 over JSON-RPC.
 *
 * @example
 * const caller = createCaller({ agent: `${url}/@home/helper`, token: apiKey });
 * const answer = await caller.send('Review the latest deployment');
 */
export function createCaller(options: CallerOptions): Caller {
  const { token } = options;
  const isKey = token?.startsWith('wk_') === true;
  const parts: CallerParts = {
    endpoint: isKey && token ? readEndpoint(options.agent, token) : readProducerEndpoint(options.agent),
    token,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    clock: options.clock ?? systemClock,
  };
  return {
    async send(said, call = {}) {
      const result = await ask(parts, { method: 'SendMessage', params: sending(said, call) }, call.signal);
      if (isRecord(result) && isTask(result.task)) return { task: result.task };
      if (isRecord(result) && isMessage(result.message)) return { message: result.message };
      throw strange(parts);
    },
    get: async (id, { signal, ...more } = {}) =>
      taskIn(parts, await ask(parts, { method: 'GetTask', params: { id, ...more } }, signal)),
    cancel: async (id, { signal } = {}) =>
      taskIn(parts, await ask(parts, { method: 'CancelTask', params: { id } }, signal)),
    stream: (said, call = {}) =>
      follow(parts, { method: 'SendStreamingMessage', params: sending(said, call) }, call.signal),
    subscribe: (id, { signal } = {}) => follow(parts, { method: 'SubscribeToTask', params: { id } }, signal),
  };
}

interface Request {
  readonly method: string;
  readonly params: Record<string, unknown>;
  readonly lastEventId?: string | undefined;
}

function sending(said: Said, call: SendOptions): Record<string, unknown> {
  const { parts, ...more } = typeof said === 'string' ? { parts: [{ text: said }] } : said;
  const { messageId = crypto.randomUUID(), taskId, contextId, returnImmediately, push } = call;
  const ids = {
    ...(taskId === undefined ? {} : { taskId }),
    ...(contextId === undefined ? {} : { contextId }),
  };
  const configuration = {
    ...(returnImmediately === undefined ? {} : { returnImmediately }),
    ...(push === undefined ? {} : { taskPushNotificationConfig: push }),
  };
  return { message: { messageId, role: 'ROLE_USER', parts, ...ids, ...more }, configuration };
}

/** One call to its answer. Safe to repeat, because the message id stays the same. */
async function ask(parts: CallerParts, request: Request, signal?: AbortSignal): Promise<unknown> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const limit = AbortSignal.timeout(REPLY_MS);
      const both = signal === undefined ? limit : AbortSignal.any([signal, limit]);
      const reply = await post(parts, request, { signal, limit: both });
      return resultOf(parts, parseJson(await reply.text()));
    } catch (error) {
      await pauseOrThrow(parts, { error, attempt, signal });
    }
  }
}

async function* follow(
  parts: CallerParts,
  first: Request,
  signal?: AbortSignal,
): AsyncGenerator<StreamItem, void, undefined> {
  let request = first;
  for (let attempt = 0; ; attempt += 1) {
    const watch = createWatch(signal);
    try {
      const reply = await post(parts, request, { signal, limit: watch.signal });
      if (!isStream(reply)) {
        yield await endedTask(parts, request, { reply, signal });
        return;
      }
      for await (const { id, data } of readEvents(reply.body && watch.over(reply.body))) {
        const item = resultOf(parts, parseJson(data)) as StreamItem;
        attempt = 0;
        watch.rest(true);
        yield item;
        watch.rest(false);
        if (isLast(item)) return;
        request = continuing(request, item, id);
      }
      // It may end in between: a server that restarts, a proxy that has had enough.
      throw new LanternError('unreachable', 'The stream ended before the task did.');
    } catch (error) {
      await pauseOrThrow(parts, { error, attempt, signal });
    } finally {
      watch.end();
    }
  }
}

function isStream(reply: Response): boolean {
  return reply.headers.get('content-type')?.startsWith('text/event-stream') === true;
}

// What 1.0 says to somebody who wants to follow a task that has ended (A10).
const UNSUPPORTED = '-32004';

/** A task that has ended is read instead of followed; every other answer that is no stream is a refusal. */
async function endedTask(
  parts: CallerParts,
  { method, params }: Request,
  { reply, signal }: { reply: Response; signal: AbortSignal | undefined },
): Promise<StreamItem> {
  try {
    resultOf(parts, parseJson(await reply.text()));
  } catch (error) {
    const isOver = error instanceof LanternError && error.wire?.code === UNSUPPORTED;
    if (!isOver || method !== 'SubscribeToTask') throw error;
    return {
      task: taskIn(parts, await ask(parts, { method: 'GetTask', params: { id: params.id } }, signal)),
    };
  }
  throw strange(parts);
}

function continuing(request: Request, item: StreamItem, lastEventId: string | null): Request {
  const id = item.task?.id ?? item.statusUpdate?.taskId ?? item.artifactUpdate?.taskId ?? request.params.id;
  if (typeof id !== 'string') return request;
  return { method: 'SubscribeToTask', params: { id }, lastEventId: lastEventId ?? request.lastEventId };
}

function isLast(item: StreamItem): boolean {
  if (item.message !== undefined) return true;
  const state = (item.statusUpdate?.status ?? item.task?.status)?.state;
  return state !== undefined && (isEnded(state) || /INPUT_REQUIRED|AUTH_REQUIRED/.test(state));
}

/** `limit` ends it, whoever wanted that; `signal` tells whether it was the caller. */
async function post(
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
      // The token must not follow a redirect to somewhere else.
      redirect: 'manual',
      signal: limit,
    })
    .catch((cause: unknown) => {
      if (signal?.aborted) throw aborted(signal);
      throw new LanternError('unreachable', `Nothing answers at ${parts.endpoint.base}.`, { cause });
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
  const wire = { status, code: null, field: null, oldestCursor: null };
  const sentence = `${endpoint.base} refused (${status}): ${said ?? 'it gave no reason; check the address.'}`;
  return new LanternError(fault, sentence, { wire });
}

/** A2A's own codes, as far as a caller would act on them. */
const BY_CODE: Readonly<Record<number, Fault>> = { [-32001]: 'not_found', [-32002]: 'conflict' };

function resultOf(parts: CallerParts, answer: unknown): unknown {
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

/** Which member is wrong, as 1.0 says it in its details (google.rpc.BadRequest). */
function fieldIn(data: unknown): string | null {
  for (const detail of Array.isArray(data) ? data : []) {
    const violations = isRecord(detail) ? detail.fieldViolations : null;
    const first = Array.isArray(violations) ? violations[0] : null;
    if (isRecord(first)) return textOf(first.field);
  }
  return null;
}

/** Waits before another try, or throws what is no use trying again. */
async function pauseOrThrow(
  { clock }: CallerParts,
  { error, attempt, signal }: { error: unknown; attempt: number; signal: AbortSignal | undefined },
): Promise<void> {
  if (signal?.aborted) throw aborted(signal);
  const known = faultOf(error);
  // A body that breaks off in the middle is the network's doing.
  const fault = known ?? 'unreachable';
  const isPassing = fault === 'unreachable' || fault === 'server_failed' || fault === 'rate_limited';
  if (!isPassing) throw error;
  if (attempt + 1 >= TRIES) {
    throw known === null
      ? new LanternError('unreachable', 'The answer broke off, several times in a row.', { cause: error })
      : error;
  }
  await clock.sleep(pauseBefore(attempt, Math.random()), signal);
}

function taskIn(parts: CallerParts, result: unknown): Task {
  if (isTask(result)) return result;
  throw strange(parts);
}

function isTask(value: unknown): value is Task {
  return isRecord(value) && typeof value.id === 'string' && isRecord(value.status);
}

function isMessage(value: unknown): value is Message {
  return isRecord(value) && Array.isArray(value.parts);
}

function strange({ endpoint }: CallerParts): LanternError {
  const message = `${endpoint.base} did not answer as A2A 1.0 does: check that this is the address of an agent.`;
  return new LanternError('bad_reply', message);
}
