import { afterAll, beforeAll, beforeEach, onTestFailed } from 'vitest';
import { freePort } from '../../scripts/free-port.mjs';
import { Child, type Ended, type Environment, LANTERNROOM, node } from './command.ts';
import { Desk } from './desk.ts';
import { type AtEnd, temporaryFolder } from './folder.ts';
import { given, until } from './until.ts';
import { WakeClient } from './wake.ts';

/** What a headless first start is given; every test's server has this owner and this agent. */
export const OWNER = { email: 'owner@example.com', password: 'correct horse battery' };
export const AGENT = { id: 'agent-01', key: 'wk_test_0123456789abcdefghijklmnopqrstuv' };
export const CALLBACK_SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZmdoaWprbG1ub3BxcnN0dXY';

const INIT: Environment = {
  LANTERNROOM_INIT_HANDLE: 'home',
  LANTERNROOM_INIT_EMAIL: OWNER.email,
  LANTERNROOM_INIT_PASSWORD: OWNER.password,
  LANTERNROOM_INIT_AGENT: AGENT.id,
  LANTERNROOM_INIT_AGENT_KEY: AGENT.key,
  LANTERNROOM_INIT_CALLBACK_SECRET: CALLBACK_SECRET,
  LANTERNROOM_RATE_TEST: '1000000/100000',
};

const CALM_START_MS = 2_000;

export type ServerOptions = {
  folder?: string;
  /** Over the headless first start; undefined takes one of its settings away. */
  env?: Environment;
  args?: readonly string[];
  /** A program that becomes the server, such as `strace -D` or `unshare`. */
  under?: readonly string[];
  /** When it is stopped and its folder goes; with the test, unless it is shared. */
  atEnd?: AtEnd;
};

/** The built server as a process of its own, on a free port. */
export class Server {
  readonly folder: string;
  readonly url: string;
  readonly child: Child;
  /** How many times as long as on a calm machine the start took: a promise of seconds is held to that many more. */
  readonly slowness: number;
  readonly #options: ServerOptions;
  #desk: Promise<Desk> | undefined;

  private constructor(
    parts: Pick<Server, 'folder' | 'url' | 'child' | 'slowness'> & { options: ServerOptions },
  ) {
    this.folder = parts.folder;
    this.url = parts.url;
    this.child = parts.child;
    this.slowness = parts.slowness;
    this.#options = parts.options;
  }

  static async start(options: ServerOptions = {}): Promise<Server> {
    const folder = options.folder ?? temporaryFolder(options.atEnd);
    const args = ['--port', String(await freePort()), ...(options.args ?? [])];
    const began = performance.now();
    const child = launch({ ...options, folder, args });
    if (options.atEnd === undefined) onTestFailed(() => show(child));
    const url = await until('the server says where it is', () => address(child));
    await until('the server is ready', () => isReady(url, child));
    const slowness = Math.max(1, (performance.now() - began) / CALM_START_MS);
    return new Server({ folder, url, child, slowness, options });
  }

  /** Starts again on the same data, after a stop or a kill. */
  restart(env: Environment = {}): Promise<Server> {
    const options = { ...this.#options, env: { ...this.#options.env, ...env } };
    return Server.start({ ...options, folder: this.folder });
  }

  get pid(): number {
    return given(this.child.process.pid, 'process');
  }

  wake(key: string = AGENT.key): WakeClient {
    return new WakeClient(this.url, key);
  }

  /** The owner's session, the same for all who ask: a password costs more than most of what is asked then. */
  desk(): Promise<Desk> {
    this.#desk ??= Desk.login(this.url, OWNER);
    return this.#desk;
  }

  /** kill -9: nothing is finished, nothing is flushed. */
  async kill(): Promise<void> {
    this.child.process.kill('SIGKILL');
    await this.child.ended;
  }

  /** SIGTERM, and how it ended. */
  terminate(): Promise<Ended> {
    this.child.process.kill('SIGTERM');
    return this.child.ended;
  }
}

/** A start that nobody waits for: for servers that are expected to refuse. */
export function launch({ folder, env = {}, args = [], under = [], atEnd }: ServerOptions): Child {
  const data = folder === undefined ? [] : ['--data', folder];
  const argv = [...under, ...node(LANTERNROOM, ['serve', '--port', '0', ...data, ...args])];
  return new Child(argv, { ...INIT, ...env }, atEnd === undefined ? {} : { atEnd });
}

/**
 * One server for a file of tests, since a start takes longer than most of them. For tests that need no empty desk:
 * each takes an agent of its own with `newAgent`.
 */
export function sharedServer(
  options: ServerOptions = {},
  furnish: (server: Server, atEnd: AtEnd) => Promise<void> = async () => {},
): () => Server {
  const ends: Parameters<AtEnd>[0][] = [];
  let server: Server | undefined;
  beforeAll(async () => {
    const atEnd: AtEnd = (work) => void ends.push(work);
    server = await Server.start({ ...options, atEnd });
    await furnish(server, atEnd);
  });
  beforeEach(() => onTestFailed(() => show(given(server, 'server').child)));
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  return () => given(server, 'server');
}

export type TestAgent = { id: string; key: string };

let made = 0;

/** An agent that nobody else has heard of. */
export async function newAgent(desk: Desk): Promise<TestAgent> {
  const id = `agent-of-test-${++made}`;
  const wanted = { agent_id: id, tier: 'test' };
  const { status, text, json } = await desk.request<{ key: string }>('POST', '/desk/agents', wanted);
  if (status >= 300) throw new Error(`the agent was refused: ${status} ${text}`);
  return { id, key: json.key };
}

/** For reading after a test has failed. */
export function show(child: Child): void {
  process.stderr.write(`What the server said:\n${child.stderr}${child.stdout}\n`);
}

function address(child: Child): string | undefined {
  const url = /^Lanternroom is at (\S+)$/m.exec(child.stdout)?.[1];
  if (url === undefined && child.hasEnded)
    throw new Error(`the server ended: ${child.stderr}${child.stdout}`);
  return url;
}

async function isReady(url: string, child: Child): Promise<boolean> {
  if (child.hasEnded) throw new Error(`the server ended: ${child.stderr}${child.stdout}`);
  const reply = await fetch(`${url}/readyz`).catch(() => null);
  return reply?.status === 200;
}
