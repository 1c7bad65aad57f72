import { afterEach, expect, test } from 'vitest';
import type { Identity } from '../../core/agents/key.ts';
import type { Accepted, PreparedDelivery } from '../../core/deliveries/accept.ts';
import type { ReadEvent } from '../../core/events/ingest.ts';
import { Fault, isFault } from '../../core/faults.ts';
import type { DoneOf, Kind, UnitOf } from '../../core/intake.ts';
import type { PreparedMessage } from '../../core/tasks/open.ts';
import type { PreparedReport } from '../../core/tasks/report.ts';
import { aJob } from '../../testing/stores/things.ts';
import { BorrowedTurns } from '../sqlite/turns.ts';
import { pack, unpack } from './pack.ts';
import { ThreadedIntake } from './threaded.ts';
import { fromNews, fromOutcome, toOutcome, toProblem } from './wire.ts';

const CROWD = 8;
/** How many values a packed delivery has, and which of them is the hash. */
const VALUES = 18;
const HASH = 3;
const EVENT_VALUES = 15;
const accepted = (id: string): Accepted => ({ kind: 'accepted', id, createdAt: 1, rate: null });

/** A thread that answers as the real one does, or as `answer` says. */
function program(answer = "{ done: { kind: 'accepted', id: 'there', createdAt: 1, rate: null } }"): URL {
  const source = `
    import { parentPort } from 'node:worker_threads';
    const of = { delivery: [${VALUES}, ${HASH}], event: [${EVENT_VALUES}, 0] };
    const units = (m) => m.parts.flatMap((part) => values(part, ...of[part.of]).map((contentHash) => ({ contentHash, of: part.of })));
    const values = (part, all, at) => part.packed.values.filter((_, i) => i % all === at);
    parentPort.on('message', (m) => {
      if (m.kind === 'batch') parentPort.postMessage({ kind: 'done',
        batches: [{ number: m.number, outcomes: units(m).map((unit) => (${answer})) }], news: [['desk:sp_1', units(m).map((u) => u.contentHash)]] });
      if (m.kind === 'ask') parentPort.postMessage({ kind: 'granted' });
      if (m.kind === 'stop') parentPort.close();
    });
    parentPort.postMessage({ kind: 'ready' });`;
  return new URL(`data:text/javascript,${encodeURIComponent(source)}`);
}

let intake: ThreadedIntake | undefined;
afterEach(() => intake?.stop());

function open(file: URL | null, held: Promise<void> = Promise.resolve()) {
  const seen = { here: 0, warnings: [] as string[], told: [] as string[] };
  const made = new ThreadedIntake({
    data: { at: { file: '', opened: null }, masters: [new Uint8Array()], settings: {} as never },
    turns: new BorrowedTurns(),
    here: async <K extends Kind>(_: K, unit: UnitOf<K>) => {
      seen.here++;
      await held;
      return accepted((unit as PreparedDelivery).contentHash) as DoneOf<K>;
    },
    tell: (news) => seen.told.push(...news.keys()),
    warn: (_, message) => seen.warnings.push(message),
    program: file,
  });
  intake = made;
  const unit = (contentHash: string) =>
    ({
      contentHash,
      raw: Buffer.from('{}'),
      identity: {},
      draft: {},
      shape: {},
    }) as unknown as PreparedDelivery;
  const crowd = (count = CROWD) =>
    Promise.allSettled(Array.from({ length: count }, (_, i) => made.take('delivery', unit(String(i)))));
  return { seen, unit, crowd, made };
}

