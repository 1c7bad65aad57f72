import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Connection, connect } from '@lanternroom/sdk/a2a';
import { onTestFinished } from 'vitest';
import { type Receiver, startReceiver } from '../receiver.ts';
import { AGENT } from '../server.ts';
import { pause } from '../until.ts';
import { readReply } from '../wake.ts';
import type { Book } from './book.ts';
import type { Life } from './clients.ts';
import { answered, inTime } from './doors.ts';
import type { Tally } from './tally.ts';

/** What a receiver does with a callback. One that does nothing leaves the sender hanging. */
export type Manners = (reply: ServerResponse, isFirst: boolean) => void;

export const takes: Manners = (reply) => void reply.writeHead(204).end();

/** A receiver of callbacks that also watches that nobody sends the same thing twice at the same time (L5). */
export class WatchfulReceiver {
  manners: Manners = takes;
  /** A replica that stands still or is cut off keeps its connection open while another takes over. */
  mayOverlap = false;
  readonly #receiver: Receiver;
  readonly #open = new Map<string, Set<ServerResponse>>();
  readonly #met = new Set<string>();

  private constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  static async start(book: Book, tally: Tally): Promise<WatchfulReceiver> {
    const receiver = await startReceiver((reply, { headers }) => {
      watchful.#take(reply, String(headers['x-wake-delivery-id']), book, tally);
    });
    const watchful = new WatchfulReceiver(receiver);
    return watchful;
  }

  get address(): string {
    return `${this.#receiver.origin}/callback`;
  }

  /** The bodies that came for this delivery. */
  bodiesOf(id: string): string[] {
    return this.#receiver.received
      .filter(({ headers }) => headers['x-wake-delivery-id'] === id)
      .map(({ body }) => body);
  }

  get ids(): Set<string> {
    return new Set(this.#receiver.received.map(({ headers }) => String(headers['x-wake-delivery-id'])));
  }

  /** Cuts off the requests that were left hanging, as a restart of the receiver would. */
  release(): void {
    for (const replies of this.#open.values()) for (const reply of replies) reply.destroy();
  }

  #take(reply: ServerResponse, id: string, book: Book, tally: Tally): void {
    const others = this.#open.get(id) ?? new Set();
    if (!this.mayOverlap)
      tally.check(
        'L5',
        book.fault,
        others.size === 0,
        () => `two workers sent the callback of ${id} at once`,
      );
    others.add(reply);
    this.#open.set(id, others);
    reply.on('close', () => {
      others.delete(reply);
      if (others.size === 0) this.#open.delete(id);
    });
    const isFirst = !this.#met.has(id);
    this.#met.add(id);
    this.manners(reply, isFirst);
  }
}

/** The agent on a laptop; it notes each task that it is given. */
export function startLaptop(url: string, book: Book): Connection {
  const laptop = connect({
    url,
    apiKey: AGENT.key,
    onTask: async (task) => {
      book.runs.set(task.id, (book.runs.get(task.id) ?? 0) + 1);
      await pause(30);
      return `Answer to ${task.text}`;
    },
    onError: () => {},
  });
  onTestFinished(() => laptop.stop({ withinMs: 1 }));
  return laptop;
}

/** L7: somebody with a good key of their own, for whom nothing of this is there. */
export function spy(key: string): (life: Life) => Promise<void> {
  return async ({ doors, book, tally, random }) => {
    const { fault } = book;
    const id = random.pick(book.entries)?.id;
    const task = random.pick(book.tasks)?.id;
    const nobody = randomUUID();
    const wake = doors.wake(key);
    const same = (what: string, one: string, other: string) =>
      tally.check(
        'L7',
        fault,
        one === other,
        () => `${what} tells a foreign key: ${one} instead of ${other}`,
      );
    const look = async (path: string, asked: string) => {
      const reply = await answered('a foreign look', wake.request('GET', path + asked), [404]);
      return `${reply.status} ${reply.text.replaceAll(asked, 'ID')}`;
    };
    if (id !== undefined && id !== null)
      same('the response', await look('/response/', id), await look('/response/', nobody));
    if (task !== undefined && task !== null) {
      const call = async (asked: string) => {
        const asking = fetch(`${doors.url()}/@home/${AGENT.id}/`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${key}`,
            'content-type': 'application/json',
            'a2a-version': '1.0',
          },
          body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'GetTask', params: { id: asked } }),
        }).then((response) => readReply(response));
        const { status, text } = await inTime('a foreign call', asking);
        return `${status} ${text.replaceAll(asked, 'ID')}`;
      };
      const [theirs, none] = [await call(task), await call(nobody)];
      const isEveryday = [theirs, none].some((said) => /^50\d|"code":-32603/.test(said));
      if (!isEveryday) same('the task', theirs, none);
    }
    const { json } = await answered('a foreign sweep', wake.sweep({ limit: '1' }), [200]);
    tally.check('L7', fault, json.total === 0, () => `a foreign key sweeps up ${json.total} deliveries`);
  };
}
