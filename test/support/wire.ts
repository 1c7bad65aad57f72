import { connect, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { pause } from './until.ts';

type Mode = 'open' | 'cut' | 'closed';
type Pair = { readonly near: Socket; readonly far: Socket };

/**
 * A network that can be broken: a TCP proxy on loopback between somebody and what they talk to. `target` is asked for
 * every connection, so that it can also stand in front of several servers.
 */
export class Wire {
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  readonly #target: () => number | undefined;
  #mode: Mode = 'open';
  #delayMs = 0;

  private constructor(target: () => number | undefined) {
    this.#target = target;
    this.#server = createServer((near) => this.#take(near));
  }

  /** `target` gives a port on loopback; undefined means that nobody is there. */
  static async start(target: () => number | undefined): Promise<Wire> {
    const wire = new Wire(target);
    await new Promise<void>((resolve) => wire.#server.listen(0, '127.0.0.1', resolve));
    onTestFinished(async () => {
      wire.reset();
      await new Promise((resolve) => wire.#server.close(resolve));
    });
    return wire;
  }

  get port(): number {
    const at = this.#server.address();
    return typeof at === 'object' && at !== null ? at.port : 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Nothing passes any more, in either direction, and nobody is told: a pulled cable. */
  cut(): void {
    this.#mode = 'cut';
    for (const { near, far } of this.#pairs) {
      near.pause();
      far.pause();
    }
  }

  /** Connections are ended and new ones refused: a router that says no. */
  close(): void {
    this.#mode = 'closed';
    this.reset();
  }

  /** Everything takes this much longer, in each direction. */
  delay(millis: number): void {
    this.#delayMs = millis;
  }

  /** Ends the open connections; new ones are let through. */
  reset(): void {
    for (const { near, far } of this.#pairs) {
      near.resetAndDestroy();
      far.resetAndDestroy();
    }
    this.#pairs.clear();
  }

  /** The network is whole again. What was held back arrives now, late. */
  mend(): void {
    this.#mode = 'open';
    this.#delayMs = 0;
    for (const { near, far } of this.#pairs) {
      near.resume();
      far.resume();
    }
  }

  #take(near: Socket): void {
    near.on('error', () => {});
    const port = this.#target();
    if (this.#mode === 'closed' || port === undefined) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(port, '127.0.0.1');
    far.on('error', () => near.resetAndDestroy());
    const pair = { near, far };
    this.#pairs.add(pair);
    this.#pass(near, far);
    this.#pass(far, near);
    const end = () => {
      this.#pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    near.on('close', end);
    far.on('close', end);
    if (this.#mode === 'cut') {
      near.pause();
      far.pause();
    }
  }

  /** In order, even if the delay changes meanwhile. */
  #pass(from: Socket, to: Socket): void {
    let before: Promise<void> = Promise.resolve();
    from.on('data', (chunk: Buffer) => {
      const wait = this.#delayMs;
      before = before.then(async () => {
        if (wait > 0) await pause(wait);
        if (!to.destroyed) to.write(chunk);
      });
    });
    from.on('end', () => void before.then(() => to.end()));
  }
}