/** Crowds until the thread has taken over. */
async function crowdUntilThere({ seen, crowd }: ReturnType<typeof open>): Promise<void> {
  for (;;) {
    const before = seen.here;
    await crowd();
    if (seen.here === before) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test('[D26] deliveries that come one by one are written right here', async () => {
  const { seen, made, unit } = open(program());
  for (let i = 0; i < 20; i++) {
    expect(await made.take('delivery', unit(String(i)))).toMatchObject({ id: String(i) });
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(seen.here).toBe(20);
});

test('[D26] a crowd is written by the thread, and its news are told', async () => {
  const opened = open(program());
  await crowdUntilThere(opened);
  expect(await opened.made.take('delivery', opened.unit('a'))).toEqual(accepted('there'));
  expect(opened.seen.told).toContain('desk:sp_1');
});

test('[D26] a thread that dies leaves nobody waiting, and the server goes on without it', async () => {
  const opened = open(program("unit.contentHash === 'deadly' ? process.exit(1) : { done: { id: 'there' } }"));
  await crowdUntilThere(opened);
  const lost = opened.made.take('delivery', opened.unit('deadly'));
  await expect(lost).rejects.toSatisfy((reason) => isFault(reason) && reason.fault === 'unavailable');
  expect(await opened.made.take('delivery', opened.unit('next'))).toEqual(accepted('next'));
});

test('[D26] a thread that cannot start costs nothing but a warning', async () => {
  const opened = open(new URL('data:text/javascript,throw new Error("no")'));
  for (let i = 0; i < 10; i++) {
    for (const outcome of await opened.crowd()) expect(outcome.status).toBe('fulfilled');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(opened.seen.here).toBe(10 * CROWD);
  expect(opened.seen.warnings.length).toBeLessThanOrEqual(3);
});

test('[D26] what a rule returns or throws arrives as it was on the other side of the wire', () => {
  const fault = new Fault('rate_limited', 'Wait.', { retryAfter: 3 });
  const sent = <T>(value: T): T => structuredClone(value);
  expect(fromOutcome(sent(toOutcome(accepted('a'))))).toEqual(accepted('a'));
  expect(fromOutcome(sent(toOutcome(fault)))).toMatchObject({
    fault: 'rate_limited',
    detail: { retryAfter: 3 },
  });
  expect(() => fromOutcome(sent(toProblem(fault)))).toThrow('Wait.');
  expect(() => fromOutcome(sent(toProblem(new TypeError('a bug'))))).toThrow('a bug');
  const news = fromNews(
    sent([
      ['jobs', ['a']],
      ['held', ['b']],
      ['jobs', ['c']],
    ]),
  );
  expect(news).toEqual(
    new Map([
      ['jobs', new Set(['a', 'c'])],
      ['held', new Set(['b'])],
    ]),
  );
});

test('[D26] what is packed for the thread is unpacked as it was, bodies and callers included', () => {
  const [one, two] = [{ key: { agent: 'one' } }, { key: { agent: 'two' } }] as unknown as Identity[];
  const unit = (identity: Identity | undefined, text: string, over = {}): PreparedDelivery => ({
    identity: identity as Identity,
    draft: {
      provider: 'p',
      type: 'output',
      headline: 'h',
      summary: 's',
      timeoutSeconds: null,
      callback: 'https://example.com/',
      taskId: null,
      threadId: 'th',
      interruptId: null,
      revises: null,
      dedupeKey: 'd',
      ...over,
    },
    raw: new Uint8Array(Buffer.from(text)),
    idempotencyKey: null,
    contentHash: `hash of ${text}`,
    bodyHash: `hash of ${text}`,
    shape: { parts: 3, irreversible: true },
  });
  const units = [unit(one, 'first'), unit(two, ''), unit(one, 'third', { timeoutSeconds: 60 })];
  const packed = pack('delivery', units);
  expect(packed.shared).toEqual([one, two]);
  expect(packed.values).toHaveLength(VALUES * units.length);
  expect(unpack('delivery', structuredClone(packed))).toEqual(units);
  expect(unpack('delivery', pack('delivery', []))).toEqual([]);
});

test('[D26] events travel the same way, and takers that many of them share are sent once', () => {
  const producer = { id: 'prod_one' } as ReadEvent['producer'];
  const takers: ReadEvent['takers'] = [
    { agent: 'a', keptFor: 1, ackRequired: true, ceiling: 'never', forwards: [] },
  ];
  const event = (eventId: string, over: Partial<ReadEvent> = {}): ReadEvent => ({
    producer,
    rate: null,
    takers,
    version: 3,
    bodyHash: `hash of ${eventId}`,
    kept: new Uint8Array(Buffer.from(`bytes of ${eventId}`)),
    outline: {
      eventId,
      eventType: 'tool.completed',
      taskId: null,
      causationId: null,
      resumePolicy: 'append_only',
      sequence: 7,
      subject: '[]',
      fillProducer: false,
      hasUri: false,
    },
    ...over,
  });
  const units = [event('one'), event('two', { rate: { perHour: 1, burst: 1 } })];
  const packed = pack('event', units);
  expect(packed.shared).toEqual([producer, null, takers, { perHour: 1, burst: 1 }]);
  expect(unpack('event', structuredClone(packed))).toEqual(units);
});

test('[D26] deliveries and events that wait together are sent by kind, and each gets its own answer', async () => {
  const opened = open(program('{ done: unit.of }'));
  await crowdUntilThere(opened);
  const event = { kept: Buffer.from('{}'), outline: {} } as unknown as ReadEvent;
  const both = [opened.made.take('delivery', opened.unit('a')), opened.made.take('event', event)];
  expect(await Promise.all(both)).toEqual(['delivery', 'event']);
});

test('[A13] the thread does not overtake what was handed in before it was there', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { seen, made, unit } = open(program(), held);
  const order: string[] = [];
  const first = Array.from({ length: CROWD }, (_, i) =>
    made.take('delivery', unit(String(i))).then(() => order.push('here')),
  );
  const later: Promise<unknown>[] = [];
  // Until this thread is no longer the one that is asked: the other one is running, and has to wait.
  for (let before = -1; before !== seen.here; ) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    before = seen.here;
    later.push(made.take('delivery', unit('later')).then(() => order.push('later')));
  }
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(order).toEqual([]);
  release();
  await Promise.all([...first, ...later]);
  expect(order.slice(0, CROWD)).toEqual(Array(CROWD).fill('here'));
});

test('[A13] messages to agents and what agents say travel in the same way', () => {
  const message: PreparedMessage = {
    place: { space: 'sp_1', agent: 'a', caller: 'agent:b' },
    id: 'task',
    body: '{"parts":[]}',
    dialect: '1.0',
    taskId: null,
    contextId: 'mine',
    network: null,
    retryKey: 'id:1',
    awaitFor: 30,
    push: { id: 'p', url: 'https://example.com/', dialect: '1.0' },
  };
  const again = { ...message, id: 'other', push: null };
  expect(unpack('message', structuredClone(pack('message', [message, again])))).toEqual([message, again]);
  const content = [{ part: 0, bytes: new Uint8Array([1, 2, 3]), digest: 'd' }];
  const report: PreparedReport = {
    space: 'sp_1',
    agent: 'a',
    tier: 'test',
    frameId: 'f1',
    taskId: 'task',
    kind: 'artifact',
    state: null,
    text: '{}',
    append: true,
    lastChunk: false,
    content,
  };
  const state: PreparedReport = { ...report, kind: 'state', state: 'completed', text: null, content: [] };
  expect(unpack('report', structuredClone(pack('report', [report, state])))).toEqual([report, state]);
});

test('[D20] jobs that a worker wants, and attempts that have ended, travel in the same way', () => {
  const wanted = { space: 'sp_1', page: [{ id: 'job-1', fence: 0 }] };
  expect(unpack('claim', structuredClone(pack('claim', [wanted])))).toEqual([wanted]);
  const ended = { at: 5, durationMs: 3, outcome: 'answered', status: 200, retryAfterSeconds: null };
  const attempts = { space: 'sp_1', page: [{ job: aJob(), ended }] };
  expect(unpack('attempts', structuredClone(pack('attempts', [attempts])))).toEqual([attempts]);
});

test('[D26] one event for many inboxes is a crowd by itself', async () => {
  const { seen, made } = open(program('{ done: { duplicate: false } }'));
  const takers = Array.from({ length: CROWD }, (_, n) => ({ agent: `agent-${n}` }));
  const event = { kept: Buffer.from('{}'), outline: {}, takers } as unknown as ReadEvent;
  while (seen.told.length === 0) {
    await made.take('event', event);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
});
