import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { type Fault, isFault } from '../../core/faults.ts';
import type { AgentId, SpaceId } from '../../core/ids.ts';
import type { Room } from '../../core/room.ts';
import { acknowledge, framesTopic } from '../../core/tasks/frames.ts';
import { ADOPTED, join, leave } from '../../core/tasks/presence.ts';
import { report } from '../../core/tasks/report.ts';
import type { Frame } from '../../core/tasks/store.ts';
import type { Wakeups } from '../../http/park.ts';
import { hearInTurn } from '../../http/socket-pace.ts';
import { type AgentFrame, type FrameError, readFrame, refuse, toFrameError } from './frame-reading.ts';
import { toHubFrame } from './frame-writing.ts';
import { CLOSE } from './frames.ts';
import { InboxFeed, type Wish } from './inbox-feed.ts';

const PAGE = 100;
const PAGE_LENGTH = 1024 * 1024;
/** So many may be out and not acknowledged; the rest waits in the store. */
const MOST_OUT = 1000;
/** As much as may wait in a socket before its reader counts as slow. */
const BUFFER_MOST = 4 * 1024 * 1024;
/** So long an acknowledgement may wait for company; the next report takes all of them with it. */
const ACKS_WAIT_MS = 20;
const MOST_ACKS = 100;
const NOTHING = () => {};
const PLACE = /^h(\d{1,15})$/;

export type ConnectionParts = {
  room: Room;
  wakeups: Wakeups;
  socket: WebSocket;
  /** What the socket writes to. */
  wire: Pick<Duplex, 'cork' | 'uncork'>;
  at: { space: SpaceId; agent: AgentId; link: string; digest: string };
  wish: Wish;
  /** Whether its key still lets it in: one that ended takes nothing more, in either direction (W28). */
  isLetIn(): Promise<boolean>;
  warn(problem: unknown, message: string): void;
};

