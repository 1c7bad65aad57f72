import type { Socket } from 'node:net';
import pg from 'pg';
import type { Session, Statement } from '../statement.ts';
import { type Copied, Copy, CopyRows, copyText } from './copy.ts';
import { isStale } from './errors.ts';

/** What the database says about itself on connecting. */
export type Greeting = {
  /** A standby, or a server that takes no writes. */
  isReadOnly: boolean;
  /** There is a pooler in between (PgBouncer): a statement prepared on one server may be missing on the next. */
  isPooled: boolean;
  /** The server would confirm a commit before it is on disk. */
  isHasty: boolean;
  /** Its clock in microseconds, beside ours in milliseconds at the same moment. */
  clock: { database: number; here: number; error: number };
};

const ASK = `select pg_backend_pid() as pid, pg_is_in_recovery() as standby,
  current_setting('default_transaction_read_only') as readonly, current_setting('synchronous_commit') as sync,
  (extract(epoch from clock_timestamp()) * 1000000)::bigint as now`;

type Asked = { pid: number; standby: boolean; readonly: string; sync: string; now: number };

/** An unreachable host is given up after this; a healthy one answers in milliseconds. */
const CONNECT_WITHIN_MS = 2_000;
/** The server ends a slow statement long before; this is for a server that went silent. */
const ANSWER_WITHIN_MS = 20_000;
/** For what nobody can say how long it takes. A connection that is dead is found by its silence below TCP. */
const FOR_DAYS_MS = 20 * 24 * 60 * 60_000;
/** Firewalls and balancers forget a connection that is silent for minutes, and tell nobody. */
const SAY_SOMETHING_AFTER_MS = 30_000;

/**
 * Whoever asks for TLS gets a server whose name and certificate are checked. The library reads these modes the same
 * way, but warns on stderr that one day it will not.
 */
function checked(url: string): string {
  if (url.includes('uselibpqcompat=true')) return url;
  return url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}

const INT8 = 20;
const toNumber = (text: string) => Number(text);
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    oid === INT8 && format !== 'binary'
      ? toNumber
      : pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};

const names = new Map<string, string>();

function nameOf(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = `lr${names.size}`;
    names.set(sql, name);
  }
  return name;
}

/** One connection. Statements are sent at once, without waiting for the answers to earlier ones. */
export class PgLink implements Session {
  readonly greeting: Greeting;
  readonly client: pg.Client;
  #generation = 0;
  #spare: CopyRows[] = [];
  #settings: readonly string[] = [];
  #gathered: Socket | null = null;
  /** Something was sent that is not answered yet. */
  #isBusy = false;
  /** How many bytes had arrived when somebody last looked and found more, and when that was. */
  #heard = { bytes: -1, at: 0 };

  private constructor(client: pg.Client, greeting: Greeting) {
    this.client = client;
    this.greeting = greeting;
    client.on('drain', () => {
      this.#isBusy = false;
    });
  }

  /** For how long nothing has arrived although an answer is due, as far as callers of this have seen. */
  silence(now: number): number {
    const bytes = this.#stream.bytesRead;
    if (!this.#isBusy || bytes !== this.#heard.bytes) this.#heard = { bytes, at: now };
    return now - this.#heard.at;
  }

  get isIdle(): boolean {
    return !this.#isBusy;
  }

  /** Does not wait: whoever is owed an answer is told that there will be none. */
  abandon(): void {
    this.#stream.destroy();
  }

  onClose(hear: () => void): void {
    this.#stream.once('close', hear);
  }

  get #stream(): Socket {
    return (this.client as unknown as { connection: { stream: Socket } }).connection.stream;
  }

  /** `lost` is called once, when the connection ends without our asking. */
  static async open(url: string, lost: (reason: Error) => void): Promise<PgLink> {
    const client = new pg.Client({
      connectionString: checked(url),
      pipeline: true,
      types,
      keepAlive: true,
      keepAliveInitialDelayMillis: SAY_SOMETHING_AFTER_MS,
      application_name: 'lanternroom',
      connectionTimeoutMillis: CONNECT_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
    });
    client.on('error', lost);
    client.once('end', () => lost(new Error('Connection terminated')));
    try {
      await client.connect();
      return new PgLink(client, await greet(client));
    } catch (reason) {
      void client.end().catch(() => {});
      throw reason;
    }
  }

