import type { Clock } from '../clock.ts';
import { faultOf, LanternError } from '../faults.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { pauseBefore } from './backoff.ts';
import type { Connection, ConnectOptions } from './connect.ts';
import { type AgentFrame, endsTurn, type Hello, type HubFrame, PROTOCOL } from './frames.ts';
import type { TaskJournal } from './journal.ts';
import { Keeper } from './keeper.ts';
import { Link } from './link.ts';
import type { OpenSocket } from './socket.ts';
import { type AgentTask, type ContentSource, toMessage } from './task.ts';
import { Work } from './work.ts';

export interface SideParts {
  readonly endpoint: Endpoint;
  readonly apiKey: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly journal: TaskJournal;
  readonly openSocket: OpenSocket;
  readonly upload: (taskId: string, content: ContentSource, signal: AbortSignal) => Promise<string>;
  readonly concurrency: number;
  readonly handlers: ConnectOptions;
}

const ACKNOWLEDGED_WITHIN_MS = 10_000;
/** A hub that cannot store just now is asked again after this. */
const UNAVAILABLE_PAUSE_MS = 1_000;

/** Ends the id of what is said where an answer was refused. */
const INSTEAD = '.instead';
const UNTAKEN = 'The agent has answered, but its answer was not accepted:';

type HubError = Extract<HubFrame, { type: 'error' }>;

/**
 * The agent's end of the connection (A13): reads what the hub says, and makes sure that everything said here gets
 * there.
 */
export class LaptopSide implements Connection {
  readonly closed: Promise<void>;
  readonly #parts: SideParts;
  readonly #keeper: Keeper;
  readonly #work: Work;
  readonly #link: Link;
  readonly #leaving = new AbortController();
  #stopping: Promise<void> | null = null;
  /** Work and cancellations take effect in the order in which they arrived, and so do events. */
  #workInOrder: Promise<void> = Promise.resolve();
  #eventsInOrder: Promise<void> = Promise.resolve();

