import { createCaller, isEnded, type Task, textIn } from '@lanternroom/sdk/a2a';
import type { Page } from '../akep.ts';
import type { Detail } from '../desk.ts';
import { AGENT } from '../server.ts';
import { each, given, until } from '../until.ts';
import type { Reply, SweepBody } from '../wake.ts';
import { type Entry, sendable } from './book.ts';
import { callOne, deliverOne, type Life, produceOne, sweep } from './clients.ts';
import { answered, NoAnswer } from './doors.ts';
import type { WatchfulReceiver } from './outside.ts';

/** A lease of 30 s that a dead worker left behind, a retry after 5 s, and time for a busy machine. */
const SETTLES_WITHIN_MS = 240_000;

const sameList = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((item, at) => item === other[at]);

/** Every client that never got its answer asks again, as the protocols tell it to. */
export async function nothingUnanswered(life: Life): Promise<void> {
  const { entries, events, tasks } = life.book;
  const again = (work: () => Promise<void>) =>
    until('an answer at last', () => work().then(() => true, ignoreNoAnswer));
  const waiting = [
    ...sendable(entries).map((entry) => () => deliverOne(life, entry)),
    ...events.filter((e) => !e.accepted).map((event) => () => produceOne(life, event)),
    ...sendable(tasks).map((task) => () => callOne(life, task)),
  ];
  await each(waiting, async (work) => void (await again(work)));
}

/** L1, L2: what was acknowledged is there, once. With `all`, also what the desk was told. */
export async function stillThere(life: Life, all = false): Promise<void> {
  const { doors, book, tally } = life;
  const known = book.entries.filter((e) => e.id !== null);
  const some = all ? known : known.filter((e) => e.fault === book.fault);
  await each([...some], async (entry) => {
    const { status } = await asked(() => doors.wake().response(given(entry.id, 'id')), [200, 404]);
    tally.check('L1', entry.fault, status === 200, () => `the delivery ${entry.id} is gone`);
  });
  if (!all) return;
  const { json } = await asked(() => doors.wake().sweep({ limit: '1' }), [200]);
  tally.check(
    'L2',
    book.fault,
    json.total === known.length,
    () => `${json.total} deliveries for ${known.length} keys`,
  );
}

/** L1, L5: by itself nothing stays held or unsent; and what the desk was told about decisions is so. */
export async function settled({ doors, book, tally }: Life): Promise<Map<string, Detail>> {
  const details = new Map<string, Detail>();
  const isOver = (detail: Detail) =>
    detail.state !== 'held' && detail.callbacks.every(({ state }) => state === 'done');
  await each([...book.entries], async (entry) => {
    const id = given(entry.id, 'id');
    const look = async () => {
      const { json } = await asked(
        () => doors.desk().request<Detail>('GET', `/desk/deliveries/${id}`),
        [200],
      );
      details.set(id, json);
      return isOver(json);
    };
    const isSettled = await until(`${id} is settled`, look, SETTLES_WITHIN_MS).catch(() => false);
    const detail = given(details.get(id), 'detail');
    tally.check(
      'L5',
      entry.fault,
      isSettled,
      () => `${id} is not settled: ${JSON.stringify(detail.callbacks)}`,
    );
    compareDecisions(entry, detail, tally);
    const numbers = detail.attempts.map((attempt) => attempt.number);
    const inOrder = numbers.every((number, at) => number === at + 1);
    tally.check('L5', entry.fault, inOrder, () => `the attempts of ${id} are numbered ${numbers.join(', ')}`);
  });
  return details;
}

function compareDecisions(entry: Entry, detail: Detail, tally: Life['tally']): void {
  const { fault, id } = entry;
  const known = new Map(detail.decisions.map((decision) => [decision.feedback, decision.state]));
  for (const { feedback, reply, undone } of entry.asked) {
    const state = known.get(feedback);
    const isPromised = reply === 'held' || reply === 'decided';
    if (isPromised)
      tally.check('L1', fault, state !== undefined, () => `a decision on ${id} is gone: ${feedback}`);
    if (reply === 'refused')
      tally.check('L2', fault, state === undefined, () => `a refused decision on ${id} was stored`);
    if (undone === 'acknowledged')
      tally.check('L1', fault, state === 'undone', () => `a decision on ${id} was undone, and is ${state}`);
  }
  const inEffect = detail.decisions.filter(({ state }) => state !== 'undone').length;
  tally.check('L2', fault, inEffect <= 1, () => `${id} has ${inEffect} decisions`);
}

