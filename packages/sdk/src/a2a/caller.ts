import { type Clock, systemClock } from '../clock.ts';
import { faultOf, LanternError } from '../faults.ts';
import { readEndpoint, readProducerEndpoint } from '../http/endpoint.ts';
import { isStream, readEvents } from '../http/sse.ts';
import { createWatch } from '../http/watch.ts';
import { isRecord, parseJson } from '../json.ts';
import { type CallerParts, post, type Request, resultOf, strange } from './exchange.ts';
import type { Said } from './task.ts';
import { Tries } from './tries.ts';
import { isEnded, type Message, type StreamItem, type Task } from './wire.ts';

/** Whom to call, and as whom. */
export interface CallerOptions {
  /** The agent's address: `https://host/@handle/name`. */
  readonly agent: string;
  /** A key of an agent in the same space, or a caller token (`ct_…`); not needed for a public agent. */
  readonly token?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: Clock | undefined;
}

/** How one message is sent. All may be left out. */
export interface SendOptions {
  /** The same id gives the same task, so that sending again is safe; generated when left out. */
  readonly messageId?: string | undefined;
  /** Continues a task that waits for input. */
  readonly taskId?: string | undefined;
  /** The conversation it belongs to. */
  readonly contextId?: string | undefined;
  /** Answer at once, with the task as it is stored: do not wait for the agent. */
  readonly returnImmediately?: boolean | undefined;
  /** Where the server reports every change, even when nobody waits here. */
  readonly push?: { readonly url: string; readonly token?: string } | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The caller's side of a task. */
export interface Caller {
  /** Sends a message; waits for the agent up to half a minute. The answer is a task, or a message alone. */
  send(said: Said, options?: SendOptions): Promise<{ task: Task } | { message: Message }>;
  get(taskId: string, options?: { historyLength?: number; signal?: AbortSignal }): Promise<Task>;
  /**
   * Everything that happens to the task, up to its end or its next question. Continues after a lost connection,
   * without gaps.
   */
  stream(said: Said, options?: SendOptions): AsyncGenerator<StreamItem, void, undefined>;
  /** The same for an existing task. */
  subscribe(taskId: string, options?: { signal?: AbortSignal }): AsyncGenerator<StreamItem, void, undefined>;
  /** Fault `conflict` when it has ended in another way. */
  cancel(taskId: string, options?: { signal?: AbortSignal }): Promise<Task>;
}

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
    cancel: (id, { signal } = {}) => cancel(parts, id, signal),
    stream: (said, call = {}) =>
      follow(parts, { method: 'SendStreamingMessage', params: sending(said, call) }, call.signal),
    subscribe: (id, { signal } = {}) => follow(parts, { method: 'SubscribeToTask', params: { id } }, signal),
  };
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

/** One call and its answer. Safe to repeat, because the message id stays the same. */
async function ask(parts: CallerParts, request: Request, signal?: AbortSignal): Promise<unknown> {
  const tries = new Tries(parts, signal);
  for (;;) {
    try {
      const limit = AbortSignal.timeout(REPLY_MS);
      const both = signal === undefined ? limit : AbortSignal.any([signal, limit]);
      const reply = await post(parts, request, { signal, limit: both });
      return resultOf(parts, parseJson(await reply.text()));
    } catch (error) {
      await tries.pauseAfter(error);
    }
  }
}

/** A retry after a lost reply may be refused because the task is already cancelled: its current state decides. */
async function cancel(parts: CallerParts, id: string, signal?: AbortSignal): Promise<Task> {
  try {
    return taskIn(parts, await ask(parts, { method: 'CancelTask', params: { id } }, signal));
  } catch (refusal) {
    if (faultOf(refusal) !== 'conflict') throw refusal;
    const task = taskIn(parts, await ask(parts, { method: 'GetTask', params: { id } }, signal));
    if (task.status.state !== 'TASK_STATE_CANCELED') throw refusal;
    return task;
  }
}

async function* follow(
  parts: CallerParts,
  first: Request,
  signal?: AbortSignal,
): AsyncGenerator<StreamItem, void, undefined> {
  const tries = new Tries(parts, signal);
  let request = first;
  for (;;) {
    const watch = createWatch(signal);
    try {
      const reply = await post(parts, request, { signal, limit: watch.signal });
      if (!isStream(reply)) {
        yield await endedTask(parts, request, { reply, signal });
        return;
      }
      for await (const { id, data } of readEvents(reply.body && watch.over(reply.body))) {
        const item = resultOf(parts, parseJson(data)) as StreamItem;
        tries.succeeded();
        watch.rest();
        yield item;
        watch.goOn();
        if (isLast(item)) return;
        request = continuing(request, item, id);
      }
      // A stream may end early: the server restarts, or a proxy cuts it off.
      throw new LanternError('unreachable', 'The stream ended before the task did.');
    } catch (error) {
      await tries.pauseAfter(error);
    } finally {
      watch.end();
    }
  }
}

// The answer of 1.0 to following a task that has ended (A10).
const UNSUPPORTED = '-32004';

/** A task that has ended is read instead of followed; any other answer that is not a stream is a refusal. */
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
