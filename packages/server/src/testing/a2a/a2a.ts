import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { MadeAgent } from '../../core/agents/found.ts';
import { orThrow } from '../../core/faults.ts';
import { addCallerToken } from '../../core/tasks/callers/callers.ts';
import { type CardData, setCard } from '../../core/tasks/callers/card.ts';
import { EventStream } from '../network/stream.ts';
import { World, type WorldOptions } from '../world.ts';
import { type Answer, Laptop } from './laptop.ts';

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

/** A stream of A2A: every event is JSON. */
export class SseReader extends EventStream<Sse> {
  static async open(reply: Promise<Response>): Promise<SseReader> {
    return new SseReader(await reply, ({ id, data }) => ({ id, data: JSON.parse(data) as Wire }));
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
