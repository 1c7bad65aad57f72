import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, readConfig } from '../config.ts';
import { addAgent, foundSpace, type MadeAgent, type NewAgent } from '../core/agents/found.ts';
import { orThrow } from '../core/faults.ts';
import { addToken } from '../core/people/login/tokens.ts';
import { addPerson } from '../core/people/membership/add-person.ts';
import type { Person, Role } from '../core/people/person.ts';
import type { Space } from '../core/store.ts';
import type { Clock, Micros } from '../core/time.ts';
import type { Outbound } from '../dispatch/outbound/outbound.ts';
import { type Ground, openGround, type Running, startServer } from '../main.ts';
import { DATABASE_FILE } from '../storage/folder/data-folder.ts';
import { Database } from '../storage/sqlite/driver.ts';
import { freshDatabase, onDatabase, type TestDatabase } from './postgres/postgres.ts';
import { layStore, rememberingHashes } from './stores/ready-made.ts';

/** A clock that stands still until it is turned. */
export class ManualClock implements Clock {
  #now: Micros;

  constructor(start: Micros = Date.UTC(2026, 10, 15, 9, 0, 0) * 1000) {
    this.#now = start;
  }

  now(): Micros {
    return this.#now;
  }

  turn(micros: Micros): void {
    this.#now += micros;
  }
}

export function temporaryFolder(): string {
  return mkdtempSync(join(place(), 'lanternroom-'));
}

const MEMORY = '/dev/shm';
const ENOUGH = 2 ** 31;

/** In memory where there is plenty of it: nothing here asks what a disk keeps, and waiting for one took a third of the time. */
function place(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ENOUGH ? MEMORY : tmpdir();
  } catch {
    return tmpdir(); // not Linux
  }
}

export type WorldOptions = {
  /** The environment the server is started with, beside port 0 and a folder of its own. */
  env?: Record<string, string>;
  /** Real time when left out; held decisions and snoozes then pass by themselves. */
  clock?: ManualClock;
  /** Replaces the real way out; called again at every start. */
  outbound?: () => Outbound;
};

type Parts = Pick<
  World,
  'options' | 'folder' | 'database' | 'config' | 'clock' | 'running' | 'space' | 'agent' | 'owner' | 'token'
>;

/** A real server on a real store in a folder of its own, with one space, one agent and one owner in it. */
export class World {
  readonly options: WorldOptions;
  readonly folder: string;
  /** Null when everything is in the folder. */
  readonly database: TestDatabase | null;
  readonly config: Config;
  readonly clock: ManualClock | undefined;
  running: Running;
  readonly space: Space;
  readonly agent: MadeAgent;
  readonly owner: Person;
  /** The owner's token for scripts. */
  readonly token: string;

  private constructor(parts: Parts) {
    this.options = parts.options;
    this.folder = parts.folder;
    this.database = parts.database;
    this.config = parts.config;
    this.clock = parts.clock;
    this.running = parts.running;
    this.space = parts.space;
    this.agent = parts.agent;
    this.owner = parts.owner;
    this.token = parts.token;
  }

  static async open(options: WorldOptions = {}): Promise<World> {
    const folder = temporaryFolder();
    const database = process.env.LANTERNROOM_TEST_STORE === 'postgres' ? await freshDatabase() : null;
    const env = {
      LANTERNROOM_LOG: 'silent',
      LANTERNROOM_RATE_TEST: '100000/10000',
      ...(database && { DATABASE_URL: database.url }),
      ...options.env,
    };
    const config = readConfig({ flags: { port: '0', data: folder }, env });
    if (config.databaseUrl === null) await layStore(folder);
    const ground = await openGround(config, options.clock);
    const room = { ...ground.room, passwords: rememberingHashes(ground.room.passwords) };
    const space = orThrow(await foundSpace(room, 'home', 'test'));
    const agent = orThrow(await addAgent(room, { space: space.id, id: 'agent-01', tier: 'test' }, 'test'));
    // Tests say themselves who takes which events.
    await room.store.write(space.id, ['subscriptions'], async (tx) => {
      for (const { id } of await tx.subscriptions.all()) await tx.subscriptions.delete(id);
    });
    const wanted = {
      space: space.id,
      email: 'owner@example.com',
      name: 'Olga Owner',
      role: 'owner' as const,
      password: 'correct horse battery',
    };
    const owner = orThrow(await addPerson(room, wanted, 'test'));
    const { token } = orThrow(await addToken(room, owner, 'test'));
    const running = await startServer(config, ground, toParts(options));
    const { clock } = options;
    return new World({ options, folder, database, config, clock, running, space, agent, owner, token });
  }

