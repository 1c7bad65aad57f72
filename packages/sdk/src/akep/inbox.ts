import { type Clock, systemClock } from '../clock.ts';
import type { LanternError } from '../faults.ts';
import { readEndpoint } from '../http/endpoint.ts';
import { createHttp } from '../http/http.ts';
import { defaultLog } from '../log/file-log.ts';
import type { WakeLog } from '../log/log.ts';
import { createRecorder } from '../log/recorder.ts';
import { type CursorStore, createBookmark, fileCursor, memoryCursor } from './cursor.ts';
import { acknowledge, emit, getEvent, getTask } from './entries.ts';
import { type FollowOptions, follow } from './follow.ts';
import type { Inbox } from './inbox-verbs.ts';
import type { Gap, InboxParts } from './parts.ts';
import { readPage } from './replay.ts';
import { run } from './run.ts';
import { stream } from './stream.ts';
import { listSubscriptions, readPolicy, subscribe, unsubscribe } from './subscriptions.ts';
import { endWait, listWaits, openWait, waitFor } from './waits.ts';
import type { AkepEvent, Resume } from './wire.ts';

/** Which agent's inbox it is, and where the place in it is remembered. */
export interface InboxOptions {
  /** Base URL of the server. */
  readonly url: string;
  /** The agent's key; the inbox is this agent's. */
  readonly apiKey: string;
  /**
   * Where to remember how far the inbox was read: a file, or a store of your own. Left out, it is remembered as long
   * as this object lives, and the next one starts at the beginning.
   */
  readonly cursor?: string | CursorStore | undefined;
  readonly fetch?: typeof fetch | undefined;
  readonly clock?: Clock | undefined;
  /** `~/.lantern/log.jsonl` where there are files, memory elsewhere. */
  readonly log?: WakeLog | undefined;
  /** Told once per spell of rate limiting, and once when the key is refused: surface it, do not loop on it. */
  readonly alert?: ((error: LanternError) => void) | undefined;
  /** Told when events were dropped on the server before they were read here (K17); reading continues after them. */
  readonly onCursorExpired?: ((gap: Gap) => void) | undefined;
}

/**
 * The durable inbox of one agent. What arrives while nobody reads is there at the next read, in the same order.
 *
 * @example
 * const inbox = createInbox({ url, apiKey: process.env.WAKE_API_KEY ?? '', cursor: './inbox.cursor' });
 */
export function createInbox(options: InboxOptions): Inbox {
  const parts = assemble(options);
  const events = (call: FollowOptions = {}) => onlyEvents(parts, call);
  return {
    [Symbol.asyncIterator]: () => events(),
    events,
    stream: (call = {}) => stream(parts, call),
    resumes: (call = {}) => onlyResumes(parts, call),
    run: (handler, call = {}) => run(parts, handler, call),
    ack: (eventId, status, call = {}) => acknowledge(parts, eventId, { ...call, status }),
    get: (eventId, call = {}) => getEvent(parts, eventId, call),
    page: (call = {}) => readPage(parts, call),
    task: (taskId, call = {}) => getTask(parts, taskId, call),
    emit: (draft, call = {}) => emit(parts, draft, call),
    subscribe: (draft, call = {}) => subscribe(parts, draft, call),
    subscriptions: (call = {}) => listSubscriptions(parts, call),
    unsubscribe: (id, call = {}) => unsubscribe(parts, id, call),
    openWait: (wait, call = {}) => openWait(parts, wait, call),
    waits: (call = {}) => listWaits(parts, call),
    endWait: (waitId, call = {}) => endWait(parts, waitId, call),
    waitFor: (wait, call = {}) => waitFor(parts, wait, call),
    policy: (call = {}) => readPolicy(parts, null, call),
    setPolicy: (change, call = {}) => readPolicy(parts, change, call),
  };
}

async function* onlyEvents(
  parts: InboxParts,
  call: FollowOptions,
): AsyncGenerator<AkepEvent, void, undefined> {
  for await (const item of follow(parts, { ...call, lists: ['events'] })) {
    if (item.type === 'event') yield item.event;
  }
}

async function* onlyResumes(parts: InboxParts, call: FollowOptions): AsyncGenerator<Resume, void, undefined> {
  for await (const item of follow(parts, { ...call, lists: ['resumes'] })) {
    if (item.type !== 'resume') continue;
    await parts.record('resume', { ...item.resume });
    yield item.resume;
  }
}

function assemble(options: InboxOptions): InboxParts {
  const { apiKey, cursor } = options;
  const endpoint = readEndpoint(options.url, apiKey);
  const clock = options.clock ?? systemClock;
  const log = options.log ?? defaultLog();
  const record = createRecorder({ log, clock, apiKey, server: endpoint.base });
  const alert = async (error: LanternError) => {
    // The alert matters more than its line in the log.
    await record('alert', { fault: error.fault, message: error.message }).catch(() => undefined);
    options.alert?.(error);
  };
  // Called as a plain function: browsers refuse a fetch that is called as a method of something else.
  const send = options.fetch ?? ((input, init) => fetch(input, init));
  const store = typeof cursor === 'string' ? fileCursor(cursor) : (cursor ?? memoryCursor());
  return {
    http: createHttp({
      endpoint,
      apiKey,
      fetch: send,
      clock,
      random: Math.random,
      alert,
      stopsOnForbidden: true,
    }),
    clock,
    record,
    bookmark: createBookmark(store),
    onCursorExpired: (gap) => options.onCursorExpired?.(gap),
  };
}