  async all<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    const { sql, bind } = statement.compile('postgres');
    return (await this.query(sql, bind(params))).rows as R[];
  }

  async one<P extends object, R>(statement: Statement<P, R>, params: P): Promise<R | undefined> {
    return (await this.all(statement, params))[0];
  }

  async run<P extends object, R>(statement: Statement<P, R>, params: P): Promise<number> {
    const { sql, bind } = statement.compile('postgres');
    return (await this.query(sql, bind(params))).rowCount ?? 0;
  }

  async query(text: string, values: unknown[]): Promise<pg.QueryResult> {
    this.#gather();
    if (this.greeting.isPooled) return this.client.query({ text, values });
    const generation = this.#generation;
    try {
      return await this.client.query({ name: `${nameOf(text)}_${generation}`, text, values });
    } catch (reason) {
      // With new names, everything is prepared again; the caller repeats its request.
      if (isStale(reason) && this.#generation === generation) this.#generation++;
      throw reason;
    }
  }

  /** Many rows at once. Not behind a pooler, which may block rows that are sent before they were asked for. */
  copy(insert: Copied, rows: readonly object[]): Promise<void> {
    const encoder = this.#spare.pop() ?? new CopyRows();
    this.#gather();
    return new Promise((resolve, reject) => {
      const answered = (reason: Error | undefined) => {
        if (reason) return reject(reason); // and some of its bytes may still be on their way
        this.#spare.push(encoder);
        resolve();
      };
      this.client.query(new Copy(copyText(insert), encoder.encode(insert.columns, rows), answered));
    });
  }

  /** Behind a pooler, settings must be local to the transaction; elsewhere they are made once. */
  begin(mode: string, settings: readonly string[]): Promise<pg.QueryResult> {
    const begin = `begin ${mode}`;
    if (this.greeting.isPooled)
      return this.exec([begin, ...settings.map((one) => `set local ${one}`)].join('; '));
    if (this.#settings !== settings) {
      this.#settings = settings;
      this.exec(settings.map((one) => `set ${one}`).join('; ')).catch(() => {}); // what comes next fails too
    }
    return this.exec(begin);
  }

  /** Commands without values; several at once, separated by semicolons. */
  exec(text: string): Promise<pg.QueryResult> {
    this.#gather();
    return this.client.query(text);
  }

  /** The same, however long it takes: an index over millions of rows, or another replica that makes one. */
  execPatiently(text: string, values?: unknown[]): Promise<pg.QueryResult> {
    this.#gather();
    return this.client.query({ text, values, query_timeout: FOR_DAYS_MS } as pg.QueryConfig);
  }

  /** Sends at once, without waiting for more of this turn. */
  flush(): void {
    const stream = this.#gathered;
    this.#gathered = null;
    stream?.uncork();
  }

  /**
   * Everything sent in one turn of the event loop leaves in one write: each write wakes the server, which costs more
   * than the bytes.
   */
  #gather(): void {
    this.#isBusy = true;
    if (this.#gathered !== null) return;
    const stream = this.#stream;
    stream.cork();
    this.#gathered = stream;
    process.nextTick(() => this.flush());
  }

  async time(): Promise<Greeting['clock']> {
    return (await greet(this.client)).clock;
  }

  async close(): Promise<void> {
    this.client.removeAllListeners('end');
    await this.client.end().catch(() => {});
  }
}

async function greet(client: pg.Client): Promise<Greeting> {
  const before = performance.now();
  const { rows } = await client.query<Asked>(ASK);
  const after = performance.now();
  const [asked] = rows;
  if (asked === undefined) throw new Error('the database did not greet');
  return {
    isReadOnly: asked.standby || asked.readonly === 'on',
    // The pid that a pooler announces at the start is its own invention.
    isPooled: (client as unknown as { processID: number }).processID !== asked.pid,
    isHasty: asked.sync === 'off',
    clock: { database: asked.now, here: (before + after) / 2, error: (after - before) / 2 },
  };
}
