import type { Postgres } from '../../../scripts/postgres.mjs';
import { WEBHOOK_SECRET } from '../akep.ts';
import { Checker } from '../checker/checker.ts';
import type { Tally } from '../checker/tally.ts';
import { type Environment, lanternroom } from '../command.ts';
import { Desk } from '../desk.ts';
import type { Seeded } from '../random.ts';
import { Server, type ServerOptions } from '../server.ts';
import { given } from '../until.ts';
import { Wire } from '../wire.ts';
import { Namespace } from './namespace.ts';

/** The network between one replica and its databases. */
export type Cable = { readonly toPrimary: Wire; readonly toStandby: Wire };

export type Databases = { readonly primary: Postgres; readonly standby: Postgres; readonly name: string };

export type SiteOptions = {
  random: Seeded;
  /** Left out: one server on SQLite. */
  databases?: Databases | null;
  replicas?: number;
  /** Each replica in a network namespace of its own; only where the system allows. */
  isolated?: boolean;
  /** Where several sites are counted together. */
  tally?: Tally;
};

/** What a fault strikes: servers that share a store, the clients at their doors, and the network in between. */
export class Site {
  readonly checker: Checker;
  readonly random: Seeded;
  readonly servers: Server[];
  /** Leads to any server that answers, as a balancer does. */
  readonly front: Wire;
  /** Null on SQLite. */
  readonly databases: Databases | null;
  readonly cables: readonly Cable[];
  /** One for each replica, where they have a network of their own. */
  readonly namespaces: readonly Namespace[];
  /** Servers that the balancer knows it cannot reach. */
  readonly away: Set<string>;
  isFailedOver = false;
  readonly #env: Environment;

  private constructor(parts: {
    checker: Checker;
    random: Seeded;
    servers: Server[];
    front: Wire;
    databases: Databases | null;
    cables: readonly Cable[];
    namespaces: readonly Namespace[];
    away: Set<string>;
    env: Environment;
  }) {
    this.checker = parts.checker;
    this.random = parts.random;
    this.servers = parts.servers;
    this.front = parts.front;
    this.databases = parts.databases;
    this.cables = parts.cables;
    this.namespaces = parts.namespaces;
    this.away = parts.away;
    this.#env = parts.env;
  }

  static async open(options: SiteOptions): Promise<Site> {
    const { random, databases = null, replicas = 1, isolated = false, tally } = options;
    const prepared = await Checker.prepare(tally);
    const env = {
      LANTERNROOM_UNDO_SECONDS: '1',
      LANTERNROOM_LOG: 'warn',
      LANTERNROOM_RATE_PRODUCER: '0',
      AKEP_WEBHOOK_SECRET: WEBHOOK_SECRET,
      LANTERNROOM_INIT_CALLBACKS: prepared.receiver.address,
      LANTERNROOM_SECRET: 'one master key for all of the replicas',
    };
    const cables =
      databases === null ? [] : await Promise.all(Array.from({ length: replicas }, () => cableTo(databases)));
    const receiver = Number(new URL(prepared.receiver.address).port);
    const namespaces = isolated
      ? await Promise.all(cables.map((cable) => Namespace.make([...portsOf(cable), receiver])))
      : [];
    const servers: Server[] =
      databases === null
        ? [await Server.start({ env })]
        : await Promise.all(
            cables.map((cable, at) =>
              Server.start({ env: { ...env, ...through(cable, databases) }, ...inside(namespaces[at]) }),
            ),
          );
    let turn = 0;
    const away = new Set<string>();
    const front = await Wire.start(() => {
      const living = servers.filter((server) => !server.child.hasEnded && !away.has(server.url));
      turn += 1;
      const server = living[turn % Math.max(living.length, 1)];
      return server === undefined ? undefined : Number(new URL(server.url).port);
    });
    const first = given(servers[0], 'server');
    const cable = cables[0];
    const direct = databases === null || cable === undefined ? {} : through(cable, databases);
    const { person, foreignKey } = await invite(first, { ...env, ...direct });
    const checker = new Checker({
      ...prepared,
      random,
      urls: servers.map(({ url }) => url),
      front: front.url,
      people: [await first.desk(), await Desk.login(first.url, person)],
      foreignKey,
      slowness: Math.max(...servers.map(({ slowness }) => slowness)),
    });
    return new Site({ checker, random, servers, front, databases, cables, namespaces, away, env });
  }

  /** Any of the servers that clients are led to. */
  pick(): number {
    const url = this.random.pick(this.checker.life.doors.urls);
    return this.servers.findIndex((server) => server.url === url);
  }

  server(at: number): Server {
    return given(this.servers[at], `server ${at}`);
  }

  /** Starts it again where it was, after a stop or a kill. */
  async revive(at: number, more: Environment = {}): Promise<void> {
    const { folder, url } = this.server(at);
    const cable = this.cables[at];
    const database = this.databases === null || cable === undefined ? {} : through(cable, this.databases);
    this.servers[at] = await Server.start({
      folder,
      env: { ...this.#env, ...database, ...more },
      ...inside(this.namespaces[at]),
      args: ['--port', new URL(url).port],
    });
  }

  /** Everything in good order, as at the end of a day. */
  async close(): Promise<void> {
    await this.checker.laptop.stop({ withinMs: 5000 });
    for (const server of this.servers) {
      const { code, stderr } = await server.terminate();
      if (code !== 0) throw new Error(`a server ended with ${code}: ${stderr}`);
    }
  }

  /** Clients are led past this one while it is known to be away, as a balancer's health check does. */
  async without(at: number, work: () => Promise<void>): Promise<void> {
    const { doors } = this.checker.life;
    const { url } = this.server(at);
    const { urls } = doors;
    doors.urls = urls.length > 1 ? urls.filter((one) => one !== url) : urls;
    try {
      await work();
    } finally {
      doors.urls = urls;
    }
  }

  /** The database that takes writes now. */
  get leader(): Postgres {
    const { primary, standby } = given(this.databases, 'PostgreSQL here');
    return this.isFailedOver ? standby : primary;
  }
}

const portsOf = ({ toPrimary, toStandby }: Cable) => [toPrimary.port, toStandby.port];

function inside(namespace: Namespace | undefined): Pick<ServerOptions, 'under' | 'args'> {
  return namespace === undefined ? {} : { under: namespace.under, args: ['--port', String(namespace.port)] };
}

async function cableTo({ primary, standby }: Databases): Promise<Cable> {
  return {
    toPrimary: await Wire.start(() => primary.port),
    toStandby: await Wire.start(() => standby.port),
  };
}

/** Both hosts in one address: the server finds the one that takes writes. */
function through({ toPrimary, toStandby }: Cable, { name }: Databases): Environment {
  const hosts = [toPrimary, toStandby].map(({ port }) => `127.0.0.1:${port}`).join(',');
  return { DATABASE_URL: `postgres://lanternroom@${hosts}/${name}` };
}

/** A second person for this space, and another space with an agent that has nothing to look for here. */
async function invite(
  { folder }: Server,
  env: Environment,
): Promise<{ person: { email: string; password: string }; foreignKey: string }> {
  const person = { email: 'second@example.com', password: 'another horse battery' };
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await lanternroom([...args, '--json', '--data', folder], env);
    if (code !== 0) throw new Error(`lanternroom ${args.join(' ')} failed: ${stderr}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  await run('person', 'add', person.email, '--password', person.password, '--space', 'home');
  await run('space', 'add', 'elsewhere');
  const agent = await run('agent', 'add', 'stranger', '--space', 'elsewhere');
  return { person, foreignKey: String(agent.key) };
}
