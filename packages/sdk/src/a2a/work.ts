import { LanternError } from '../faults.ts';
import type { ConnectOptions, HandlerReply, TaskHandler } from './connect.ts';
import type { AgentFrame, WorkFrame } from './frames.ts';
import type { Keeper } from './keeper.ts';
import { Offers } from './offers.ts';
import { type AgentTask, type ContentSource, createTask } from './task.ts';
import { Turns } from './turns.ts';

export interface WorkParts {
  readonly keeper: Keeper;
  readonly handlers: ConnectOptions;
  readonly concurrency: number;
  readonly upload: (taskId: string, content: ContentSource, signal: AbortSignal) => Promise<string>;
  /** Sends a frame that is already stored; without a connection it is sent with the next one. */
  readonly send: (frame: object) => void;
  readonly trouble: (error: unknown, task: AgentTask | null) => void;
}

const INTERRUPTED =
  'The agent was stopped while it worked on this. It is not done a second time, because nobody knows how far it got.';
const BROKEN = 'The agent failed while it worked on this.';
/** Tasks whose context is remembered, because decisions do not name it. */
const CONTEXTS_MOST = 10_000;

/** The work of this process: each turn is taken once, begun once, and answered once. */
export class Work {
  readonly offers = new Offers<AgentTask>();
  readonly #parts: WorkParts;
  readonly #turns: Turns<WorkFrame>;
  readonly #running = new Map<string, { readonly frame: WorkFrame; readonly controller: AbortController }>();
  readonly #contexts = new Map<string, string>();

  constructor(parts: WorkParts) {
    this.#parts = parts;
    this.#turns = new Turns(parts.concurrency, (frame) => this.#turn(frame));
  }

  /** Continues what an earlier process left. */
  resume(): void {
    for (const { frame } of this.#parts.keeper.book.turns.values()) this.#enqueue(frame);
  }

  /** In a durable journal it is ours; without one, it stays the hub's until it is done. */
  async take(frame: WorkFrame): Promise<void> {
    const { keeper } = this.#parts;
    if (!keeper.book.knows(frame.turn)) {
      await keeper.take(frame);
      this.#enqueue(frame);
      if (keeper.isDurable) this.#acknowledge(frame.id);
    } else if (keeper.isDurable || keeper.book.hasEnded(frame.turn)) {
      this.#acknowledge(frame.id);
    }
  }

  async cancel(taskId: string): Promise<void> {
    for (const frame of this.#turns.remove((one) => one.taskId === taskId)) await this.#close(frame);
    for (const { frame, controller } of this.#running.values()) {
      if (frame.taskId === taskId) controller.abort(new LanternError('aborted', 'The task was cancelled.'));
    }
  }

  /** Begins nothing more; resolves when what was begun is done. */
  async stop(error: unknown = null): Promise<void> {
    this.#turns.pause();
    this.offers.close(error);
    await this.#turns.idle();
  }

  #acknowledge(id: string): void {
    this.#parts.send({ type: 'ack', id });
  }

  #enqueue(frame: WorkFrame): void {
    this.#turns.add(this.#contextOf(frame), frame);
  }

  #contextOf({ taskId, contextId }: WorkFrame): string {
    const context = contextId ?? this.#contexts.get(taskId) ?? taskId;
    this.#contexts.set(taskId, context);
    const [oldest] = this.#contexts.keys();
    if (this.#contexts.size > CONTEXTS_MOST && oldest !== undefined) this.#contexts.delete(oldest);
    return context;
  }

  async #turn(frame: WorkFrame): Promise<void> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#running.set(frame.turn, { frame, controller });
    try {
      const handler = await this.#handlerFor(frame, signal);
      // Nobody asked for it before the end: it stays waiting.
      if (handler === null && !signal.aborted) return;
      if (handler !== null) await this.#handle(frame, handler, signal);
      await this.#close(frame);
    } catch (error) {
      this.#parts.trouble(error, null);
    } finally {
      this.#running.delete(frame.turn);
    }
  }

  async #handlerFor({ turn }: WorkFrame, signal: AbortSignal): Promise<TaskHandler | null> {
    const { onTask, onInterrupted } = this.#parts.handlers;
    if (this.#hasBegun(turn)) return onInterrupted ?? (() => ({ state: 'failed', said: INTERRUPTED }));
    if (onTask !== undefined) return onTask;
    const give = await this.offers.offer(signal);
    if (give === null) return null;
    return async (task) => {
      give(task);
      // The iterating program ends it with one of its verbs.
      await (task as EndingTask).ended;
    };
  }

  async #handle(frame: WorkFrame, handler: TaskHandler, signal: AbortSignal): Promise<void> {
    const task = this.#taskFor(frame, signal);
    try {
      if (!this.#hasBegun(frame.turn)) await this.#begin(frame);
      const reply = await handler(task);
      if (!task.hasEnded) await answer(task, reply ?? undefined);
    } catch (error) {
      if (signal.aborted) return;
      this.#parts.trouble(error, task);
      if (!task.hasEnded) await task.fail(BROKEN);
    }
  }

  #hasBegun(turn: string): boolean {
    return this.#parts.keeper.book.turns.get(turn)?.hasBegun === true;
  }

  /** Written to the journal first: what is found there as begun is not begun again. */
  async #begin(frame: WorkFrame): Promise<void> {
    await this.#parts.keeper.begin(frame.turn);
    if (this.#parts.handlers.accept === false) return;
    await this.#say(frame, { id: `${frame.turn}.begun`, type: 'accepted', taskId: frame.taskId }, false);
  }

  async #close({ id, turn }: WorkFrame): Promise<void> {
    const { keeper } = this.#parts;
    if (!keeper.book.hasEnded(turn)) await keeper.end(turn);
    if (!keeper.isDurable) this.#acknowledge(id);
  }

  #taskFor(frame: WorkFrame, signal: AbortSignal): EndingTask {
    return createTask({
      frame,
      signal,
      contextId: this.#contextOf(frame),
      upload: this.#parts.upload,
      newId: () => crypto.randomUUID(),
      say: async (said, isLast) => {
        await this.#say(frame, said, isLast);
        await this.#parts.keeper.room(signal);
      },
    });
  }

  async #say({ turn }: WorkFrame, frame: AgentFrame, isLast: boolean): Promise<void> {
    const { keeper, send } = this.#parts;
    if (keeper.book.turns.get(turn)?.said.has(frame.id)) return isLast ? keeper.end(turn) : undefined;
    await keeper.say(turn, frame, isLast);
    send(frame);
  }
}

type EndingTask = ReturnType<typeof createTask>;

async function answer(task: AgentTask, reply: HandlerReply): Promise<void> {
  if (typeof reply !== 'object' || !('state' in reply)) return task.complete(reply);
  const verbs = {
    completed: task.complete,
    failed: task.fail,
    rejected: task.reject,
    input_required: task.askForInput,
    auth_required: task.askForAuth,
  };
  return verbs[reply.state](reply.said);
}
