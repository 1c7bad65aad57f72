import { accessTopic } from '../../../core/access.ts';
import { fromCursor, type Reader, toCursor } from '../../../core/events/inbox/cursor.ts';
import { type Item, lastOffset, readInbox } from '../../../core/events/inbox/inbox.ts';
import { resumesBehind } from '../../../core/events/waits/resumes.ts';
import { fromResume, type Resume } from '../../../core/events/waits/wait.ts';
import { orThrow } from '../../../core/faults.ts';
import type { Shell } from '../../../http/shell.ts';
import { Watch } from '../../../http/waiting/watch.ts';
import { textOf } from '../mapping.ts';
import { stillValid } from '../request.ts';

const PAGE = 100;
/** Small, because a slow reader keeps its page in memory, and there may be thousands. */
const AT_A_TIME = { limit: PAGE, bytes: 256 * 1024 };

/** Where a live reader is written to. Each promise resolves when it can take more: a slow reader pauses us (K15). */
export type Sink = {
  event(cursor: string, envelope: string): Promise<void>;
  resume(resume: string): Promise<void>;
  readonly closed: boolean;
};

/** Where a reader starts; acknowledged entries up to `settled` are not sent to it again. */
export type Start = { after: number; resumesAfter: number; settled: number };

/** At the cursor, or at the oldest entry that was not acknowledged. */
export async function startOf({ room }: Shell, reader: Reader, cursor: string | null): Promise<Start> {
  if (cursor !== null) {
    const after = orThrow(fromCursor(room, 'events', reader, cursor));
    orThrow(await readInbox(room, reader, after, { limit: 1 }));
    return { after, resumesAfter: await resumesBehind(room, reader, after), settled: 0 };
  }
  const { after, settled } = await room.store.read(reader.space, async (tx) => {
    const last = await lastOffset(tx, reader);
    const [oldest] = await tx.entries.unacked(reader.agent, 1);
    return { after: oldest === undefined ? last : oldest - 1, settled: last };
  });
  return { after, resumesAfter: await resumesBehind(room, reader, after), settled };
}

/**
 * Follows an inbox from an offset, in order and without gaps: reads a page, sends it, waits for the reader when it is
 * slow, and for news when there is nothing more. A resume is sent just before its event, so whoever has the event has
 * its resumes. Stream and socket share this.
 */
export class Follower {
  readonly #shell: Shell;
  readonly #reader: Reader;
  readonly #digest: string;
  readonly #sink: Sink;
  readonly #settled: number;
  readonly #watch = new Watch();
  /** Whether its key may have ended: also before we listened. */
  #isInDoubt = true;
  #after: number;
  #resumesAfter: number;

  constructor(shell: Shell, who: { reader: Reader; digest: string }, sink: Sink, start: Start) {
    this.#shell = shell;
    this.#reader = who.reader;
    this.#digest = who.digest;
    this.#sink = sink;
    this.#after = start.after;
    this.#resumesAfter = start.resumesAfter;
    this.#settled = start.settled;
  }

  async run(): Promise<void> {
    const { space, agent } = this.#reader;
    const { wakeups } = this.#shell;
    const offNews = wakeups.on(`inbox:${space}:${agent}`, () => this.nudge());
    const offAccess = wakeups.on(accessTopic(space, agent), () => {
      this.#isInDoubt = true;
      this.nudge();
    });
    try {
      await this.#watch.run(
        () => this.#sendPage(),
        () => this.#sink.closed,
      );
    } finally {
      offNews();
      offAccess();
    }
  }

  /** There is news, or the reader has gone: look again. */
  nudge(): void {
    this.#watch.nudge();
  }

  async #sendPage(): Promise<boolean> {
    const { room } = this.#shell;
    const read = orThrow(await readInbox(room, this.#reader, this.#after, AT_A_TIME));
    if (read.items.length > 0 || this.#isInDoubt) await this.#assertLetIn();
    if (read.items.length === 0) return false;
    const resumes = await this.#resumesUpTo(read.after);
    for (const item of read.items) {
      if (this.#sink.closed) break;
      await this.#sendItem(item, resumes);
    }
    return true;
  }

  /** Its key may have ended since it came (W28). */
  async #assertLetIn(): Promise<void> {
    this.#isInDoubt = false;
    await stillValid(this.#shell.room, this.#digest);
  }

  async #sendItem(item: Item, resumes: Resume[]): Promise<void> {
    const { room } = this.#shell;
    const due = resumes.filter((resume) => resume.entryOffset === item.offset);
    for (const resume of due) await this.#sink.resume(JSON.stringify(fromResume(resume)));
    if (item.offset > this.#settled || !item.acknowledged)
      await this.#sink.event(toCursor(room, 'events', this.#reader, item.offset), textOf(item));
    this.#after = item.offset;
    this.#resumesAfter = due.at(-1)?.offset ?? this.#resumesAfter;
  }

  /** Resumes commit together with their entries, so all that belong to what was read are visible. */
  async #resumesUpTo(entry: number): Promise<Resume[]> {
    const { agent, space } = this.#reader;
    const found: Resume[] = [];
    for (;;) {
      const after = found.at(-1)?.offset ?? this.#resumesAfter;
      const more = await this.#shell.room.store.read(space, (tx) => tx.waits.resumes(agent, after, PAGE));
      found.push(...more);
      const last = more.at(-1);
      if (more.length < PAGE || last === undefined || last.entryOffset > entry) return found;
    }
  }
}
