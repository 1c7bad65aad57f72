import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Tier } from '../../../core/agents/key.ts';
import { type Fault, isAway, isFault, orThrow } from '../../../core/faults.ts';
import type { AgentId, SpaceId } from '../../../core/ids.ts';
import type { Room } from '../../../core/room.ts';
import type { Topic } from '../../../core/store.ts';
import { framesTopic } from '../../../core/tasks/frames.ts';
import { join, leave, REPLACED } from '../../../core/tasks/presence.ts';
import { type Report, report } from '../../../core/tasks/report.ts';
import { isTerminal } from '../../../core/tasks/task.ts';
import { answerWith, beat, type Hearer, hearInTurn } from '../../../http/sockets/pace.ts';
import type { Wire } from '../../../http/sockets/pulse.ts';
import type { Listener, Wakeups } from '../../../http/waiting/park.ts';
import { FrameFeed, type Line } from './frame-feed.ts';
import { CLOSE } from './frames.ts';
import { InboxFeed, type Wish } from './inbox-feed.ts';
import { type AgentFrame, type FrameError, readFrame, refuse, toFrameError } from './reading.ts';

/** How many bytes may wait in a socket before its reader counts as slow. */
const BUFFER_MOST = 4 * 1024 * 1024;

/** What all connections share. */
export type Surroundings = {
  room: Room;
  wakeups: Wakeups;
  /** Whether the key with this digest is still valid; otherwise nothing more is sent or taken (W28). */
  isActive(digest: string): Promise<boolean>;
  warn(problem: unknown, message: string): void;
};

export type Opened = {
  socket: WebSocket;
  /** The stream that the socket writes to. */
  wire: Wire & Pick<Duplex, 'cork' | 'uncork'>;
  at: { space: SpaceId; agent: AgentId; link: string; tier: Tier; digest: string };
};

/** Before the first look. */
const LET_IN = Promise.resolve(true);

/**
 * The connection of one laptop. What it is sent was committed before, and what it says is committed before it is
 * acknowledged (A13). Thousands of them lie idle, so what only a busy one needs is made when it is needed.
 */
export class Connection implements Line, Listener, Hearer {
  readonly at: Opened['at'];
  readonly #around: Surroundings;
  readonly #socket: WebSocket;
  readonly #wire: Opened['wire'];
  readonly #frames: FrameFeed;
  readonly #inbox: InboxFeed | null;
  #joined = false;
  #isCorked = false;
  /** How many bytes were answered since its reader counts as slow. */
  #unheard = 0;
  #lastLook = LET_IN;
  /** By task, what must be in its log before anything else is. */
  #ahead: Map<string, Promise<void>> | null = null;
  #isSentBack = false;

  constructor(around: Surroundings, { socket, wire, at }: Opened, wish: Wish) {
    this.#around = around;
    this.#socket = socket;
    this.#wire = wire;
    this.at = at;
    this.#frames = new FrameFeed(around.room, at, this);
    this.#inbox = wish.events || wish.resumes ? this.#inboxFor(wish) : null;
    hearInTurn(socket, wire, this);
    socket.on('error', terminate);
  }

