import type { Clock } from '../clock.ts';
import { LanternError } from '../faults.ts';
import { isRecord, parseJson, textOf } from '../json.ts';
import type { WakeLog } from '../log/log.ts';
import { createRecorder } from '../log/recorder.ts';
import type { ResponseBody } from './wire.ts';

export type JournalEvent =
  | 'deliver'
  | 'delivered'
  | 'adopted'
  | 'answer'
  | 'assumption'
  | 'timed_out'
  | 'withdrawing'
  | 'refused'
  | 'alert';

/** What is remembered about a delivery of ours. */
export interface Known {
  readonly deliveredAtMs: number;
  readonly timeoutSeconds: number | null;
}

/** The log as the client uses it: writes lines without the key in them, and knows which deliveries are ours. */
export interface Journal {
  record(event: JournalEvent, facts: Readonly<Record<string, unknown>>): Promise<void>;
  recordAnswer(body: ResponseBody): Promise<void>;
  /** Records that a delivery is ours. */
  keep(event: 'delivered' | 'adopted', deliveryId: string, facts: KeptFacts): Promise<void>;
  find(deliveryId: string): Promise<Known | null>;
  /**
   * What was submitted under an idempotency key, by this process or by an earlier one with this log: the deliveries by
   * agent. Several agents of one machine share a log, and each has keys of its own.
   */
  findByKey(idempotencyKey: string): Promise<ReadonlyMap<string, string>>;
}

export interface KeptFacts {
  readonly timeout_seconds: number | null;
  readonly [fact: string]: unknown;
}

export interface JournalParts {
  readonly log: WakeLog;
  readonly clock: Clock;
  readonly apiKey: string;
  /** Base URL: one file may hold the lines of several servers. */
  readonly server: string;
  /** And of several agents; null when only the server knows which one the key belongs to. */
  readonly agentId: string | null;
}

export function createJournal(parts: JournalParts): Journal {
  const known = new Map<string, Known>();
  const byKey = new Map<string, Map<string, string>>();
  const answered = new Set<string>();

  const record: Journal['record'] = createRecorder(parts);
  const past = pastOf(parts.log);
  let seen = 0;

  async function recordAnswer(body: ResponseBody): Promise<void> {
    const mark = `${idOf(body.delivery_id)} ${body.status}`;
    if (body.status === 'pending' || answered.has(mark)) return;
    await record('answer', { delivery_id: body.delivery_id, response: body });
    answered.add(mark);
  }

  async function keep(event: 'delivered' | 'adopted', deliveryId: string, facts: KeptFacts): Promise<void> {
    // In memory first: if writing the line fails, this process still knows what it sent.
    known.set(idOf(deliveryId), { deliveredAtMs: parts.clock.now(), timeoutSeconds: facts.timeout_seconds });
    keepKey(textOf(facts.idempotency_key), textOf(facts.agent_id), deliveryId);
    await record(event, { delivery_id: deliveryId, ...facts });
  }

  async function find(deliveryId: string): Promise<Known | null> {
    assertId(deliveryId);
    const found = known.get(idOf(deliveryId));
    if (found !== undefined) return found;
    await readOn();
    return known.get(idOf(deliveryId)) ?? null;
  }

  async function findByKey(idempotencyKey: string): Promise<ReadonlyMap<string, string>> {
    await readOn();
    return byKey.get(idempotencyKey) ?? new Map();
  }

  function keepKey(key: string | null, agentId: string | null, deliveryId: string): void {
    if (key === null || agentId === null) return;
    byKey.set(key, (byKey.get(key) ?? new Map()).set(agentId, deliveryId));
  }

  // Another process may have delivered meanwhile, or this one before a restart.
  async function readOn(): Promise<void> {
    await past.readOn();
    for (; seen < past.kept.length; seen += 1) restore(past.kept[seen]);
  }

  function restore(entry: KeptLine | undefined): void {
    if (entry === undefined || entry.server !== parts.server) return;
    if (parts.agentId !== null && entry.agentId !== null && entry.agentId !== parts.agentId) return;
    if (!known.has(entry.id)) known.set(entry.id, entry.known);
    // What was asked again under its key, because the server had lost it, stands further down. And a delivery has
    // several keys when later ones met its dedupe key (W26).
    keepKey(entry.key, entry.agentId, entry.id);
  }

  return { record, recordAnswer, keep, find, findByKey };
}

/** The refusal of W23: an answer to something this client never asked. */
export function foreign(deliveryId: string): LanternError {
  const message = `Delivery ${JSON.stringify(deliveryId)} was not submitted by this client, so its answer is not taken: call adopt() with the id if it was submitted elsewhere on purpose.`;
  return new LanternError('foreign_delivery', message);
}

/** Plain JavaScript hands on whatever it has, also a promise that nobody awaited. */
function assertId(given: unknown): void {
  if (typeof given === 'string') return;
  const message =
    'A delivery id is a text: await deliver(), and give the deliveryId that is in what it returns.';
  throw new LanternError('wrong_usage', message);
}

/** Whether a reply is about the delivery that was asked for. UUIDs compare without case. */
export function isSameId(one: string, other: string): boolean {
  return idOf(one) === idOf(other);
}

function idOf(deliveryId: string): string {
  return deliveryId.toLowerCase();
}

interface KeptLine {
  readonly id: string;
  readonly server: unknown;
  readonly agentId: string | null;
  readonly key: string | null;
  readonly known: Known;
}

/** What a log says about deliveries, shared by all its clients: a log returns each line only once. */
interface Past {
  readonly kept: readonly KeptLine[];
  readOn(): Promise<void>;
}

const pasts = new WeakMap<WakeLog, Past>();

function pastOf(log: WakeLog): Past {
  const found = pasts.get(log);
  if (found !== undefined) return found;
  const kept: KeptLine[] = [];
  const take = (line: string) => {
    const entry = readLine(line);
    if (entry !== null) kept.push(entry);
  };
  const readOn = async () => {
    if (log.eachNewLine !== undefined) await log.eachNewLine(take);
    else for (const line of await log.newLines()) take(line);
  };
  const past = { kept, readOn };
  pasts.set(log, past);
  return past;
}

/** A half-written line, left by a crash or a full disk, may stand before a whole one from another process. */
function parseLine(line: string): unknown {
  return parseJson(line) ?? parseJson(line.slice(line.lastIndexOf('{"at":"')));
}

function readLine(line: string): KeptLine | null {
  const entry = parseLine(line);
  if (!isRecord(entry) || typeof entry.delivery_id !== 'string') return null;
  if (entry.event !== 'delivered' && entry.event !== 'adopted') return null;
  const seconds = entry.timeout_seconds;
  const at = Date.parse(String(entry.at));
  const known = { deliveredAtMs: at, timeoutSeconds: typeof seconds === 'number' ? seconds : null };
  if (Number.isNaN(at)) return null;
  return {
    id: idOf(entry.delivery_id),
    server: entry.server,
    agentId: textOf(entry.agent_id),
    key: textOf(entry.idempotency_key),
    known,
  };
}
