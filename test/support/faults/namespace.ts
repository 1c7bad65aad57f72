import { execFileSync } from 'node:child_process';
import { connect, createServer, type Server as NetServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { freePort } from '../../../scripts/free-port.mjs';
import { Child } from '../command.ts';
import { inRepo } from '../folder.ts';
import { until } from '../until.ts';

const FORWARD = inRepo('test/support/faults/forward.mjs');
let made = 0;

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}

/** Whether this system lets us make network namespaces: Linux, root, and the command `ip`. */
export function mayMakeNamespaces(): boolean {
  const name = `lr-try-${process.pid}`;
  try {
    ip('netns', 'add', name);
    ip('netns', 'del', name);
    return true;
  } catch {
    return false;
  }
}

/**
 * A network of its own for one replica, with one cable to ours. The replica believes that everything is on its
 * loopback, as it does without: what it listens to and what it talks to are passed on over the cable.
 */
export class Namespace {
  readonly name: string;
  /** Where the replica listens, inside and outside. */
  readonly port: number;
  /** The end of the cable that is inside. */
  readonly #inner: string;

  private constructor(name: string, port: number, inner: string) {
    this.name = name;
    this.port = port;
    this.#inner = inner;
  }

  /** `outside` are the ports on our loopback that the replica must reach. */
  static async make(outside: readonly number[]): Promise<Namespace> {
    made += 1;
    const id = `${process.pid % 10_000}x${made}`;
    const [name, cable, inner] = [`lr-${id}`, `lro${id}`, `lri${id}`];
    // Set apart for tests of networks (RFC 2544). What finds no cable ends here: it must never leave by the default route.
    const net = `198.18.${made % 250}`;
    ip('route', 'add', 'blackhole', `${net}.0/30`, 'metric', '4000');
    onTestFinished(() => ip('route', 'del', 'blackhole', `${net}.0/30`, 'metric', '4000'));
    ip('netns', 'add', name);
    onTestFinished(() => ip('netns', 'del', name));
    ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', inner, 'netns', name);
    ip('addr', 'add', `${net}.1/30`, 'dev', cable);
    ip('link', 'set', cable, 'up');
    ip('-n', name, 'addr', 'add', `${net}.2/30`, 'dev', inner);
    ip('-n', name, 'link', 'set', inner, 'up');
    ip('-n', name, 'link', 'set', 'lo', 'up');
    const port = await freePort();
    await passOn({ host: '127.0.0.1', port }, { host: `${net}.2`, port });
    for (const one of outside)
      await passOn({ host: `${net}.1`, port: one }, { host: '127.0.0.1', port: one });
    const told = [
      `${net}.2:${port}=127.0.0.1:${port}`,
      ...outside.map((one) => `127.0.0.1:${one}=${net}.1:${one}`),
    ];
    const namespace = new Namespace(name, port, inner);
    const inside = new Child([...namespace.under, process.execPath, FORWARD, ...told]);
    await until(
      'the namespace passes connections on',
      () => inside.stdout.split('passes on').length > told.length,
    );
    return namespace;
  }

  /** What a program must be started with to be inside. */
  get under(): readonly string[] {
    return ['ip', 'netns', 'exec', this.name];
  }

  /** The cable is pulled on the inside: packets in both directions are gone, and nobody is told. */
  cut(): void {
    ip('-n', this.name, 'link', 'set', this.#inner, 'down');
  }

  mend(): void {
    ip('-n', this.name, 'link', 'set', this.#inner, 'up');
  }
}

type Place = { host: string; port: number };

async function passOn(here: Place, there: Place): Promise<void> {
  const open = new Set<Socket>();
  const server: NetServer = createServer((near) => {
    const far = connect(there.port, there.host);
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => open.delete(socket));
    }
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(here.port, here.host, resolve);
  });
  onTestFinished(async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
}