/** L1, L2, L5: every task that was acknowledged has its answer, and was given to the agent once. */
export async function tasksEnded({ doors, book, tally }: Life): Promise<void> {
  await each([...book.tasks], async (task) => {
    const id = given(task.id, 'task id');
    const caller = () => createCaller({ agent: `${doors.url()}/@home/${AGENT.id}`, token: AGENT.key });
    let last: Task | undefined;
    const look = async () => {
      last = await caller().get(id);
      return isEnded(last.status.state);
    };
    const isDone = await until(`task ${id} ends`, look, SETTLES_WITHIN_MS).catch(() => false);
    tally.check('L1', task.fault, last !== undefined, () => `the task ${id} is gone`);
    const said = textIn(last?.status.message);
    const isRight = isDone && said === `Answer to ${task.messageId}`;
    tally.check('L5', task.fault, isRight, () => `the task ${id} is ${last?.status.state}: ${said}`);
    const runs = book.runs.get(id) ?? 0;
    tally.check('L2', task.fault, runs === 1, () => `the task ${id} was given out ${runs} times`);
  });
}

/** L3: what the loop saw, over all faults, is what a new one sees from the start: nothing came in behind it. */
export async function sweepIsWhole(life: Life): Promise<void> {
  const { doors, book, tally } = life;
  for (let seen = -1; seen !== book.swept.length; ) {
    seen = book.swept.length;
    await until('a sweep', () => sweep(life).then(() => true, ignoreNoAnswer));
  }
  const afresh: string[] = [];
  for (let since: string | null = null; ; ) {
    const from: Record<string, string> = since === null ? {} : { since };
    const query = { status: 'approved,rejected,redirected', limit: '200', ...from };
    const { json } = await asked<SweepBody>(() => doors.wake().sweep(query), [200]);
    if (json.deliveries.length === 0) break;
    afresh.push(...json.deliveries.map((one) => one.delivery_id));
    since = json.next_since;
  }
  afresh.forEach((id, at) => {
    const seen = book.swept[at];
    tally.check(
      'L3',
      seen?.fault ?? book.fault,
      seen?.id === id,
      () => `place ${at} of the sweep is ${id}, and was ${seen?.id}`,
    );
  });
  const ids = book.swept.map(({ id }) => id);
  tally.check(
    'L3',
    book.fault,
    sameList(ids, afresh),
    () => `the loop saw ${ids.length}, a new one ${afresh.length}`,
  );
}

/** The events of the inbox in their order, each with the bytes of the page that it came in. */
async function inbox({ doors }: Life): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let count = 0;
  for (let cursor: string | null = null; ; ) {
    const at: string | null = cursor;
    const { json, text }: Reply<Page> = await asked(() => doors.akep().page(at, 50), [200]);
    for (const { event_id } of json.events) found.set(event_id, text);
    count += json.events.length;
    cursor = json.next_cursor;
    if (!json.has_more) break;
  }
  if (count !== found.size) throw new Error(`the inbox has ${count - found.size} events twice`);
  return found;
}

/** L1, L2, L3: every accepted event is there once, and every follower saw a beginning of the one order. */
export async function inboxIsWhole(life: Life): Promise<void> {
  const { book, tally } = life;
  const order = [...(await inbox(life)).keys()];
  const there = new Set(order);
  for (const { id, fault } of book.events) {
    tally.check('L1', fault, there.has(id), () => `the event ${id} is gone`);
  }
  for (const { path, seen } of book.followers) {
    seen.forEach((id, at) => {
      tally.check(
        'L3',
        book.fault,
        order[at] === id,
        () => `${path} showed ${id} at place ${at}, where ${order[at]} is`,
      );
    });
  }
}

