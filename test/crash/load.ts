import { EDITED, VERDICTS, withOne } from '../support/deciding.ts';
import type { Desk } from '../support/desk.ts';
import type { Seeded } from '../support/random.ts';
import { pause } from '../support/until.ts';
import type { WakeClient } from '../support/wake.ts';
import type { Asked, Entry, Notebook } from './notebook.ts';

type Doors = { wake: WakeClient; desk: Desk; book: Notebook; random: Seeded };

export const OPEN_AT_MOST = 40;

/** Everybody at once: agents that deliver, withdraw, poll and sweep, people that decide and undo. */
export class Load {
  readonly #doors: Doors;
  readonly #workers: Promise<void>[];
  #going = true;

  constructor(doors: Doors) {
    this.#doors = doors;
    const repeat = (times: number, work: (doors: Doors) => Promise<void>) =>
      Array.from({ length: times }, () => this.#loop(work));
    this.#workers = [
      ...repeat(3, deliver),
      ...repeat(3, decide),
      ...repeat(1, decideTwice),
      ...repeat(1, undo),
      ...repeat(1, withdraw),
      ...repeat(2, poll),
      ...repeat(1, sweep),
    ];
  }

  /** After the server is gone, or before it is meant to stop. */
  async end(): Promise<void> {
    this.#going = false;
    await Promise.all(this.#workers);
  }

  async #loop(work: (doors: Doors) => Promise<void>): Promise<void> {
    while (this.#going) {
      await work(this.#doors).catch(ignoreLostServer);
      await pause(this.#doors.random.below(8)); // a person's or an agent's own business
    }
  }
}

/** fetch says so when the server is gone. Everything else is a finding. */
function ignoreLostServer(reason: unknown): void {
  if (!(reason instanceof TypeError)) throw reason;
}

async function deliver({ wake, book, random }: Doors): Promise<void> {
  if (book.open().length >= OPEN_AT_MOST) return;
  const entry = book.newEntry(random.below(2) === 0);
  const { status, text, json } = await wake.deliver(entry.body, entry.key);
  if (status === 201) entry.id = json.delivery_id;
  else throw new Error(`a delivery was refused: ${status} ${text}`);
}

function decide(doors: Doors): Promise<void> {
  return withOne(doors.random, doors.book.open(), (entry, id) => ask(doors, entry, id));
}

/** Two people at once: one wins. */
function decideTwice(doors: Doors): Promise<void> {
  return withOne(doors.random, doors.book.open(), async (entry, id) => {
    await Promise.all([ask(doors, entry, id), ask(doors, entry, id)]);
    const won = entry.asked.filter((a) => a.reply === 'held' || a.reply === 'decided');
    if (won.length !== 1) throw new Error(`${won.length} of two decisions won: ${JSON.stringify(entry)}`);
  });
}

async function ask({ desk, book, random }: Doors, entry: Entry, id: string): Promise<void> {
  const { content_sha256 } = await desk.detail(id);
  const answer = {
    status: random.pick(VERDICTS) ?? 'approved',
    feedback: book.word(),
    edited_content: random.pick(EDITED) ?? null,
  };
  const asked: Asked = { ...answer, reply: 'unknown' };
  entry.asked.push(asked);
  const path = `/desk/deliveries/${id}/decision`;
  const { status, text, json } = await desk.request<{ state: 'held' | 'decided' }>('POST', path, {
    ...answer,
    content_sha256,
  });
  if (status === 200) asked.reply = json.state;
  else if (status === 409) asked.reply = 'refused';
  else throw new Error(`a decision failed: ${status} ${text}`);
}

function undo(doors: Doors): Promise<void> {
  return withOne(doors.random, doors.book.held(), async (entry, id) => {
    entry.undone = 'unknown';
    const { status, text } = await doors.desk.undo(id);
    if (status === 200) entry.undone = 'acknowledged';
    else if (status === 409) entry.undone = 'no';
    else throw new Error(`an undo failed: ${status} ${text}`);
  });
}

/** Now and then of something that a person has just decided: a held decision does not stop it (W27). */
function withdraw(doors: Doors): Promise<void> {
  const { book, random, wake } = doors;
  if (random.below(4) > 0) return Promise.resolve();
  return withOne(doors.random, random.below(3) > 0 ? book.open() : book.held(), async (entry, id) => {
    entry.withdrawn = 'unknown';
    const { status, text } = await wake.withdraw(id, 'no longer needed');
    if (status === 200) entry.withdrawn = 'acknowledged';
    else if (status === 409) entry.withdrawn = 'no';
    else throw new Error(`a withdrawal failed: ${status} ${text}`);
  });
}

async function poll({ wake, book, random }: Doors): Promise<void> {
  const id = random.pick(book.entries)?.id;
  if (id === undefined || id === null) return;
  const { status, text, json } = await wake.response(id, random.below(2));
  if (status !== 200) throw new Error(`a delivery is gone: ${status} ${text}`);
  if (json.status !== 'pending') book.polled.push({ id, text });
}

/** The loop of the specification, with small pages so that it has to turn them. */
export async function sweep({ wake, book }: Pick<Doors, 'wake' | 'book'>): Promise<void> {
  const since: Record<string, string> = book.since === null ? {} : { since: book.since };
  const query = { agent_id: 'agent-01', status: 'approved,rejected,redirected', limit: '7', ...since };
  const { status, text, json } = await wake.sweep(query);
  if (status !== 200) throw new Error(`a sweep failed: ${status} ${text}`);
  for (const { delivery_id: id } of json.deliveries) book.swept.push({ id, page: text });
  if (json.deliveries.length > 0) book.since = json.next_since;
}