/** One laptop. What it is sent is durable before, what it says is durable before it is acknowledged (A13). */
export class Connection {
  readonly at: ConnectionParts['at'];
  isAlive = true;
  readonly #parts: ConnectionParts;
  readonly #socket: WebSocket;
  readonly #out = new Set<number>();
  /** Acknowledged, and not yet written: what a crash forgets of it comes again and is recognised by its id. */
  #acked: number[] | null = null;
  #acking: NodeJS.Timeout | null = null;
  #sent = 0;
  #adoptions = 0;
  #joined = false;
  #pulling = false;
  #again = false;
  /** There may be more in the store than was sent. */
  #isHeldBack = false;
  #isCorked = false;
  /** As much as was answered since its reader counts as slow. */
  #unheard = 0;
  #lastLook: Promise<boolean> = Promise.resolve(true);
  readonly #feed: InboxFeed | null;
  #off = NOTHING;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#socket = parts.socket;
    this.at = parts.at;
    this.#feed = this.#feedFor(parts);
    hearInTurn(this.#socket, (data, isBinary) => this.#hear(data, isBinary));
    this.#socket.on('pong', () => {
      this.isAlive = true;
    });
    // The close that follows says what is to be said.
    this.#socket.on('error', () => this.#socket.terminate());
  }

  #feedFor({ room, at, wish }: ConnectionParts): InboxFeed | null {
    if (!wish.events && !wish.resumes) return null;
    const send = (frame: string) => this.send(frame);
    const failed = (problem: unknown) => this.#sendBack(problem, 'events could not be read');
    const isLetIn = () => this.#isLetIn();
    return new InboxFeed({ room, reader: at, wish, send, failed, isLetIn });
  }

  /** Asked before anything is sent or taken. Answers come in the order of the questions, so that frames keep theirs. */
  #isLetIn(): Promise<boolean> {
    const looks = Promise.all([this.#lastLook, this.#parts.isLetIn()]);
    this.#lastLook = looks.then(([before, now]) => before && now);
    return this.#lastLook.then((isLetIn) => {
      if (!isLetIn) this.dismiss();
      return isLetIn;
    });
  }

  /** Says hello once callers find it here, takes over what waits, and then sends what is new. */
  async start(hello: string, replaces: string | null): Promise<void> {
    const { room, wakeups } = this.#parts;
    this.#off = wakeups.on(framesTopic(this.at.space, this.at.agent), (about) => this.#wake(about));
    await join(room, { ...this.at, replaces });
    this.#joined = true;
    // It may have gone while we were writing that it came.
    if (this.isClosed) return leave(room, this.at);
    this.#socket.send(hello);
    this.#pull();
    await this.#feed?.start(wakeups);
  }

  async end(): Promise<void> {
    this.#off();
    this.#feed?.stop();
    await this.#writeAcks().catch((problem: unknown) =>
      this.#parts.warn(problem, 'acknowledgements were lost'),
    );
    if (this.#joined) await leave(this.#parts.room, this.at);
  }

  /** Kept when the socket has closed. */
  get gone(): Promise<void> {
    if (this.#socket.readyState === this.#socket.CLOSED) return Promise.resolve();
    return new Promise((resolve) => this.#socket.once('close', () => resolve()));
  }

  get isClosed(): boolean {
    return this.#socket.readyState !== this.#socket.OPEN;
  }

  /** False when nothing was heard since the last time. */
  beat(): boolean {
    if (!this.isAlive) return false;
    this.isAlive = false;
    this.#socket.ping();
    return true;
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  send(frame: string): void {
    if (this.isClosed) return;
    if (!this.#isCorked) this.#cork();
    this.#socket.send(frame);
  }

  /** To what it has said. Whoever goes on asking and never listens is cut off: the answers would fill our memory. */
  #answer(frame: string): void {
    if (this.#socket.bufferedAmount < BUFFER_MOST) this.#unheard = 0;
    else this.#unheard += frame.length;
    if (this.#unheard > BUFFER_MOST) this.terminate();
    else this.send(frame);
  }

  /** What is sent in one go after a commit leaves in one write. */
  #cork(): void {
    const { wire } = this.#parts;
    this.#isCorked = true;
    wire.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      wire.uncork();
    });
  }

  #wake(about: ReadonlySet<string>): void {
    if (about.has(this.at.link + ADOPTED)) this.#startOver();
    else if (!about.has(this.at.link)) return;
    this.#pull();
  }

  /** Older frames than were sent may be ours now; those that are out are not sent twice. */
  #startOver(): void {
    this.#adoptions++;
    this.#sent = 0;
  }

  #pull(): void {
    if (!this.#joined || this.isClosed) return;
    this.#again = true;
    if (this.#pulling) return;
    this.#pulling = true;
    this.#pullAll().catch((problem: unknown) => this.#sendBack(problem, 'frames could not be read'));
  }

  /** Whoever comes back gets all that was not acknowledged; whoever stayed would wait for it in vain. */
  #sendBack(problem: unknown, message: string): void {
    if (this.isClosed) return;
    this.#parts.warn(problem, message);
    this.close(CLOSE.away, 'the store is away, please reconnect');
  }

  async #pullAll(): Promise<void> {
    try {
      while (this.#again && !this.isClosed) {
        this.#again = false;
        while (!this.#isFull) {
          if (!(await this.#sendPage())) break;
        }
        this.#isHeldBack = this.#isFull;
      }
    } finally {
      // In the same breath as the last look at `#again`: who asks in between would be heard by nobody.
      this.#pulling = false;
    }
  }

  get #isFull(): boolean {
    return this.#out.size >= MOST_OUT || this.#socket.bufferedAmount >= BUFFER_MOST;
  }

  async #sendPage(): Promise<boolean> {
    const { room } = this.#parts;
    const { space, agent, link } = this.at;
    const adoptions = this.#adoptions;
    const frames = await room.store.read(space, async (tx) => {
      const page = await tx.frames.forLink(agent, link, this.#sent, PAGE);
      const texts: { frame: Frame; text: string | null }[] = [];
      let length = 0;
      for (const frame of page) {
        // The rest is read when this is on its way: a hundred messages of a megabyte are too much to hold at once.
        if (length >= PAGE_LENGTH) return { texts, last: texts.at(-1)?.frame.place, isFull: true };
        if (this.#out.has(frame.place)) continue;
        const text = await toHubFrame(room, tx, agent, frame);
        length += text?.length ?? 0;
        texts.push({ frame, text });
      }
      return { texts, last: page.at(-1)?.place, isFull: page.length === PAGE };
    });
    if (frames.texts.length > 0 && !(await this.#isLetIn())) return false;
    if (adoptions === this.#adoptions) this.#sent = frames.last ?? this.#sent;
    for (const { frame, text } of frames.texts) {
      if (text === null) continue;
      this.#out.add(frame.place);
      this.send(text);
    }
    return frames.isFull;
  }

  async #hear(data: Buffer, isBinary: boolean): Promise<void> {
    this.isAlive = true;
    const { room } = this.#parts;
    const frame = isBinary
      ? refuse(null, 'invalid_frame', 'Frames are text; a binary one is not read.')
      : readFrame(room, this.at, data);
    await this.#take(frame).catch((problem: unknown) => this.#sendBack(problem, 'a frame was lost'));
  }

  async #take(frame: AgentFrame): Promise<void> {
    switch (frame.kind) {
      case 'error':
        return this.#refuse(frame.error);
      case 'ping':
        return this.#answer('{"type":"pong"}');
      case 'ack':
        if (await this.#isLetIn()) await this.#acknowledged(frame.id);
        return;
      case 'report': {
        if (!(await this.#isLetIn())) return;
        // In the same commit, because it is handed in in the same turn.
        this.#writeAcksNow();
        // Not awaited before the next one is read: units commit in the order in which they are handed in.
        const outcome = await report(this.#parts.room, frame.report).catch((problem: unknown) => problem);
        if (isFault(outcome) || outcome instanceof Error) this.#failed(frame.id, outcome);
        else this.#answer(JSON.stringify({ type: 'ack', id: frame.id }));
      }
    }
  }

  #failed(id: string, reason: Fault | Error): void {
    const cause = isFault(reason) ? reason.detail.cause : reason;
    if (cause !== undefined) this.#parts.warn(cause, 'a frame could not be kept');
    this.#refuse(toFrameError(id, reason));
  }

  #refuse(error: FrameError): void {
    this.#answer(JSON.stringify(error));
  }

  async #acknowledged(id: string): Promise<void> {
    const place = Number(PLACE.exec(id)?.[1] ?? 0);
    if (place === 0) return void (await this.#feed?.acknowledged(id));
    this.#acked ??= [];
    this.#acked.push(place);
    if (this.#acked.length >= MOST_ACKS) this.#writeAcksNow();
    else this.#acking ??= setTimeout(() => this.#writeAcksNow(), ACKS_WAIT_MS);
  }

  #writeAcksNow(): void {
    void this.#writeAcks().catch((problem: unknown) => this.#sendBack(problem, 'acknowledgements were lost'));
  }

  async #writeAcks(): Promise<void> {
    if (this.#acking !== null) clearTimeout(this.#acking);
    this.#acking = null;
    const places = this.#acked;
    if (places === null) return;
    this.#acked = null;
    const { space, agent } = this.at;
    const { room } = this.#parts;
    const acknowledged = { space, agent, places };
    await (room.intake?.take('acknowledgement', acknowledged) ?? acknowledge(room, acknowledged));
    // Not before they are gone from the store: a page that starts over would find them again.
    for (const place of places) this.#out.delete(place);
    if (this.#isHeldBack) this.#pull();
  }

  /** The key was taken back: whoever holds it must not come again with it. */
  dismiss(): void {
    this.close(CLOSE.unauthorized, 'this key is no longer valid');
  }
}
