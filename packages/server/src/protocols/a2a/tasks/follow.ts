import type { JsonObject } from '../../../core/canonical.ts';
import type { Topic } from '../../../core/store.ts';
import { readNews } from '../../../core/tasks/log/log.ts';
import {
  appends,
  isLastChunk,
  isSettled,
  type LogEntry,
  statusOf,
  type TaskRecord,
  type TaskState,
  taskTopic,
} from '../../../core/tasks/task.ts';
import type { Shell } from '../../../http/shell.ts';
import { Watch } from '../../../http/waiting/watch.ts';
import { type Outlet, withContent } from '../content/content.ts';
import type { Update } from '../dialects/dialect.ts';

/** Where a follower writes. Each promise resolves when more can be taken: a slow reader pauses us. */
export type Sink = {
  /** Throws once the caller may no longer read this: its token may have been revoked since it came (W28). */
  stillValid(): Promise<unknown>;
  /** Announced when that may be so. */
  access: readonly Topic[];
  update(pos: number, update: Update): Promise<void>;
  readonly closed: boolean;
};

/** The log of `task` after this entry; its content is named as `outlet` serves it, and goes to `sink`. */
type Following = { task: TaskRecord; after: number; outlet: Outlet; sink: Sink };

/**
 * Follows a task's log from an entry on, in order and without gaps, until nothing more can come (A10). It reads from
 * the store, so a follower on another replica misses nothing.
 */
export class TaskFollower {
  readonly #shell: Shell;
  readonly #outlet: Outlet;
  readonly #task: TaskRecord;
  readonly #sink: Sink;
  readonly #watch = new Watch();
  #after: number;
  #isOver = false;
  /** Whether its access may have ended: also before we listened. */
  #isInDoubt = true;

  constructor(shell: Shell, { task, after, outlet, sink }: Following) {
    this.#shell = shell;
    this.#outlet = outlet;
    this.#task = task;
    this.#sink = sink;
    this.#after = after;
  }

  async run(): Promise<void> {
    const { wakeups } = this.#shell;
    const doubt = {
      wake: () => {
        this.#isInDoubt = true;
        this.nudge();
      },
    };
    const off = wakeups.on(taskTopic(this.#task), () => this.nudge());
    wakeups.join(this.#sink.access, doubt);
    try {
      await this.#watch.run(
        () => this.#sendNews(),
        () => this.#isOver || this.#sink.closed,
      );
    } finally {
      off();
      wakeups.leave(this.#sink.access, doubt);
    }
  }

  /** There is news, or the reader has gone: look again. */
  nudge(): void {
    this.#watch.nudge();
  }

  async #sendNews(): Promise<boolean> {
    const { room } = this.#shell;
    const { entries, hasMore } = await room.store.read(this.#task.space, (tx) =>
      readNews(room, tx, this.#task, this.#after),
    );
    if (entries.length > 0 || this.#isInDoubt) {
      this.#isInDoubt = false;
      await this.#sink.stillValid();
    }
    for (const [i, entry] of entries.entries()) {
      if (this.#sink.closed) break;
      const update = await toUpdate(this.#outlet, this.#task, entry);
      this.#after = entry.pos;
      if (update === null) continue;
      await this.#sink.update(entry.pos, update);
      // A settled state with nothing after it is the end. With something after it, the task went on.
      this.#isOver = update.isFinal && i === entries.length - 1 && !hasMore;
    }
    return entries.length > 0;
  }
}

/** A caller is told what the agent did; it knows its own messages. */
export async function toUpdate(
  outlet: Outlet,
  task: Pick<TaskRecord, 'id' | 'context'>,
  entry: LogEntry,
): Promise<Update | null> {
  const base = { taskId: task.id, contextId: task.context };
  if (entry.kind === 'status') {
    const isFinal = isSettled(entry.note as TaskState);
    return { ...base, kind: 'status', status: statusOf(entry), isFinal };
  }
  if (entry.kind === 'message') return null;
  const artifact = await withContent(outlet, task.id, entry.body as JsonObject);
  const { note } = entry;
  const append = appends(note);
  return { ...base, kind: 'artifact', artifact, append, lastChunk: isLastChunk(note), isFinal: false };
}
