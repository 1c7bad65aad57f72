import { acknowledge } from '../../../core/events/inbox/ack.ts';
import { fromCursor, type Reader, toCursor } from '../../../core/events/inbox/cursor.ts';
import { type Item, lastOffset, readInbox } from '../../../core/events/inbox/inbox.ts';
import { resumesBehind } from '../../../core/events/waits/resumes.ts';
import { fromResume, type Resume } from '../../../core/events/waits/wait.ts';
import { isFault, orThrow } from '../../../core/faults.ts';
import type { Room } from '../../../core/room.ts';
import type { Wakeups } from '../../../http/waiting/park.ts';
import { OneAtATime } from './one-at-a-time.ts';

/** What a laptop has asked for beside its tasks (A13). */
export type Wish = { events: boolean; resumes: boolean; cursor: string | null };

const PAGE = 50;
const AT_A_TIME = { limit: PAGE, bytes: 1024 * 1024 };
/** How many events, and how many bytes of them, may be sent and not acknowledged; the rest waits in the inbox. */
const MOST_OUT = 200;
const MOST_OUT_LENGTH = 4 * 1024 * 1024;
const EVENT = /^e(\d{1,15})$/;

type Out = { eventId: string; producer: string | null; length: number };

export type FeedParts = {
  room: Room;
  reader: Reader;
  wish: Wish;
  send(frame: string): void;
  /** False once the reader's key has ended. */
  isLetIn(): Promise<boolean>;
  /** The store did not answer after a wake-up. What was to be sent goes to the laptop when it reconnects. */
  failed(problem: unknown): void;
};

/** An agent's inbox over the socket that its tasks come through: in order, without gaps, until acknowledged. */
export class InboxFeed {
  readonly #room: Room;
  readonly #reader: Reader;
  readonly #wish: Wish;
  readonly #send: FeedParts['send'];
  readonly #isLetIn: FeedParts['isLetIn'];
  readonly #failed: FeedParts['failed'];
  readonly #out = new Map<number, Out>();
  #outLength = 0;
  #after = 0;
  #settled = 0;
  #resumesAfter = 0;
  readonly #sending = new OneAtATime();
  #isOver = false;
  #off = () => {};

  constructor({ room, reader, wish, send, isLetIn, failed }: FeedParts) {
    this.#room = room;
    this.#reader = reader;
    this.#wish = wish;
    this.#send = send;
    this.#isLetIn = isLetIn;
    this.#failed = failed;
  }

  /** From the cursor, or from the oldest entry that is not acknowledged. */
  async start(wakeups: Wakeups): Promise<void> {
    const { space, agent } = this.#reader;
    const { cursor } = this.#wish;
    if (cursor !== null) this.#after = orThrow(fromCursor(this.#room, 'events', this.#reader, cursor));
    else {
      await this.#room.store.read(space, async (tx) => {
        const last = await lastOffset(tx, this.#reader);
        const [oldest] = await tx.entries.unacked(agent, 1);
        this.#after = oldest === undefined ? last : oldest - 1;
        this.#settled = last;
      });
    }
    this.#resumesAfter = await resumesBehind(this.#room, this.#reader, this.#after);
    // It may have closed meanwhile: a listener added now would never be removed.
    if (this.#isOver) return;
    this.#off = wakeups.on(`inbox:${space}:${agent}`, () => void this.pull().catch(this.#failed));
    await this.pull();
  }

  stop(): void {
    this.#isOver = true;
    this.#off();
  }

  /** True when the id was that of an event or a resume. */
  async acknowledged(id: string): Promise<boolean> {
    if (id.startsWith('r')) return true;
    const offset = Number(EVENT.exec(id)?.[1] ?? 0);
    const out = this.#out.get(offset);
    if (out === undefined) return offset > 0;
    const { eventId, producer, length } = out;
    const ack = { eventId, producer, status: 'stored' as const, processedAt: null, reason: null };
    await acknowledge(this.#room, this.#reader, ack);
    if (this.#out.delete(offset)) this.#outLength -= length;
    await this.pull();
    return true;
  }

  pull(): Promise<void> {
    return this.#sending.run(() => this.#sendPages());
  }

  async #sendPages(): Promise<void> {
    while (!this.#isOver && !this.#isFull) if (!(await this.#sendPage())) return;
  }

  get #isFull(): boolean {
    return this.#out.size >= MOST_OUT || this.#outLength >= MOST_OUT_LENGTH;
  }

  async #sendPage(): Promise<boolean> {
    const read = await readInbox(this.#room, this.#reader, this.#after, AT_A_TIME);
    if (isFault(read)) throw read;
    const resumes = this.#wish.resumes ? await this.#resumesUpTo(read.after) : [];
    if (read.items.length > 0 && !(await this.#isLetIn())) return false;
    for (const item of read.items) this.#sendItem(item, resumes);
    return read.hasMore;
  }

  /** A resume is sent just before its event, so whoever has the event has its resumes. */
  #sendItem(item: Item, resumes: readonly Resume[]): void {
    for (const resume of resumes) {
      if (resume.entryOffset !== item.offset) continue;
      this.#send(JSON.stringify({ type: 'resume', id: `r${resume.offset}`, ...fromResume(resume) }));
      this.#resumesAfter = resume.offset;
    }
    this.#after = item.offset;
    if (!this.#wish.events || (item.acknowledged && item.offset <= this.#settled)) return;
    const text = Buffer.from(item.bytes.buffer, item.bytes.byteOffset, item.bytes.byteLength).toString(
      'utf8',
    );
    const { event_id, source } = JSON.parse(text) as { event_id: string; source: { producer_id?: string } };
    const { length } = text;
    this.#out.set(item.offset, { eventId: event_id, producer: source.producer_id ?? null, length });
    this.#outLength += length;
    const cursor = toCursor(this.#room, 'events', this.#reader, item.offset);
    this.#send(`{"type":"event","id":"e${item.offset}","cursor":"${cursor}","event":${text}}`);
  }

  async #resumesUpTo(entry: number): Promise<Resume[]> {
    const { space, agent } = this.#reader;
    const found: Resume[] = [];
    for (;;) {
      const after = found.at(-1)?.offset ?? this.#resumesAfter;
      const more = await this.#room.store.read(space, (tx) => tx.waits.resumes(agent, after, PAGE));
      found.push(...more);
      const last = more.at(-1);
      if (more.length < PAGE || last === undefined || last.entryOffset > entry) return found;
    }
  }
}
