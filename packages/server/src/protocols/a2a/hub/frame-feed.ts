import type { AgentId, SpaceId } from '../../../core/ids.ts';
import type { Room } from '../../../core/room.ts';
import { acknowledge } from '../../../core/tasks/frames.ts';
import { ADOPTED } from '../../../core/tasks/presence.ts';
import { OneAtATime } from './one-at-a-time.ts';
import { toHubFrame } from './writing.ts';

const PAGE = 100;
const PAGE_LENGTH = 1024 * 1024;
/** How many frames may be sent and not acknowledged; the rest waits in the store. */
const MOST_OUT = 1000;
/** How long an acknowledgement may wait for others; the next report writes all of them. */
const ACKS_WAIT_MS = 20;
const MOST_ACKS = 100;
const PLACE = /^h(\d{1,15})$/;

/** The socket that frames go out through. */
export interface Line {
  readonly isClosed: boolean;
  /** Its reader is slower than we send. */
  readonly isSlow: boolean;
  /** Whether its key still lets it in. */
  isLetIn(): Promise<boolean>;
  send(frame: string): void;
  /** The store did not answer. What was to be sent goes to the laptop when it reconnects. */
  sendBack(problem: unknown, message: string): void;
}

type At = { space: SpaceId; agent: AgentId; link: string };

/** The frames that were queued for a connection: in order, without gaps, until acknowledged (A13). */
export class FrameFeed {
  readonly #room: Room;
  readonly #at: At;
  readonly #line: Line;
  /** Null while nothing is out, as with most of them. */
  #out: Set<number> | null = null;
  /** Acknowledged but not yet written: what a crash forgets is sent again and recognised by its id. */
  #acked: number[] | null = null;
  #acking: NodeJS.Timeout | null = null;
  #sent = 0;
  #adoptions = 0;
  #isStarted = false;
  readonly #sending = new OneAtATime();
  /** There may be more in the store than was sent. */
  #isHeldBack = false;

  constructor(room: Room, at: At, line: Line) {
    this.#room = room;
    this.#at = at;
    this.#line = line;
  }

  start(): void {
    this.#isStarted = true;
    this.#pull();
  }

  /** An empty name stands for news whose contents were lost: it may be ours, and of any kind. */
  wake(about: ReadonlySet<string>): void {
    const { link } = this.#at;
    if (about.has(link + ADOPTED) || about.has('')) this.#startOver();
    else if (!about.has(link)) return;
    this.#pull();
  }

  /** Frames older than the last one sent may be ours now; those that are out are not sent twice. */
  #startOver(): void {
    this.#adoptions++;
    this.#sent = 0;
  }

  #pull(): void {
    if (!this.#isStarted || this.#line.isClosed) return;
    this.#sending
      .run(() => this.#sendPages())
      .catch((problem: unknown) => this.#line.sendBack(problem, 'frames could not be read'));
  }

  async #sendPages(): Promise<void> {
    if (this.#line.isClosed) return;
    while (!this.#isFull) if (!(await this.#sendPage())) break;
    this.#isHeldBack = this.#isFull;
  }

  get #isFull(): boolean {
    return (this.#out?.size ?? 0) >= MOST_OUT || this.#line.isSlow;
  }

  async #sendPage(): Promise<boolean> {
    const adoptions = this.#adoptions;
    const { frames, last, isFull } = await this.#readPage();
    if (frames.length > 0 && !(await this.#line.isLetIn())) return false;
    if (adoptions === this.#adoptions) this.#sent = last ?? this.#sent;
    for (const { place, text } of frames) {
      if (text === null) continue;
      this.#out ??= new Set();
      this.#out.add(place);
      this.#line.send(text);
    }
    return isFull;
  }

  #readPage() {
    const { space, agent, link } = this.#at;
    return this.#room.store.read(space, async (tx) => {
      const page = await tx.frames.forLink(agent, link, this.#sent, PAGE);
      const frames: { place: number; text: string | null }[] = [];
      let length = 0;
      for (const frame of page) {
        // The rest is read when this has been sent: a hundred messages of a megabyte are too much to hold at once.
        if (length >= PAGE_LENGTH) return { frames, last: frames.at(-1)?.place, isFull: true };
        const { place } = frame;
        if (this.#out?.has(place)) continue;
        const text = await toHubFrame(this.#room, tx, agent, frame);
        length += text?.length ?? 0;
        frames.push({ place, text });
      }
      return { frames, last: page.at(-1)?.place, isFull: page.length === PAGE };
    });
  }

  /** False when the id is not that of a frame. */
  acknowledged(id: string): boolean {
    const place = Number(PLACE.exec(id)?.[1] ?? 0);
    if (place === 0) return false;
    this.#acked ??= [];
    this.#acked.push(place);
    if (this.#acked.length >= MOST_ACKS) this.writeAcksNow();
    else this.#acking ??= setTimeout(() => this.writeAcksNow(), ACKS_WAIT_MS);
    return true;
  }

  writeAcksNow(): void {
    void this.writeAcks().catch((problem: unknown) =>
      this.#line.sendBack(problem, 'acknowledgements were lost'),
    );
  }

  async writeAcks(): Promise<void> {
    if (this.#acking !== null) clearTimeout(this.#acking);
    this.#acking = null;
    const places = this.#acked;
    if (places === null) return;
    this.#acked = null;
    const { space, agent } = this.#at;
    const acknowledged = { space, agent, places };
    await (this.#room.intake?.take('acknowledgement', acknowledged) ?? acknowledge(this.#room, acknowledged));
    // Not before they are gone from the store: a page that starts over would find them again.
    for (const place of places) this.#out?.delete(place);
    if (this.#out?.size === 0) this.#out = null;
    if (this.#isHeldBack) this.#pull();
  }
}
