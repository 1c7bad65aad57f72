import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll } from 'vitest';
import { addProducer, type NewProducer } from '../../core/events/producers.ts';
import { subscribeToEverything } from '../../core/events/subscriptions/subscribe.ts';
import { orThrow } from '../../core/faults.ts';
import { openWorld } from '../wake.ts';
import { World, type WorldOptions } from '../world.ts';

export type EnvelopeWire = {
  spec: string;
  event_id: string;
  event_type: string;
  occurred_at: string;
  source: { producer_id?: string; name: string; type: string };
  subject: Record<string, unknown>;
  knowledge: { summary: string; content?: unknown } & Record<string, unknown>;
  routing: { resume_policy: string; causation_id?: string; interrupt_id?: string } & Record<string, unknown>;
};

export type PageWire = { events: EnvelopeWire[]; next_cursor: string; has_more: boolean };
export type Changes = Record<string, unknown>;

let counter = 0;

export function freshId(): string {
  counter += 1;
  return `evt_test_${String(counter).padStart(8, '0')}`;
}

/** An event that is fine; `over` changes or adds members. */
export function anEvent(over: Changes = {}): EnvelopeWire & Changes {
  return {
    spec: 'akep.v1',
    event_id: freshId(),
    event_type: 'knowledge.acquired',
    occurred_at: '2026-11-15T09:00:00Z',
    source: { name: 'demo', type: 'system' },
    subject: { task_id: 't_1' },
    knowledge: { kind: 'observation', content_type: 'text/plain', summary: 'hello AKEP' },
    routing: { resume_policy: 'append_only' },
    ...over,
  };
}

export type Answered = { status: number; text: string; json: Record<string, unknown>; headers: Headers };

export async function answered(reply: Promise<Response>): Promise<Answered> {
  const { status, headers } = await reply;
  const text = await (await reply).text();
  return { status, headers, text, json: text === '' ? {} : JSON.parse(text) };
}

type Sending = { headers?: Record<string, string | null>; path?: string; contentType?: string };

/** The other side: signs with the `standardwebhooks` package, as a stranger would. */
/** Who signs, and with what. */
type Signer = { producer: { id: string }; keyId: string; secret: string };

export class Sender {
  readonly #world: World;
  readonly #webhook: Webhook;
  readonly made: Signer;

  constructor(world: World, made: Signer, secret: string = made.secret) {
    this.#world = world;
    this.made = made;
    this.#webhook = secret.startsWith('whsec_')
      ? new Webhook(secret)
      : new Webhook(secret, { format: 'raw' });
  }

  get id(): string {
    return this.made.producer.id;
  }

  /** The three headers for these bytes, by the server's clock. */
  headers(id: string, body: string, seconds = nowOf(this.#world)): Record<string, string> {
    return {
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': this.#webhook.sign(id, new Date(seconds * 1000), body),
    };
  }

  /** Sends an event, or as `{id, body}` any text under an id. A header that is null is left out. */
  send(event: Changes, sending: Sending = {}): Promise<Answered> {
    const given = typeof event.body === 'string';
    const body = given ? String(event.body) : JSON.stringify(event);
    const id = String(given ? event.id : event.event_id);
    const headers: Record<string, string> = {
      'content-type': sending.contentType ?? 'application/json',
      ...this.headers(id, body),
    };
    for (const [name, value] of Object.entries(sending.headers ?? {})) {
      if (value === null) delete headers[name];
      else headers[name] = value;
    }
    const url = this.#world.url + (sending.path ?? '/akep/events');
    return answered(fetch(url, { method: 'POST', headers, body }));
  }

  /** Sends what must be taken. */
  async sent(over: Changes = {}): Promise<EnvelopeWire> {
    const event = anEvent(over);
    const { status, text } = await this.send(event);
    if (status !== 202) throw new Error(`the event was refused: ${status} ${text}`);
    return event;
  }
}

export function nowOf(world: World): number {
  return Math.floor(world.room.clock.now() / 1_000_000);
}

export async function addSender(world: World, wanted: Partial<NewProducer> = {}): Promise<Sender> {
  const fresh = { space: world.space.id, name: 'demo', tier: 'test' as const, ...wanted };
  return new Sender(world, orThrow(await addProducer(world.room, fresh, 'test')));
}

export type OpenInbox = { world: World; sender: Sender };

/** A world whose agent takes everything, with one producer; gone when its test ends. */
export async function openInbox(options: WorldOptions = {}): Promise<OpenInbox> {
  return withInbox(await openWorld(options));
}

/** One for all tests of a group; none of them may leave anything behind. */
export function sharedInbox(options: WorldOptions = {}): () => OpenInbox {
  let shared: OpenInbox | undefined;
  beforeAll(async () => {
    shared = await withInbox(await World.open(options));
  });
  afterAll(() => shared?.world.stop());
  return () => {
    if (shared === undefined) throw new Error('asked for before its time');
    return shared;
  };
}

async function withInbox(world: World): Promise<OpenInbox> {
  await world.room.store.write(world.space.id, ['subscriptions'], (tx) =>
    subscribeToEverything(world.room, tx, world.agent.agent.id),
  );
  return { world, sender: await addSender(world) };
}

export async function page(world: World, query = '', key = world.agent.key): Promise<PageWire> {
  const { status, text } = await answered(world.get(`/akep/events${query}`, key));
  if (status !== 200) throw new Error(`the inbox was not shown: ${status} ${text}`);
  return JSON.parse(text) as PageWire;
}

/** The whole inbox, page by page. */
export async function readAll(world: World, key = world.agent.key, limit = 1000): Promise<EnvelopeWire[]> {
  const events: EnvelopeWire[] = [];
  let query = `?limit=${limit}`;
  for (;;) {
    const read = await page(world, query, key);
    events.push(...read.events);
    if (!read.has_more) return events;
    query = `?limit=${limit}&cursor=${read.next_cursor}`;
  }
}

export const idsOf = (events: readonly { event_id: string }[]): string[] => events.map((e) => e.event_id);

export type ResumeWire = {
  resume_id: string;
  event_id: string;
  wait_id: string | null;
  run_state_ref: string | null;
  decision: string;
  reason: string;
  out_of_order: boolean;
};

export async function resumesOf(world: World, key = world.agent.key): Promise<ResumeWire[]> {
  const { json } = await answered(world.get('/akep/resumes?limit=1000', key));
  return json.resumes as ResumeWire[];
}

/** Subscribes an agent; `over` changes what is otherwise a subscription of knowledge.acquired by polling. */
export function subscription(over: Changes = {}): Changes {
  return {
    spec: 'akep.v1',
    sink: 'test',
    event_types: ['knowledge.acquired'],
    delivery: { type: 'poll' },
    ...over,
  };
}

export async function subscribed(world: World, over: Changes = {}, key = world.agent.key) {
  const { status, json, text } = await answered(world.post('/akep/subscriptions', subscription(over), key));
  if (status !== 201) throw new Error(`the subscription was refused: ${status} ${text}`);
  return json as { subscription_id: string; secret?: string };
}

export async function opened(world: World, over: Changes = {}): Promise<string> {
  const { status, json, text } = await answered(
    world.post('/akep/waits', { subject: { task_id: 't_1' }, run_state_ref: 'run-1', ...over }),
  );
  if (status !== 201) throw new Error(`the wait was refused: ${status} ${text}`);
  return String(json.wait_id);
}
