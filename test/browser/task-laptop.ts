import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { AtEnd } from '../support/folder.ts';
import { AGENT, type Server } from '../support/server.ts';

type Frame = { type: string; id?: string; code?: string; message?: string };

/** A dot, padded so that it is kept beside the log as larger files are. */
export const PICTURE = Buffer.concat([
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
    'base64',
  ),
  Buffer.alloc(5000),
]).toString('base64');

/** The agent's side of the connection, doing what a test says. */
export class TaskLaptop {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<string, (frame: Frame) => void>();

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as Frame;
      if (frame.type === 'ack' || frame.type === 'error') this.#waiting.get(frame.id ?? '')?.(frame);
      else if (frame.id !== undefined) socket.send(JSON.stringify({ type: 'ack', id: frame.id }));
    });
  }

  static async connect(
    server: Server,
    key: string = AGENT.key,
    atEnd: AtEnd = onTestFinished,
  ): Promise<TaskLaptop> {
    const socket = new WebSocket(`${server.url.replace('http', 'ws')}/a2a/connect`, ['lantern.v1'], {
      headers: { authorization: `Bearer ${key}` },
    });
    atEnd(() => socket.terminate());
    const laptop = new TaskLaptop(socket);
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    return laptop;
  }

  /** Kept when the hub has it; a frame that is refused fails the test. */
  async say(frame: Record<string, unknown>): Promise<void> {
    const id = randomUUID();
    const answered = new Promise<Frame>((resolve) => this.#waiting.set(id, resolve));
    this.#socket.send(JSON.stringify({ ...frame, id }));
    const { type, code, message } = await answered;
    if (type === 'error') throw new Error(`the hub refused ${String(frame.type)}: ${code} ${message}`);
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.once('close', resolve));
    this.#socket.close();
    await closed;
  }
}

/** A message from the agent to itself, which any caller could send; the task's id. */
export async function askAgent(server: Server, text: string, agent = AGENT): Promise<string> {
  const message = { kind: 'message', messageId: randomUUID(), role: 'user', parts: [{ kind: 'text', text }] };
  const params = { message, configuration: { blocking: false } };
  const reply = await fetch(`${server.url}/@home/${agent.id}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${agent.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params }),
  });
  const { result } = (await reply.json()) as { result: { id: string } };
  return result.id;
}
