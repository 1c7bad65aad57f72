import { AkepClient, type Envelope, eventRequest, sampleEvent } from '../support/akep.ts';
import type { Seeded } from '../support/random.ts';
import { Raw } from '../support/raw.ts';
import { pause } from '../support/until.ts';

const PRODUCERS = 6;
/** In one write, so the server reads them in one turn of its loop: a crowd, which its second thread takes in. */
const CROWD = 12;

/** One that follows the inbox by its own cursor, over every crash. */
export type Follower = { path: string; cursor: string | null; seen: string[] };

/** Producers at full speed and readers beside them. Remembers what each was told. */
export class EventLoad {
  /** Everything that ever left a producer. */
  readonly sent = new Map<string, Envelope>();
  /** What was answered with 202. */
  readonly accepted = new Set<string>();
  readonly waits = new Set<string>();
  readonly readers: Follower[] = ['/akep/events', '/akep/events/wait'].map((path) => ({
    path,
    cursor: null,
    seen: [],
  }));
  readonly #random: Seeded;
  #going = false;
  #workers: Promise<void>[] = [];

  constructor(random: Seeded) {
    this.#random = random;
  }

  start(url: string): void {
    const client = new AkepClient(url);
    this.#going = true;
    const repeat = (work: () => Promise<void>) => this.#loop(work);
    this.#workers = [
      ...Array.from({ length: PRODUCERS }, () => repeat(() => this.#produce(client))),
      ...this.readers.map((reader) => repeat(() => this.#read(client, reader))),
      repeat(() => this.#wait(client)),
      this.#sendCrowds(url),
    ];
  }

  async stop(): Promise<void> {
    this.#going = false;
    await Promise.all(this.#workers);
  }

  /** Reads what is left, without any load. */
  async catchUp(url: string): Promise<void> {
    const client = new AkepClient(url);
    for (const reader of this.readers) {
      while (reader.seen.length < this.sent.size) await this.#read(client, reader);
    }
  }

  async #loop(work: () => Promise<void>): Promise<void> {
    while (this.#going) {
      // fetch says so when the server is gone; everything else is a finding.
      await work().catch((reason: unknown) => {
        if (!(reason instanceof TypeError)) throw reason;
      });
      await pause(this.#random.below(4));
    }
  }

  async #produce(client: AkepClient): Promise<void> {
    const event = this.#newEvent();
    const { status, text } = await client.send(event);
    this.#noteAnswer(event, status, text);
  }

  #newEvent(): Envelope {
    const id = `evt_crash_${String(this.sent.size).padStart(6, '0')}`;
    const resume_policy = this.#random.below(3) === 0 ? 'resume_if_waiting' : 'append_only';
    const event = sampleEvent(id, { routing: { resume_policy } });
    this.sent.set(id, event);
    return event;
  }

  #noteAnswer({ event_id }: Envelope, status: number, text = ''): void {
    if (status === 202) this.accepted.add(event_id);
    else if (status !== 503) throw new Error(`an event was refused: ${status} ${text}`);
  }

  async #sendCrowds(url: string): Promise<void> {
    const connection = await Raw.connect(url);
    const events: Envelope[] = [];
    while (this.#going && !connection.isClosed) {
      const crowd = Array.from({ length: CROWD }, () => this.#newEvent());
      events.push(...crowd);
      await connection.write(crowd.map(eventRequest).join(''));
      await connection.untilReplied(events.length);
      await pause(this.#random.below(4));
    }
    for (const [i, status] of connection.statuses.entries()) {
      const event = events[i];
      if (event !== undefined) this.#noteAnswer(event, status);
    }
  }

  async #read(client: AkepClient, reader: Follower): Promise<void> {
    const { status, text, json } = await client.page(reader.cursor, 1 + this.#random.below(20), reader.path);
    if (status === 204 || status === 503) return;
    if (status !== 200) throw new Error(`the inbox was not shown: ${status} ${text}`);
    reader.seen.push(...json.events.map((event) => event.event_id));
    reader.cursor = json.next_cursor;
  }

  async #wait(client: AkepClient): Promise<void> {
    const wanted = { subject: { task_id: 't_1' }, run_state_ref: `run-${this.waits.size}` };
    const { status, json } = await client.request<{ wait_id: string }>('POST', '/akep/waits', wanted);
    if (status === 201) this.waits.add(json.wait_id);
  }
}
