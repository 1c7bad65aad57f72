import { WebSocket } from 'ws';

export type HubFrame = Record<string, unknown> & { type: string; id?: string; taskId?: string };

type Wait = { wanted: (frame: HubFrame) => boolean; resolve: (frame: HubFrame) => void };

/** The agent's side of `GET /a2a/connect`, driven by a test: it does exactly what it is told, and nothing by itself. */
export class Laptop {
  readonly frames: HubFrame[] = [];
  /** Everything that came, as it came. */
  readonly texts: string[] = [];
  /** What the hub calls this connection. */
  link = '';
  /** How many of the hub's beats it has answered. */
  beats = 0;
  readonly #socket: WebSocket;
  readonly #waits = new Set<Wait>();
  #next = 0;
  readonly closed: Promise<{ code: number; reason: string }>;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
    });
    socket.on('message', (data) => {
      this.texts.push(String(data));
      this.#hear(JSON.parse(String(data)) as HubFrame);
    });
    socket.on('ping', () => this.beats++);
    socket.on('error', () => {});
  }

  static async connect(
    url: string,
    key: string,
    options: { query?: string; protocols?: string[]; answer?: Answer } = {},
  ): Promise<Laptop> {
    const address = `${url.replace(/^http/, 'ws')}/a2a/connect${options.query ?? ''}`;
    const socket = new WebSocket(address, options.protocols ?? ['lantern.v1'], {
      headers: { authorization: `Bearer ${key}` },
    });
    const laptop = new Laptop(socket);
    if (options.answer !== undefined) laptop.answerWith(options.answer);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', () => resolve());
      socket.once('error', reject);
    });
    laptop.link = String((await laptop.ofType('hello')).connectionId);
    return laptop;
  }

  /** The first frame so far, or still to come, that is wanted and was not taken before. */
  next(wanted: (frame: HubFrame) => boolean): Promise<HubFrame> {
    const at = this.frames.findIndex(wanted);
    if (at >= 0) return Promise.resolve(this.frames.splice(at, 1)[0] as HubFrame);
    return new Promise((resolve) => this.#waits.add({ wanted, resolve }));
  }

  ofType(type: string): Promise<HubFrame> {
    return this.next((frame) => frame.type === type);
  }

  /** Sends a frame and waits for what the hub says to it: an ack or an error. */
  async say(frame: Record<string, unknown>): Promise<HubFrame> {
    const id = (frame.id as string | undefined) ?? `a${++this.#next}-${Math.random().toString(36).slice(2)}`;
    this.raw(JSON.stringify({ ...frame, id }));
    return this.next((f) => (f.type === 'ack' || f.type === 'error') && f.id === id);
  }

  ack(frame: HubFrame): void {
    this.raw(JSON.stringify({ type: 'ack', id: frame.id }));
  }

  /** From now on acknowledges every task and message, and answers it. */
  answerWith(answer: Answer): void {
    const isWork = (frame: HubFrame) => ['task', 'message', 'decision', 'cancel'].includes(frame.type);
    void this.next(isWork).then((frame) => {
      this.ack(frame);
      this.answerWith(answer);
      return answer(frame, this);
    });
  }

  /** Resolves when the hub has read all that was sent before. */
  async isHeard(): Promise<void> {
    this.raw('{"type":"ping"}');
    await this.ofType('pong');
  }

  raw(data: string | Buffer): void {
    this.#socket.send(data);
  }

  /** As when the cable is cut: nothing is read or answered any more, and nobody is told. */
  freeze(): void {
    this.#socket.pause();
  }

  /** As when the lid is shut: nobody says goodbye. */
  vanish(): void {
    this.#socket.terminate();
  }

  async close(): Promise<void> {
    this.#socket.close();
    await this.closed;
  }

  #hear(frame: HubFrame): void {
    for (const wait of this.#waits) {
      if (!wait.wanted(frame)) continue;
      this.#waits.delete(wait);
      wait.resolve(frame);
      return;
    }
    this.frames.push(frame);
  }
}

export type Answer = (frame: HubFrame, laptop: Laptop) => Promise<unknown> | unknown;

/** Completes everything with the same words. */
export const completing =
  (text = 'Done.'): Answer =>
  ({ type, taskId }, laptop) =>
    type === 'cancel' ? undefined : laptop.say({ type: 'completed', taskId, text });