  get url(): string {
    return this.running.url;
  }

  get room(): Ground['room'] {
    return this.running.ground.room;
  }

  /** As an agent, with the first agent's key unless another is given. */
  get(path: string, key: string = this.agent.key, headers: Record<string, string> = {}): Promise<Response> {
    return fetch(this.url + path, { headers: { authorization: `Bearer ${key}`, ...headers } });
  }

  post(
    path: string,
    body: unknown,
    key: string = this.agent.key,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return fetch(this.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  /** As the owner, through the desk's API. */
  desk(method: string, path: string, body?: unknown, token: string = this.token): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    return fetch(this.url + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  /** A delivery that is fine; `over` changes or adds fields. Returns its id. */
  async deliver(over: Record<string, unknown> = {}, key: string = this.agent.key): Promise<string> {
    const reply = await this.post(
      '/wake/v1/deliver',
      { ...sampleDelivery(this.agent.agent.id), ...over },
      key,
    );
    const body = (await reply.json()) as { delivery_id: string };
    if (!reply.ok) throw new Error(`the delivery was refused: ${reply.status} ${JSON.stringify(body)}`);
    return body.delivery_id;
  }

  /** Decides as the owner, with the hash of what is there. */
  async decide(id: string, answer: Record<string, unknown>, token: string = this.token): Promise<Response> {
    const detail = (await (await this.desk('GET', `/desk/deliveries/${id}`, undefined, token)).json()) as {
      content_sha256: string;
    };
    return this.desk(
      'POST',
      `/desk/deliveries/${id}/decision`,
      { content_sha256: detail.content_sha256, ...answer },
      token,
    );
  }

  async addAgent(wanted: Partial<NewAgent> & { id: string }): Promise<MadeAgent> {
    return orThrow(await addAgent(this.room, { space: this.space.id, tier: 'test', ...wanted }, 'test'));
  }

  async addPerson(
    email: string,
    role: Role,
    space: Space = this.space,
  ): Promise<{ person: Person; token: string }> {
    const wanted = { space: space.id, email, name: null, role, password: 'correct horse battery' };
    const room = { ...this.room, passwords: rememberingHashes(this.room.passwords) };
    const person = orThrow(await addPerson(room, wanted, 'test'));
    return { person, token: orThrow(await addToken(this.room, person, 'test')).token };
  }

  async addSpace(handle: string): Promise<Space> {
    return orThrow(await foundSpace(this.room, handle, 'test'));
  }

  /** Turns the manual clock and lets what is due happen. */
  async tick(micros: Micros): Promise<void> {
    if (this.clock === undefined) throw new Error('this world runs on real time');
    this.clock.turn(micros);
    await this.running.ticker.tick();
  }

  /** Runs SQL behind the server's back, on either database; `?` stands for a value. */
  async sql(text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
    if (this.database !== null) {
      let place = 0;
      return onDatabase(
        this.database.url,
        text.replaceAll('?', () => `$${++place}`),
        values,
      );
    }
    const db = new Database(join(this.folder, DATABASE_FILE));
    try {
      return db.prepare(text).all(...values) as Record<string, unknown>[];
    } finally {
      db.close();
    }
  }

  /** Stops and starts on the same data, as a restart does; `meanwhile` is what happens while nobody is there. */
  async restart(meanwhile: () => void = () => {}): Promise<void> {
    await this.running.stop();
    meanwhile();
    const ground = await openGround(this.config, this.clock);
    this.running = await startServer(this.config, ground, toParts(this.options));
  }

  async stop(): Promise<void> {
    await this.running.stop();
    await this.database?.drop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function toParts({ outbound }: WorldOptions): { outbound?: Outbound } {
  return outbound === undefined ? {} : { outbound: outbound() };
}

export function sampleDelivery(agentId: string): Record<string, unknown> {
  return {
    agent_id: agentId,
    provider: 'claude',
    type: 'question',
    headline: 'May I send the newsletter?',
    summary: 'The draft is ready and goes to 1200 readers.',
    details: { draft: 'Dear readers', readers: 1200 },
    timeout_seconds: 3600,
  };
}
