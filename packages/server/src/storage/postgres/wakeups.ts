import { randomUUID } from 'node:crypto';
import type { News, Topic } from '../../core/store.ts';
import { fromNews } from '../intake/wire.ts';
import type { Signals } from '../signals.ts';
import { type Session, statement } from '../statement.ts';
import type { Lane } from './lane.ts';
import { type Notice, readNotice, writeNotices } from './notice.ts';

const CHANNEL = 'lanternroom';
/** How often missed wake-ups are looked for: rarely while notices arrive, often while they do not. */
const LOOK_MS = { heard: 5_000, deaf: 200 };
const TEST_EVERY_MS = 30_000;
const TEST_WITHIN_MS = 2_000;

export type WakeupParts = {
  signals: Signals;
  listening: Lane;
  telling: Lane;
  /** For finding missed news. */
  session: Session;
  warn(message: string): void;
};

const ledgers = statement<object>()((db) =>
  db.selectFrom('heads').select(['space_id', 'n']).where('name', '=', 'ledger'),
);

/**
 * News between replicas: one NOTIFY after a commit, never in it; while one is under way, the next ones are joined.
 * News that gets lost (a pooler, a broken connection) is noticed at the ends of the ledgers.
 */
export class PostgresWakeups {
  readonly #parts: WakeupParts;
  readonly #me = randomUUID();
  readonly #ends = new Map<string, number>();
  #unsent: Map<Topic, Set<string>> = new Map();
  #unsentEnds = new Map<string, number>();
  /** While a notice is under way. */
  #sending: Promise<void> | null = null;
  #hears = false;
  /** The log has it, and behind a pooler every further try would fail the same way. */
  #isTold = false;
  #awaited: string | null = null;
  #listeningOn: unknown = null;
  #timers: NodeJS.Timeout[] = [];
  #stopped = false;

  constructor(parts: WakeupParts) {
    this.#parts = parts;
  }

  /** Whether the self-test came back: notices reach us. */
  get hears(): boolean {
    return this.#hears;
  }

