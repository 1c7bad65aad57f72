import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { MadeAgent } from '../core/agents/found.ts';
import { orThrow } from '../core/faults.ts';
import { addCallerToken } from '../core/tasks/callers.ts';
import { type CardData, setCard } from '../core/tasks/card.ts';
import { type Answer, Laptop } from './laptop.ts';
import { World, type WorldOptions } from './world.ts';

export type Wire = Record<string, unknown>;
export type RpcAnswer = {
  jsonrpc: string;
  id: unknown;
  result: Wire & { id: string; contextId: string; status: Wire & { state: string; message?: Wire } };
  error: { code: number; message: string; data?: unknown };
};

/** A world for a whole file; `world()` inside its tests. */
export function useWorld(options: WorldOptions = {}): () => World {
  let world: World | undefined;
  beforeAll(async () => {
    world = await World.open(options);
  });
  afterAll(async () => world?.stop());
  return () => {
    if (world === undefined) throw new Error('the world is not there yet');
    return world;
  };
}

let counter = 0;

/** A name that no other test has used. */
export function fresh(prefix = 'm'): string {
  counter += 1;
  return `${prefix}-${process.pid}-${counter}`;
}

/** An agent of its own, so that nothing of another test is in its way. */
export function anAgent(world: World, over: { callbacks?: string[] } = {}): Promise<MadeAgent> {
  return world.addAgent({ id: fresh('agent'), ...over });
}

export async function changeCard(world: World, agent: MadeAgent, change: Partial<CardData>): Promise<void> {
  orThrow(await setCard(world.room, { space: world.space.id, agent: agent.agent.id }, change, 'test'));
}

export async function aCallerToken(world: World, agent: MadeAgent, name = 'a partner'): Promise<string> {
  const made = await addCallerToken(
    world.room,
    { space: world.space.id, agent: agent.agent.id, name },
    'test',
  );
  return orThrow(made).token;
}

export async function aLaptop(world: World, agent: MadeAgent, answer?: Answer): Promise<Laptop> {
  const laptop = await Laptop.connect(world.url, agent.key, answer === undefined ? {} : { answer });
  onTestFinished(() => laptop.vanish());
  return laptop;
}

/** A caller of one agent, in one dialect. */
export class TestCaller {
  readonly path: string;
  readonly #world: World;
  readonly #headers: Record<string, string>;

  constructor(
    world: World,
    agent: MadeAgent,
    options: { version?: '1.0' | '0.3'; key?: string | null; handle?: string } = {},
  ) {
    this.#world = world;
    this.path = `/@${options.handle ?? 'home'}/${agent.agent.id}`;
    const key = options.key === undefined ? agent.key : options.key;
    this.#headers = {
      'content-type': 'application/json',
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...(options.version === undefined ? {} : { 'a2a-version': options.version }),
    };
  }

  post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.#world.url + this.path, {
      method: 'POST',
      headers: { ...this.#headers, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  stream(method: string, params: Wire, headers: Record<string, string> = {}): Promise<Response> {
    return this.post({ jsonrpc: '2.0', id: 1, method, params }, headers);
  }

  async call(method: string, params: unknown, headers: Record<string, string> = {}): Promise<RpcAnswer> {
    const reply = await this.post({ jsonrpc: '2.0', id: 1, method, params }, headers);
    return (await reply.json()) as RpcAnswer;
  }

  rest(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return fetch(`${this.#world.url}${this.path}${path}`, {
      method,
      headers: { ...this.#headers, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }
}

/** The same message in each dialect. */
export function v1Message(text: string, over: Wire = {}): Wire {
  return { message: { messageId: fresh(), role: 'ROLE_USER', parts: [{ text }], ...over } };
}

export function v03Message(text: string, over: Wire = {}): Wire {
  return {
    message: { kind: 'message', messageId: fresh(), role: 'user', parts: [{ kind: 'text', text }], ...over },
  };
}

export function seedMessage(text: string, over: Wire = {}): Wire {
  return { message: { messageId: fresh(), role: 'user', parts: [{ type: 'text', text }], ...over } };
}

export type Sse = { id: string | null; data: Wire };

/** The events of a stream, one at a time. */
export class SseReader {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #buffer = '';

  constructor(reply: Response) {
    const type = reply.headers.get('content-type');
    if (reply.body === null || !type?.startsWith('text/event-stream'))
      throw new Error(`no stream: ${reply.status}`);
    const text = reply.body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, never>);
    this.#reader = text.getReader();
    onTestFinished(() => this.#reader.cancel().catch(() => {}));
  }

  static async open(reply: Promise<Response>): Promise<SseReader> {
    return new SseReader(await reply);
  }

  async next(): Promise<Sse | null> {
    for (;;) {
      const end = this.#buffer.indexOf('\n\n');
      if (end >= 0) {
        const block = this.#buffer.slice(0, end);
        this.#buffer = this.#buffer.slice(end + 2);
        const data = /^data: (.*)$/m.exec(block)?.[1];
        if (data === undefined) continue;
        return { id: /^id: (.*)$/m.exec(block)?.[1] ?? null, data: JSON.parse(data) as Wire };
      }
      const { value, done } = await this.#reader.read();
      if (done) return null;
      this.#buffer += value;
    }
  }

  async rest(): Promise<Sse[]> {
    const events: Sse[] = [];
    for (let event = await this.next(); event !== null; event = await this.next()) events.push(event);
    return events;
  }

  /** As when a caller goes away in the middle. */
  leave(): Promise<void> {
    return this.#reader.cancel();
  }
}

/** An agent with a caller of each kind: one that names no version, and one that insists on its own. */
export async function aStage(world: World) {
  const agent = await anAgent(world);
  return {
    agent,
    v03: new TestCaller(world, agent),
    strict: new TestCaller(world, agent, { version: '0.3' }),
    v1: new TestCaller(world, agent, { version: '1.0' }),
  };
}