/** L4: poll, sweep, callback and inbox carry the same bytes; what was undone or never decided is nowhere. */
export async function sameBytes(
  life: Life,
  receiver: WatchfulReceiver,
  details: Map<string, Detail>,
): Promise<void> {
  const { doors, book, tally } = life;
  const events = await inbox(life);
  const swept = new Set(book.swept.map(({ id }) => id));
  await each([...book.entries], async (entry) => {
    const id = given(entry.id, 'id');
    const { text, json } = await asked(() => doors.wake().response(id), [200]);
    const page = events.get(`evt_decision_${id}`);
    const called = receiver.bodiesOf(id);
    const check = (holds: boolean, problem: string) =>
      tally.check('L4', entry.fault, holds, () => `${id}: ${problem}`);
    const isDecided = details.get(id)?.state === 'decided';
    check(isDecided === (json.status !== 'pending'), `the desk and the poll disagree (${json.status})`);
    check(swept.has(id) === isDecided, 'the sweep and the poll disagree');
    check((page !== undefined) === isDecided, 'the inbox and the poll disagree');
    check(
      called.length > 0 === (isDecided && 'callback_webhook' in entry.body),
      `${called.length} callbacks`,
    );
    if (page !== undefined) check(page.includes(text), 'the inbox has other bytes');
    for (const body of called) check(body === text, 'a callback had other bytes');
    for (const seen of book.polled.filter((p) => p.id === id))
      check(seen.text === text, 'a poll had other bytes');
    const inEffect = entry.asked.find(({ feedback }) => feedback === json.feedback);
    if (isDecided)
      check(inEffect !== undefined && inEffect.undone !== 'acknowledged', `answered with ${json.feedback}`);
    for (const { feedback, undone } of entry.asked) {
      if (undone === 'acknowledged')
        check(![text, ...called].some((one) => one.includes(`"${feedback}"`)), 'undone, and sent');
    }
  });
}

/** L6: exactly one line for every change. */
export async function oneLineEach({ doors, book, tally }: Life, details: Map<string, Detail>): Promise<void> {
  const exported = await until('the ledger is exported', async () => {
    const response = await doors.desk(0).open('/desk/audit/export?format=ndjson');
    return response.status === 200 && (await response.text());
  });
  const counts = new Map<string, number>();
  for (const line of exported.trimEnd().split('\n')) {
    const { action, subject } = JSON.parse(line) as { action: string; subject: string };
    counts.set(`${action} ${subject}`, (counts.get(`${action} ${subject}`) ?? 0) + 1);
  }
  const compare = (fault: string, subject: string, actions: readonly string[], wanted: number) => {
    const found = actions.reduce((sum, action) => sum + (counts.get(`${action} ${subject}`) ?? 0), 0);
    tally.check(
      'L6',
      fault,
      found === wanted,
      () => `${found} lines ${actions.join('/')} for ${subject}, and ${wanted} changes`,
    );
  };
  for (const { id, fault } of book.entries) {
    const subject = given(id, 'id');
    const { decisions, attempts } = given(details.get(subject), 'detail');
    const of = (state: string) => decisions.filter((decision) => decision.state === state).length;
    compare(fault, subject, ['delivery.accepted'], 1);
    compare(fault, subject, ['decision.held', 'decision.made'], decisions.length);
    compare(fault, subject, ['decision.effective', 'decision.made'], of('decided'));
    compare(fault, subject, ['decision.undone'], of('undone'));
    compare(fault, subject, ['callback.attempted'], attempts.length);
  }
  for (const { id, fault } of book.events) compare(fault, id, ['event.accepted'], 1);
  for (const { id, fault } of book.tasks) compare(fault, given(id, 'task id'), ['task.opened'], 1);
}

export async function ledgerVerifies({ doors, book, tally }: Life): Promise<void> {
  const verifying = () => doors.desk(0).request<{ ok: boolean }>('GET', '/desk/audit/verify');
  const { json, text } = await asked(verifying, [200]);
  tally.check('L6', book.fault, json.ok, () => `the ledger does not verify: ${text}`);
}

/** An answer, however long the servers take to give one. */
function asked<T>(
  asking: () => Promise<{ status: number; headers: Headers; text: string; json: T }>,
  statuses: readonly number[],
) {
  return until('an answer', () => answered('a look', asking(), statuses).catch(ignoreNoAnswer));
}

function ignoreNoAnswer(reason: unknown): false {
  if (reason instanceof NoAnswer) return false;
  throw reason;
}