  async start(): Promise<void> {
    for (const { space_id, n } of await this.#parts.session.all(ledgers, {})) this.#ends.set(space_id, n);
    void this.#test();
    this.#lookLater();
  }

  /** What was committed is still told: a command ends as soon as it has done its work. */
  async stop(): Promise<void> {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#sending;
  }

  /** The database was away and is back: whatever happened meanwhile was missed. */
  back(): void {
    void this.#test(false);
    void this.#look();
  }

  committed(ends: ReadonlyMap<string, number>): void {
    for (const [space, n] of ends) {
      this.#note(space, n);
      this.#unsentEnds.set(space, n);
    }
  }

  tell(news: News): void {
    for (const [topic, about] of news) {
      const known = this.#unsent.get(topic);
      if (known === undefined) this.#unsent.set(topic, new Set(about));
      else for (const one of about) known.add(one);
    }
    if (this.#unsent.size > 0) this.#sending ??= this.#send();
  }

  async #send(): Promise<void> {
    while (this.#unsent.size > 0) {
      const told = [...this.#unsent].map(([topic, about]): [Topic, string[]] => [topic, [...about]]);
      const ends = [...this.#unsentEnds];
      this.#unsent = new Map();
      this.#unsentEnds = new Map();
      // Lost news is found at the ends of the ledgers; nobody waits for this.
      await this.#notify(writeNotices(this.#me, told, ends)).catch(() => {});
    }
    this.#sending = null;
  }

  async #notify(payloads: readonly string[]): Promise<void> {
    const { telling } = this.#parts;
    const link = await telling.get();
    const sent = payloads.map((text) => link.query(`select pg_notify('${CHANNEL}', $1)`, [text]));
    await Promise.all(sent).catch((reason: unknown) => {
      throw telling.told(reason); // a connection that went silent is let go
    });
  }

  #hear(text: string): void {
    const notice = readNotice(text);
    if (notice === null) return;
    const { from, told = [], ledgers: ends = [], test } = notice;
    if (test !== undefined && test === this.#awaited) this.#passed();
    if (from === this.#me) return;
    for (const [space, n] of ends) this.#note(space, n);
    if (told.length > 0) this.#parts.signals.tell(fromNews(told));
  }

  #note(space: string, n: number): void {
    if (n > (this.#ends.get(space) ?? 0)) this.#ends.set(space, n);
  }

  /**
   * Starts listening if needed, and sends itself a notice. If it does not come back, notices do not reach us, and we
   * must poll.
   */
  async #test(again = true): Promise<void> {
    const word = randomUUID();
    this.#awaited = word;
    let isSent = false;
    try {
      await this.#listen();
      await this.#notify([JSON.stringify({ from: this.#me, test: word } satisfies Notice)]);
      isSent = true;
    } catch {
      this.#hears = false;
    }
    this.#later(TEST_WITHIN_MS, () => {
      if (this.#awaited === word) this.#failed(isSent);
    });
    if (again) this.#later(TEST_EVERY_MS, () => void this.#test());
  }

  #passed(): void {
    this.#awaited = null;
    this.#hears = true;
    this.#isTold = false;
  }

  /** A notice that could not be sent says nothing about what is in between: the database is away. */
  #failed(isSent: boolean): void {
    this.#awaited = null;
    if (!this.#isTold && isSent && this.#listeningOn !== null) {
      this.#isTold = true;
      this.#parts.warn(
        'LISTEN brings nothing (a pooler in between?); looking for news five times a second instead',
      );
    }
    this.#hears = false;
    this.#parts.listening.discard(); // it may have died without a word
  }

  async #listen(): Promise<void> {
    const { client } = await this.#parts.listening.get();
    if (this.#listeningOn === client) return;
    client.on('notification', ({ payload }) => {
      if (payload !== undefined) this.#hear(payload);
    });
    client.once('end', () => {
      this.#hears = false;
      if (this.#listeningOn === client) this.#listeningOn = null;
    });
    await client.query(`listen ${CHANNEL}`);
    this.#listeningOn = client;
  }

  #lookLater(pause = 0): void {
    const next = Math.max(pause, this.#hears ? LOOK_MS.heard : LOOK_MS.deaf);
    this.#later(next, async () => {
      const startedAt = performance.now();
      await this.#look();
      // With very many spaces a look takes a while; it never takes more than a tenth of the time.
      this.#lookLater(9 * (performance.now() - startedAt));
    });
  }

  /** Wakes whoever waits for something in a space whose ledger has grown without a notice. */
  async #look(): Promise<void> {
    const rows = await this.#parts.session.all(ledgers, {}).catch(() => []);
    const missed = rows.filter(({ space_id, n }) => n > (this.#ends.get(space_id) ?? 0));
    if (missed.length === 0) return;
    for (const { space_id, n } of missed) this.#note(space_id, n);
    const spaces = new Set(missed.map((row) => row.space_id));
    const topics = this.#parts.signals.topics().filter((topic) => concerns(topic, spaces));
    this.#parts.signals.tell(
      new Map(
        [...topics, ...[...spaces].map((s): Topic => `desk:${s}`)].map((topic) => [topic, new Set([''])]),
      ),
    );
  }

  #later(millis: number, work: () => void): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      this.#timers = this.#timers.filter((one) => one !== timer);
      work();
    }, millis);
    timer.unref();
    this.#timers.push(timer);
  }
}

/** These are looked for only where the ledger of their space has grown: thousands may listen, each with a look of its own. */
const OF_A_SPACE: ReadonlySet<string> = new Set(['desk', 'inbox', 'access', 'frames']);

/** Topics without a space concern every space, but for the one of all access: laptops are also asked with every heartbeat. */
function concerns(topic: Topic, spaces: ReadonlySet<string>): boolean {
  const [kind = '', space = ''] = topic.split(':');
  return !OF_A_SPACE.has(kind) || spaces.has(space);
}
