import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { until } from './until.ts';

/** A connection on which a test writes what no HTTP client would. */
export class Raw {
  readonly #socket: Socket;
  received = '';
  /** The server has ended the connection, in good order or not. */
  isClosed = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.received += text;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      this.isClosed = true;
    });
    onTestFinished(() => void socket.destroy());
  }

  static async connect(url: string): Promise<Raw> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new Raw(socket);
  }

  /** Resolves when the kernel has it. */
  write(text: string): Promise<void> {
    return new Promise((resolve) => {
      this.#socket.write(text, 'latin1', () => resolve());
    });
  }

  /** The statuses of everything that came back so far. */
  get statuses(): number[] {
    return [...this.received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((m) => Number(m[1]));
  }

  untilClosed(): Promise<true> {
    return until('the connection is closed', () => this.isClosed);
  }

  untilReplied(count = 1): Promise<true> {
    return until(`${count} replies`, () => this.statuses.length >= count || this.isClosed);
  }
}

/** A request as text; headers may be as wrong as the test likes. */
export function requestText(line: string, headers: readonly string[], body = ''): string {
  return `${[line, ...headers].join('\r\n')}\r\n\r\n${body}`;
}
