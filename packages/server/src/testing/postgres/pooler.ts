import { connect, createServer, type Socket } from 'node:net';

/** The frames of the protocol: a letter, a length, a body. The very first one of a client has no letter. */
class Frames {
  #rest = Buffer.alloc(0);
  #isFirst: boolean;

  constructor(isFirst: boolean) {
    this.#isFirst = isFirst;
  }

  push(chunk: Buffer): Buffer[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const found: Buffer[] = [];
    for (;;) {
      const letter = this.#isFirst ? 0 : 1;
      if (this.#rest.length < letter + 4) return found;
      const length = letter + this.#rest.readInt32BE(letter);
      if (this.#rest.length < length) return found;
      found.push(this.#rest.subarray(0, length));
      this.#rest = this.#rest.subarray(length);
      this.#isFirst = false;
    }
  }
}

const frame = (letter: string, body: Buffer): Buffer => {
  const head = Buffer.alloc(5);
  head.write(letter);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};

const letterOf = (one: Buffer) => String.fromCharCode(one[0] ?? 0);
const AUTHENTICATED = frame('R', Buffer.from([0, 0, 0, 0]));
const READY = frame('Z', Buffer.from('I'));

type Server = { socket: Socket; client: Client | null };
type Client = { socket: Socket; server: Server | null; open: number; waiting: Buffer[] };

export type Pooler = {
  url: string;
  /** How many clients have hung up. */
  left(): number;
  stop(): Promise<void>;
};

/**
 * What PgBouncer does in transaction mode, in small: a client gets a server for one transaction, and another one for the
 * next. What was prepared or listened for on the last one is not there any more.
 */
export async function startPooler(target: string, servers = 3): Promise<Pooler> {
  const url = new URL(target);
  const pool = new Pool(await Promise.all(Array.from({ length: servers }, () => connectServer(url))));
  const sockets = new Set<Socket>();
  let left = 0;
  const door = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      left++;
    });
    pool.serve(socket);
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  const { port } = door.address() as { port: number };
  url.port = String(port);
  return {
    url: url.href,
    left: () => left,
    stop: async () => {
      for (const socket of [...sockets, ...pool.sockets]) socket.destroy();
      await new Promise((resolve) => door.close(resolve));
    },
  };
}

class Pool {
  readonly #servers: readonly Server[];
  readonly #queue: Client[] = [];
  #turn = 0;

  constructor(servers: readonly Server[]) {
    this.#servers = servers;
    for (const server of servers) {
      const frames = new Frames(false);
      server.socket.on('data', (chunk: Buffer) => {
        for (const one of frames.push(chunk)) this.#answer(server, one);
      });
    }
  }

  get sockets(): Socket[] {
    return this.#servers.map((server) => server.socket);
  }

  serve(socket: Socket): void {
    const client: Client = { socket, server: null, open: 0, waiting: [] };
    const frames = new Frames(true);
    let isGreeted = false;
    socket.on('data', (chunk: Buffer) => {
      for (const one of frames.push(chunk)) {
        if (isGreeted) this.#ask(client, one);
        else greet(socket);
        isGreeted = true;
      }
      this.#assign();
    });
  }

  #ask(client: Client, one: Buffer): void {
    const letter = letterOf(one);
    if (letter === 'X') return void client.socket.end();
    if (letter === 'Q' || letter === 'S') client.open++;
    if (client.server !== null) return void client.server.socket.write(one);
    if (client.waiting.length === 0) this.#queue.push(client);
    client.waiting.push(one);
  }

  #answer(server: Server, one: Buffer): void {
    const { client } = server;
    client?.socket.write(one); // without a client it is lost: a notice, for example
    if (letterOf(one) !== 'Z' || client === null) return;
    client.open--;
    const isIdle = one[5] === 'I'.charCodeAt(0);
    if (client.open > 0 || !isIdle) return;
    server.client = null;
    client.server = null;
    this.#assign();
  }

  #assign(): void {
    for (;;) {
      const free = this.#nextFree();
      const client = free === undefined ? undefined : this.#queue.shift();
      if (free === undefined || client === undefined) return;
      this.#turn++;
      free.client = client;
      client.server = free;
      for (const one of client.waiting.splice(0)) free.socket.write(one);
    }
  }

  /** In turn, never the one that was just used: that is what breaks session state. */
  #nextFree(): Server | undefined {
    const { length } = this.#servers;
    return this.#servers
      .map((_, i) => this.#servers[(this.#turn + i) % length])
      .find((server) => server?.client === null);
  }
}

function greet(socket: Socket): void {
  const invented = frame('K', Buffer.from([0, 0, 7, 7, 0, 0, 0, 1]));
  socket.write(Buffer.concat([AUTHENTICATED, invented, READY]));
}

async function connectServer(url: URL): Promise<Server> {
  const socket = connect(Number(url.port), url.hostname);
  const body = Buffer.from(`user\0${url.username}\0database\0${url.pathname.slice(1)}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(body.length + 8);
  head.writeInt32BE(196_608, 4); // version 3.0
  socket.write(Buffer.concat([head, body]));
  const frames = new Frames(false);
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject);
    const hear = (chunk: Buffer) => {
      if (!frames.push(chunk).some((one) => letterOf(one) === 'Z')) return;
      socket.off('data', hear);
      resolve();
    };
    socket.on('data', hear);
  });
  socket.on('error', () => {});
  return { socket, client: null };
}