  #inboxFor(wish: Wish): InboxFeed {
    const { room } = this.#around;
    const send = (frame: string) => this.send(frame);
    const failed = (problem: unknown) => this.sendBack(problem, 'events could not be read');
    const isLetIn = () => this.isLetIn();
    return new InboxFeed({ room, reader: this.at, wish, send, failed, isLetIn });
  }

  /** Asked before anything is sent or taken. Answers come in the order of the questions, so that frames keep theirs. */
  isLetIn(): Promise<boolean> {
    const looks = Promise.all([this.#lastLook, this.#around.isActive(this.at.digest)]);
    this.#lastLook = looks.then(([before, now]) => before && now);
    return this.#lastLook.then((isLetIn) => {
      if (!isLetIn) this.dismiss();
      return isLetIn;
    });
  }

  /** Whether its key still lets it in; null when the store does not say, which shuts nobody out. */
  async askAgain(): Promise<boolean | null> {
    const isLetIn = await this.#around.isActive(this.at.digest).catch(() => null);
    if (isLetIn === false) this.dismiss();
    return isLetIn;
  }

  /** Says hello once callers can find it here, takes over what waits, and then sends what is new. */
  async start(hello: string, replaces: string | null): Promise<void> {
    const { room, wakeups } = this.#around;
    wakeups.join([this.#topic], this);
    orThrow(await join(room, { ...this.at, replaces }));
    this.#joined = true;
    // It may have closed before we listened, or while we recorded that it came.
    if (this.isClosed) return this.end();
    this.#socket.send(hello);
    this.#frames.start();
    await this.#inbox?.start(wakeups);
  }

  /** A connection that its laptop has replaced would stay on record and be given work until its heartbeat fails. */
  wake(about: ReadonlySet<string>): void {
    if (about.has(this.at.link + REPLACED)) this.terminate();
    else this.#frames.wake(about);
  }

  /**
   * Its lease had run out: work that others took stays theirs, and work that nobody has becomes its own. Not while it
   * is closing.
   */
  async rejoin(): Promise<void> {
    if (this.isClosed) return;
    const refused = await join(this.#around.room, { ...this.at, replaces: null });
    if (refused !== null) this.refuse(refused);
  }

  async end(): Promise<void> {
    this.#around.wakeups.leave([this.#topic], this);
    this.#inbox?.stop();
    await this.#frames
      .writeAcks()
      .catch((problem: unknown) => this.#around.warn(problem, 'acknowledgements were lost'));
    if (this.#joined) await leave(this.#around.room, this.at);
  }

  /** Resolves when the socket has closed. */
  get gone(): Promise<void> {
    if (this.#socket.readyState === this.#socket.CLOSED) return Promise.resolve();
    return new Promise((resolve) => this.#socket.once('close', () => resolve()));
  }

  get #topic(): Topic {
    return framesTopic(this.at.space, this.at.agent);
  }

  get isClosed(): boolean {
    return this.#socket.readyState !== this.#socket.OPEN;
  }

  get isSlow(): boolean {
    return this.#socket.bufferedAmount >= BUFFER_MOST;
  }

  /** False when the laptop has gone, or takes nothing of what is sent to it. */
  beat(): boolean {
    return beat(this.#socket);
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  refuse({ fault, message }: Fault): void {
    this.close(fault === 'rate_limited' ? CLOSE.away : CLOSE.refused, message.slice(0, 120));
  }

  /** The key was revoked: its holder must not come back with it. */
  dismiss(): void {
    this.close(CLOSE.unauthorized, 'this key is no longer valid');
  }

  /** A laptop that reconnects gets all that was not acknowledged; one that stayed would wait for it in vain. */
  sendBack(problem: unknown, message: string): void {
    if (this.isClosed) return;
    this.#around.warn(problem, message);
    this.#sendAway();
  }

  #sendAway(): void {
    this.#isSentBack = true;
    this.close(CLOSE.away, 'the store is away, please reconnect');
  }

  terminate(): void {
    this.#socket.terminate();
  }

  send(frame: string, left?: () => void): void {
    if (this.isClosed) return;
    if (!this.#isCorked) this.#cork();
    this.#socket.send(frame, left);
  }

  /** Frames sent in one turn after a commit leave in one write. */
  #cork(): void {
    this.#isCorked = true;
    this.#wire.cork();
    process.nextTick(() => {
      this.#isCorked = false;
      this.#wire.uncork();
    });
  }

  async hear(data: Buffer, isBinary: boolean): Promise<void> {
    const { room } = this.#around;
    const frame = isBinary
      ? refuse(null, 'invalid_frame', 'Frames are text; a binary one is not read.')
      : readFrame(room, this.at, data);
    await this.#take(frame).catch((problem: unknown) => this.sendBack(problem, 'a frame was lost'));
  }

  async #take(frame: AgentFrame): Promise<void> {
    switch (frame.kind) {
      case 'error':
        return this.#refuse(frame.error);
      case 'ping':
        return this.#answer('{"type":"pong"}');
      case 'ack':
        if (!(await this.isLetIn())) return;
        if (!this.#frames.acknowledged(frame.id)) await this.#inbox?.acknowledged(frame.id);
        return;
      case 'report':
        if (await this.isLetIn()) await this.#report(frame.id, frame.report);
    }
  }

  /**
   * Handed in before the one ahead of it is committed, since units commit in the order in which they are handed in; but
   * not before one that would be missing, should the store refuse it and take this.
   */
  async #report(id: string, said: Report): Promise<void> {
    const { taskId } = said;
    const ahead = this.#ahead?.get(taskId);
    const keeping = ahead === undefined ? this.#keep(id, said) : ahead.then(() => this.#keep(id, said));
    if (!wouldBeMissing(said)) return keeping;
    this.#ahead ??= new Map();
    this.#ahead.set(taskId, keeping);
    await keeping;
    if (this.#ahead.get(taskId) === keeping) this.#ahead.delete(taskId);
    if (this.#ahead.size === 0) this.#ahead = null;
  }

  async #keep(id: string, said: Report): Promise<void> {
    if (this.#isSentBack) return;
    // In the same commit, because it is handed in in the same turn.
    this.#frames.writeAcksNow();
    const outcome = await report(this.#around.room, said).catch((problem: unknown) => problem);
    if (!isFault(outcome) && !(outcome instanceof Error))
      return this.#answer(JSON.stringify({ type: 'ack', id }));
    this.#failed(id, outcome);
    // All that was not acknowledged comes again with the next connection, in order.
    if (takesNothing(outcome)) this.#sendAway();
  }

  #failed(id: string, reason: Fault | Error): void {
    const cause = isFault(reason) ? reason.detail.cause : reason;
    if (cause !== undefined) this.#around.warn(cause, 'a frame could not be kept');
    this.#refuse(toFrameError(id, reason));
  }

  #refuse(error: FrameError): void {
    this.#answer(JSON.stringify(error));
  }

  /** Answers a frame. A laptop that keeps asking and never reads is cut off: the answers would fill our memory. */
  #answer(frame: string): void {
    this.#unheard = this.isSlow ? this.#unheard + frame.length : 0;
    if (this.#unheard > BUFFER_MOST) this.terminate();
    else answerWith(this.#socket, (left) => this.send(frame, left));
  }
}

/** For an error of a socket; the close event that follows handles it. */
function terminate(this: WebSocket): void {
  this.terminate();
}

/** An artifact, or words on the way: a task that went on without them would have lost them. */
function wouldBeMissing(said: Report): boolean {
  if (said.kind !== 'state') return said.kind === 'artifact';
  return said.message !== null && !isTerminal(said.state);
}

/** The store, from whomever; a damaged place in it would send the laptop away for ever. */
function takesNothing(outcome: Fault | Error): boolean {
  return isAway(outcome) || (isFault(outcome) && outcome.fault === 'storage_full');
}