  constructor(parts: SideParts) {
    const { handlers, concurrency, upload } = parts;
    this.#parts = parts;
    this.#keeper = new Keeper({
      journal: parts.journal,
      pause: (attempt, signal) => parts.clock.sleep(pauseBefore(attempt, parts.random()), signal),
      trouble: (error) => this.#trouble(error, null),
    });
    this.#work = new Work({
      handlers,
      concurrency,
      upload,
      keeper: this.#keeper,
      send: (frame) => void this.#link.send(frame),
      trouble: (error, task) => this.#trouble(error, task),
    });
    this.#link = new Link({
      ...parts,
      open: parts.openSocket,
      target: () => this.#target(),
      onHello: (hello) => this.#greeted(hello),
      onFrame: (frame) => this.#hear(frame),
      onTrouble: (trouble) => handlers.onTrouble?.(trouble),
    });
    this.closed = this.#live();
  }

  get isConnected(): boolean {
    return this.#link.isUp;
  }

  [Symbol.asyncIterator](): AsyncIterator<AgentTask> {
    // The iteration ends with the same error.
    this.closed.catch(() => undefined);
    return this.#work.offers;
  }

  stop({ withinMs = ACKNOWLEDGED_WITHIN_MS }: { withinMs?: number } = {}): Promise<void> {
    this.#stopping ??= this.#stop(withinMs);
    return this.#stopping;
  }

  async #stop(withinMs: number): Promise<void> {
    this.#keeper.hurry();
    await this.#work.stop();
    const over = this.closed.catch(() => undefined);
    const enough = new AbortController();
    const late = this.#parts.clock.sleep(withinMs, enough.signal).catch(() => undefined);
    // Without a connection nobody can acknowledge; a journal keeps what is left for the next time.
    if (this.#link.isUp) await Promise.race([this.#keeper.quiet(), over, late]);
    enough.abort();
    this.#leaving.abort();
    await over;
  }

  async #live(): Promise<void> {
    let fault: unknown = null;
    const { signal } = this.#parts.handlers;
    const stop = () => void this.stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      await this.#keeper.open();
      this.#work.resume();
      await this.#link.run(this.#leaving.signal);
    } catch (error) {
      if (faultOf(error) === 'aborted') return;
      fault = error;
      // Reported at once: running handlers may take their time.
      this.#trouble(error, null);
      throw error;
    } finally {
      this.#keeper.hurry();
      await this.#work.stop(fault);
      await this.#keeper.close();
      // The signal may outlive many connections.
      signal?.removeEventListener('abort', stop);
    }
  }

  #target() {
    const { endpoint, apiKey, handlers } = this.#parts;
    const query = new URLSearchParams();
    if (handlers.onEvent !== undefined) query.set('events', '1');
    if (handlers.onResume !== undefined) query.set('resumes', '1');
    // A server that was killed has not noticed that its connections ended.
    const { link } = this.#keeper.book;
    if (link !== null) query.set('replaces', link);
    const url = `${endpoint.base.replace(/^http/, 'ws')}/a2a/connect${query.size > 0 ? `?${query}` : ''}`;
    return { url, protocol: PROTOCOL, headers: { authorization: `Bearer ${apiKey}` } };
  }

  #greeted(hello: Hello): void {
    const { connectionId } = hello;
    if (connectionId !== null)
      this.#keeper.linked(connectionId).catch((error: unknown) => this.#trouble(error, null));
    for (const frame of this.#keeper.book.outbox.values()) this.#link.send(frame);
    this.#parts.handlers.onConnected?.(hello.agent);
  }

  #hear(frame: Exclude<HubFrame, Hello>): void {
    switch (frame.type) {
      case 'ack':
        this.#keeper.acknowledged(frame.id);
        break;
      case 'error':
        this.#refused(frame);
        break;
      case 'event':
        this.#inform(frame.id, () => this.#parts.handlers.onEvent?.(frame.event, frame.cursor));
        break;
      case 'resume':
        this.#inform(frame.id, () => this.#parts.handlers.onResume?.(frame.resume));
        break;
      case 'unknown':
        // Not acknowledged: a newer version of this package may know what to do with it.
        this.#trouble(unknownFrame(frame.name), null);
        break;
      case 'pong':
        break;
      case 'cancel':
        this.#afterOthers(() => this.#cancelled(frame.id, frame.taskId));
        break;
      default:
        this.#afterOthers(() => this.#work.take(frame));
    }
  }

  async #cancelled(id: string, taskId: string): Promise<void> {
    await this.#work.cancel(taskId);
    this.#link.send({ type: 'ack', id });
  }

  #afterOthers(step: () => Promise<void>): void {
    this.#workInOrder = this.#workInOrder.then(step).catch((error: unknown) => this.#trouble(error, null));
  }

  /** An event whose handler throws stays unacknowledged, and is sent again after the next connect. */
  #inform(id: string, handler: () => Promise<void> | void | undefined): void {
    this.#eventsInOrder = this.#eventsInOrder
      .then(handler)
      .then(() => void this.#link.send({ type: 'ack', id }))
      .catch((error: unknown) => this.#trouble(error, null));
  }

  /** The hub will never accept this frame, unless it says that its store is away. */
  #refused({ id, code, message }: HubError): void {
    if (code === 'unavailable' && id !== null) {
      this.#sendAgain(id);
      return;
    }
    const frame = id === null ? null : this.#keeper.acknowledged(id);
    const isOver = code === 'not_found' || code === 'task_ended';
    const fault = code === 'not_found' ? 'not_found' : code === 'task_ended' ? 'conflict' : 'refused';
    this.#trouble(new LanternError(fault, `The hub refused a frame (${code}): ${message}`), null);
    if (frame === null) return;
    // The task is over for everybody else, so going on would be useless.
    if (isOver) this.#afterOthers(() => this.#work.cancel(frame.taskId));
    else if (endsTurn(frame)) this.#afterOthers(() => this.#failInstead(frame, message));
  }

  /** The turn is over here, and the caller would wait for its answer for ever. */
  async #failInstead({ id, taskId }: AgentFrame, why: string): Promise<void> {
    if (id.endsWith(INSTEAD)) return;
    const message = toMessage(id, `${UNTAKEN} ${why}`);
    const failed: AgentFrame = { id: `${id}${INSTEAD}`, type: 'failed', taskId, message };
    await this.#keeper.say('', failed, false);
    this.#link.send(failed);
  }

  #sendAgain(id: string): void {
    const later = this.#parts.clock.sleep(UNAVAILABLE_PAUSE_MS, this.#leaving.signal);
    void later.then(
      () => {
        const frame = this.#keeper.book.outbox.get(id);
        if (frame !== undefined) this.#link.send(frame);
      },
      () => undefined,
    );
  }

  #trouble(error: unknown, task: AgentTask | null): void {
    this.#parts.handlers.onError?.(error, task);
  }
}

function unknownFrame(name: string): LanternError {
  return new LanternError('bad_reply', `The hub sent a frame that is not known here: ${name}.`);
}
