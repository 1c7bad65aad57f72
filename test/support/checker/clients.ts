import { createCaller, faultOf } from '@lanternroom/sdk/a2a';
import { sampleEvent } from '../akep.ts';
import { EDITED, VERDICTS, withOne } from '../deciding.ts';
import type { Seeded } from '../random.ts';
import { AGENT } from '../server.ts';
import type { SweepBody } from '../wake.ts';
import type { Asked, Book, Entry, Follower, SentEvent, SentTask } from './book.ts';
import { answered, type Doors, Finding, inTime, NoAnswer } from './doors.ts';
import type { Tally } from './tally.ts';

export type Life = {
  readonly doors: Doors;
  readonly book: Book;
  readonly tally: Tally;
  readonly random: Seeded;
  /** Where callbacks go. */
  readonly callback: string;
};

const OPEN_AT_MOST = 30;

/** Sends something new, or what got no answer the last time. */
export async function deliver(life: Life): Promise<void> {
  const { book, random, callback } = life;
  const unanswered = book.entries.find((e) => e.id === null && !e.busy);
  if (unanswered === undefined && book.open().length >= OPEN_AT_MOST) return;
  await deliverOne(life, unanswered ?? book.newEntry(random.below(2) === 0 ? callback : null));
}

/** L2 as it happens: one key, one delivery, however often and wherever it is sent. */
export async function deliverOne({ doors, tally }: Life, entry: Entry): Promise<void> {
  entry.busy = true;
  try {
    const { json } = await answered('a delivery', doors.wake().deliver(entry.body, entry.key), [201]);
    const before = entry.id ?? json.delivery_id;
    tally.check(
      'L2',
      entry.fault,
      before === json.delivery_id,
      () => `${entry.key} is both ${before} and ${json.delivery_id}`,
    );
    entry.id = before;
  } finally {
    entry.busy = false;
  }
}

/** An agent that is not sure whether it was heard. */
export async function deliverAgain(life: Life): Promise<void> {
  const entry = life.random.pick(life.book.entries.filter((e) => e.id !== null && !e.busy));
  if (entry !== undefined) await deliverOne(life, entry);
}

export function decide(life: Life): Promise<void> {
  return withOne(life.random, life.book.open(), (entry, id) => ask(life, entry, id, life.random.below(2)));
}

/** Two people at the same moment: one of them at most is told that it is done. */
export function decideTogether(life: Life): Promise<void> {
  return withOne(life.random, life.book.open(), async (entry, id) => {
    const both = await Promise.allSettled([ask(life, entry, id, 0), ask(life, entry, id, 1)]);
    const won = entry.asked.filter((a) => a.reply === 'held' || a.reply === 'decided');
    life.tally.check('L2', entry.fault, won.length <= 1, () => `both decided ${id}`);
    for (const one of both) if (one.status === 'rejected') throw one.reason;
  });
}

async function ask(life: Life, entry: Entry, id: string, person: number): Promise<void> {
  const { doors, book, random } = life;
  const { json: shown } = await answered(
    'a delivery at the desk',
    doors.desk(person).request<{ content_sha256: string }>('GET', `/desk/deliveries/${id}`),
    [200],
  );
  const answer = { status: random.pick(VERDICTS) ?? 'approved', feedback: book.word() };
  const asked: Asked = { ...answer, reply: 'unknown', undone: 'no' };
  entry.asked.push(asked);
  const body = {
    ...answer,
    edited_content: random.pick(EDITED) ?? null,
    content_sha256: shown.content_sha256,
  };
  const path = `/desk/deliveries/${id}/decision`;
  const reply = await answered(
    'a decision',
    doors.desk(person).request<{ state: 'held' | 'decided' }>('POST', path, body),
    [200, 409],
  );
  asked.reply = reply.status === 200 ? reply.json.state : 'refused';
}

export function undo(life: Life): Promise<void> {
  return withOne(life.random, life.book.held(), async (entry, id) => {
    const asked = entry.asked.find((a) => a.reply === 'held');
    if (asked === undefined) return;
    asked.undone = 'unknown';
    const { status } = await answered('an undo', life.doors.desk().undo(id), [200, 409]);
    asked.undone = status === 200 ? 'acknowledged' : 'no';
    // It is over for this one, whichever way: it was in effect already.
    if (status === 409) asked.reply = 'decided';
  });
}

