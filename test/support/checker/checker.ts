import type { Connection } from '@lanternroom/sdk/a2a';
import type { Desk } from '../desk.ts';
import type { Seeded } from '../random.ts';
import { pause, until } from '../until.ts';
import { Book } from './book.ts';
import {
  call,
  decide,
  decideTogether,
  deliver,
  deliverAgain,
  deliverOne,
  follow,
  type Life,
  poll,
  produce,
  sweep,
  undo,
} from './clients.ts';
import { answered, Doors, Finding, NoAnswer } from './doors.ts';
import * as laws from './laws.ts';
import { spy, startLaptop, WatchfulReceiver } from './outside.ts';
import { Tally } from './tally.ts';

/** L8, on a machine that is not busy with something else. */
const HEALTHY_WITHIN_MS = 30_000;

export type Beginning = {
  random: Seeded;
  /** The servers, as clients reach them. */
  urls: readonly string[];
  /** An address that leads to any server, also to those that come later. */
  front: string;
  people: readonly Desk[];
  /** A key of an agent in another space. */
  foreignKey: string;
  /** As the servers' own. */
  slowness: number;
  receiver: WatchfulReceiver;
  book: Book;
  tally: Tally;
};

/** Clients at every door at once, who write down what they were promised; and the laws that must hold for it. */
export class Checker {
  readonly receiver: WatchfulReceiver;
  readonly tally: Tally;
  readonly life: Life;
  readonly laptop: Connection;
  readonly #foreignKey: string;
  readonly #slowness: number;
  #workers: Promise<void>[] = [];
  #going = false;

  constructor({ random, urls, front, people, foreignKey, slowness, receiver, book, tally }: Beginning) {
    this.receiver = receiver;
    this.tally = tally;
    this.#foreignKey = foreignKey;
    this.#slowness = slowness;
    this.life = { doors: new Doors(urls, people, random), book, tally, random, callback: receiver.address };
    this.laptop = startLaptop(front, book);
  }

  static async prepare(tally = new Tally()): Promise<Pick<Beginning, 'receiver' | 'book' | 'tally'>> {
    const book = new Book();
    return { book, tally, receiver: await WatchfulReceiver.start(book, tally) };
  }

  start(): void {
    this.#going = true;
    const { followers } = this.life.book;
    const everybody = [
      deliver,
      deliver,
      deliver,
      deliverAgain,
      decide,
      decide,
      decideTogether,
      undo,
      poll,
      sweep,
      produce,
      produce,
      call,
      ...followers.map(follow),
      spy(this.#foreignKey),
    ];
    this.#workers = everybody.map((work) => this.#loop(work));
  }

  async stop(): Promise<void> {
    this.#going = false;
    await Promise.all(this.#workers);
  }

  /** Everything that is promised from here on is promised under this fault. */
  under(fault: string): void {
    this.life.book.fault = fault;
  }

  /** L8: what every door does, done once through every server, without anybody's help. */
  async healthy(withinMs = HEALTHY_WITHIN_MS * this.#slowness): Promise<void> {
    const { doors, book, tally } = this.life;
    const { fault } = book;
    const began = performance.now();
    try {
      await Promise.all(doors.urls.map((url) => this.#healthyAt(url, withinMs)));
      tally.check('L8', fault, true, () => '');
    } catch (reason) {
      tally.check('L8', fault, false, () => String(reason));
    }
    tally.healthy(fault, performance.now() - began);
  }

  async #healthyAt(url: string, withinMs: number): Promise<void> {
    const { doors, book, random, tally } = this.life;
    const life = { ...this.life, doors: new Doors([url], doors.people, random), tally };
    const entry = book.newEntry(this.receiver.address);
    entry.busy = true; // nobody else's
    const end = performance.now() + withinMs;
    const within = (what: string, work: () => Promise<boolean>) =>
      until(`${url}: ${what}`, () => work().catch(ignoreSilence), end - performance.now());
    await within('ready', async () => (await fetch(`${url}/readyz`)).status === 200);
    await within('takes a delivery', async () => {
      await deliverOne(life, entry);
      entry.busy = true;
      return true;
    });
    const id = entry.id ?? '';
    await within('takes a decision', async () => {
      const { content_sha256 } = await life.doors.desk().detail(id);
      const asked = { status: 'approved', feedback: book.word() };
      const note = { ...asked, reply: 'unknown' as const, undone: 'no' as const };
      entry.asked.push(note);
      const path = `/desk/deliveries/${id}/decision`;
      const body = { ...asked, content_sha256 };
      const deciding = life.doors.desk().request<{ state: 'held' | 'decided' }>('POST', path, body);
      const { status, json } = await answered('a decision', deciding, [200, 409]);
      // 409: an earlier try was heard although its answer was lost.
      entry.asked[entry.asked.indexOf(note)] = { ...note, reply: status === 200 ? json.state : 'refused' };
      return true;
    });
    await within('calls back', async () => this.receiver.bodiesOf(id).length > 0);
    entry.busy = false;
  }

  /** What can be said at any time, also under load: nothing that was promised is gone, and the ledger is whole. */
  async glance(): Promise<void> {
    await laws.stillThere(this.life);
    await laws.ledgerVerifies(this.life);
    this.tally.throwIfBroken();
  }

  /** After the load: everything that was ever promised, compared with everything that is there. */
  async verify(): Promise<void> {
    await laws.nothingUnanswered(this.life);
    await laws.stillThere(this.life, true);
    this.tally.throwIfBroken(); // nothing more can be said about what is gone
    const details = await laws.settled(this.life);
    await laws.tasksEnded(this.life);
    await laws.sweepIsWhole(this.life);
    await laws.inboxIsWhole(this.life);
    await laws.sameBytes(this.life, this.receiver, details);
    await laws.oneLineEach(this.life, details);
    await laws.ledgerVerifies(this.life);
    this.tally.throwIfBroken();
  }

  async #loop(work: (life: Life) => Promise<void>): Promise<void> {
    while (this.#going) {
      await work(this.life).catch((reason: unknown) => this.#note(reason));
      await pause(20 + this.life.random.below(100)); // a person's or an agent's own business
    }
  }

  #note(reason: unknown): void {
    if (reason instanceof NoAnswer) return;
    if (!(reason instanceof Finding)) throw reason;
    this.tally.check('L1', this.life.book.fault, false, () => reason.message);
  }
}

function ignoreSilence(reason: unknown): false {
  if (reason instanceof Finding) throw reason;
  return false;
}
