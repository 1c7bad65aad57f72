import { once } from 'node:events';
import { connect } from 'node:net';

const HEADER_END = Buffer.from('\r\n\r\n');
const LENGTH = /\r\ncontent-length: *(\d+)/i;

/** A request as it goes over the wire, made before any clock starts. */
export function toBytes({ method, path, headers = {}, body = '' }) {
  const lines = Object.entries({ host: '127.0.0.1', ...headers }).map(([name, value]) => `${name}: ${value}`);
  if (body !== '') lines.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Reads status and length of an answer; `missing` counts the bytes of it that have not come yet. */
export function begin(chunk) {
  const end = chunk.indexOf(HEADER_END);
  if (end < 0) return { head: chunk, missing: 1 };
  const head = chunk.latin1Slice(0, end + 2);
  const length = LENGTH.exec(head);
  if (length === null) return { status: 0, size: 0, missing: 0 };
  const size = end + HEADER_END.length + Number(length[1]);
  return { status: Number(head.slice(9, 12)), size, missing: size - chunk.length };
}

export function carryOn(answer, chunk) {
  if (answer.head !== undefined) return begin(Buffer.concat([answer.head, chunk]));
  return { ...answer, missing: answer.missing - chunk.length };
}

/** One connection, one request at a time. An answer is timed at its last byte, before anybody reads it. */
export class Line {
  #socket;

  static async open({ port }) {
    const line = new Line();
    line.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    await once(line.#socket, 'connect');
    // Whoever waits for an answer is told by `close`, which follows.
    line.#socket.on('error', () => {});
    return line;
  }

  exchange(bytes) {
    return new Promise((resolve, reject) => {
      const chunks = [];
      let answer = null;
      const hear = (chunk) => {
        const at = performance.now();
        chunks.push(chunk);
        answer = answer === null ? begin(chunk) : carryOn(answer, chunk);
        if (answer.missing > 0) return;
        this.#socket.off('data', hear).off('close', lost);
        const text = Buffer.concat(chunks).toString();
        resolve({ at, status: answer.status, body: text.slice(text.indexOf('\r\n\r\n') + 4) });
      };
      const lost = () => reject(new Error('the server hung up'));
      this.#socket.on('data', hear).once('close', lost);
      this.#socket.write(bytes);
    });
  }

  close() {
    this.#socket.destroy();
  }
}

/** Time for it to be parked: this measures waking, not arriving. */
const SETTLE_MS = 5;

/** Somebody waits at one server, and something is sent to it or to another: how long until the answer is there. */
export class Waking {
  #waiting;
  #sending;

  static async open(at, to = at) {
    const waking = new Waking();
    waking.#waiting = await Line.open(at);
    waking.#sending = await Line.open(to);
    return waking;
  }

  async once(wait, bytes, expect) {
    const waiting = this.#waiting.exchange(toBytes(wait));
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const sentAt = performance.now();
    const sent = await this.#sending.exchange(bytes);
    if (sent.status !== expect) throw new Error(`answered with ${sent.status}: ${sent.body}`);
    const { at, status, body } = await waiting;
    if (status !== 200) throw new Error(`the waiter was answered with ${status}: ${body}`);
    return { answer: JSON.parse(body), millis: at - sentAt };
  }

  close() {
    this.#waiting.close();
    this.#sending.close();
  }
}