export async function poll({ doors, book, random }: Life): Promise<void> {
  const { fault } = book;
  const id = random.pick(book.entries)?.id;
  if (id === undefined || id === null) return;
  const { text, json } = await answered('a poll', doors.wake().response(id, random.below(2)), [200]);
  if (json.status !== 'pending') book.polled.push({ id, text, fault });
}

/** The loop of the specification, with small pages so that it has to turn them. */
export async function sweep({ doors, book, tally }: Life): Promise<void> {
  const { fault } = book;
  const since: Record<string, string> = book.since === null ? {} : { since: book.since };
  const query = { status: 'approved,rejected,redirected', limit: '7', ...since };
  const { json } = await answered<SweepBody>('a sweep', doors.wake().sweep(query), [200]);
  const known = new Set(book.swept.map(({ id }) => id));
  for (const { delivery_id: id } of json.deliveries) {
    tally.check('L3', fault, !known.has(id), () => `the sweep brought ${id} a second time`);
    book.swept.push({ id, fault });
  }
  if (json.deliveries.length > 0) book.since = json.next_since;
}

/** Sends something new, retries what got no answer last time, or repeats something. */
export async function produce(life: Life): Promise<void> {
  const { book, random } = life;
  const open = book.events.filter((e) => !e.accepted);
  const again = random.below(4) === 0 ? random.pick(book.events) : undefined;
  await produceOne(life, again ?? (open.length > 20 ? random.pick(open) : undefined) ?? book.newEvent());
}

export async function produceOne({ doors, tally }: Life, event: SentEvent): Promise<void> {
  const wasAccepted = event.accepted;
  const { json } = await answered('an event', doors.akep().send(sampleEvent(event.id)), [202]);
  event.accepted = true;
  if (wasAccepted)
    tally.check('L2', event.fault, json.duplicate === true, () => `${event.id} was taken a second time`);
}

/** Follows the inbox; a cursor is moved only by what came with it. */
export function follow(follower: Follower): (life: Life) => Promise<void> {
  return async ({ doors, book, tally, random }) => {
    const { fault } = book;
    const { status, json } = await answered(
      'a page of the inbox',
      doors.akep().page(follower.cursor, 1 + random.below(20), follower.path),
      [200, 204],
    );
    if (status === 204) return;
    for (const { event_id } of json.events) {
      tally.check('L3', fault, !follower.seen.includes(event_id), () => `${event_id} came a second time`);
      follower.seen.push(event_id);
    }
    follower.cursor = json.next_cursor;
  };
}

/** Wants something from the agent, or asks again where no answer came. */
export async function call(life: Life): Promise<void> {
  const { book } = life;
  const unanswered = book.tasks.find((t) => t.id === null && !t.busy);
  await callOne(life, unanswered ?? book.newTask());
}

export async function callOne({ doors, tally }: Life, task: SentTask): Promise<void> {
  task.busy = true;
  try {
    const caller = createCaller({ agent: `${doors.url()}/@home/${AGENT.id}`, token: AGENT.key });
    const sending = caller
      .send(task.messageId, { messageId: task.messageId, returnImmediately: true })
      .catch((reason: unknown) => {
        throw isFinding(reason) ? new Finding(`a call: ${String(reason)}`) : new NoAnswer(String(reason));
      });
    const answer = await inTime('a call', sending);
    if (!('task' in answer)) throw new Finding(`${task.messageId} was answered without a task`);
    const before = task.id ?? answer.task.id;
    const isOne = before === answer.task.id;
    tally.check('L2', task.fault, isOne, () => `${task.messageId} is both ${before} and ${answer.task.id}`);
    task.id = before;
  } finally {
    task.busy = false;
  }
}

const EVERYDAY = ['unreachable', 'server_failed', 'aborted'];

function isFinding(reason: unknown): boolean {
  return !EVERYDAY.includes(faultOf(reason) ?? 'unreachable');
}
