import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { createWake, memoryLog, type Wake, type WakeOptions } from '@lanternroom/sdk';
import { onTestFinished } from 'vitest';
import { bodyOf, httpReceiver } from './network/receivers.ts';
import { ManualClock, sampleDelivery, World, type WorldOptions } from './world.ts';

/** Decisions take effect at once, so that a test need not turn the clock for them. */
export const AT_ONCE = { LANTERNROOM_UNDO_SECONDS: '0' };

/** A world that ends with its test. */
export async function openWorld(options: WorldOptions = {}): Promise<World> {
  const world = await World.open(options);
  onTestFinished(() => world.stop());
  return world;
}

/** The same with a clock that stands still until the test turns it. */
export async function openStillWorld(
  env: Record<string, string> = {},
): Promise<{ world: World; clock: ManualClock }> {
  const clock = new ManualClock();
  return { world: await openWorld({ env, clock }), clock };
}

/** The body of a delivery that is fine, with changes. */
export function draft(world: World, over: Record<string, unknown> = {}): Record<string, unknown> {
  return { ...sampleDelivery(world.agent.agent.id), ...over };
}

export type Told = { status: number; text: string; headers: Headers };

export async function told(reply: Promise<Response>): Promise<Told> {
  const { status, headers } = await reply;
  return { status, headers, text: await (await reply).text() };
}

export type ErrorWire = { error: { code: string; message: string; docs: string; field?: string } };

/** Status and error of a refusal. */
export async function refusal(reply: Promise<Response>): Promise<{ status: number } & ErrorWire['error']> {
  const { status, text } = await told(reply);
  const { error } = JSON.parse(text) as ErrorWire;
  return { status, ...error };
}

export type ResponseWire = {
  delivery_id: string;
  status: string;
  feedback: string | null;
  edited_content: unknown;
  responded_at: string | null;
  timed_out_at?: string;
  withdrawn_at?: string;
};

export type SweepWire = {
  deliveries: ResponseWire[];
  total: number;
  has_more: boolean;
  next_since: string | null;
};

/** What was asked for, or the refusal as an error. */
async function granted<T>(reply: Promise<Response>): Promise<T> {
  const { status, text } = await told(reply);
  if (status !== 200) throw new Error(`expected 200, not ${status} ${text}`);
  return JSON.parse(text) as T;
}

export function checked(world: World, id: string, key?: string): Promise<ResponseWire> {
  return granted(world.get(`/wake/v1/response/${id}`, key));
}

export function swept(world: World, query: string, key?: string): Promise<SweepWire> {
  return granted(world.get(`/wake/v1/responses?${query}`, key));
}

export type LedgerWire = { action: string; actor: string; subject: string; data: Record<string, unknown> };

/** The ledger's newest lines of one kind. */
export async function ledger(world: World, action: string): Promise<LedgerWire[]> {
  const page = (await (await world.desk('GET', '/desk/audit?limit=500')).json()) as { entries: LedgerWire[] };
  return page.entries.filter((line) => line.action === action);
}

/** The real client, with a log that ends with the test. */
export function client(world: World, over: Partial<WakeOptions> = {}): Wake {
  return createWake({ url: world.url, apiKey: world.agent.key, log: memoryLog(), ...over });
}

export type Called = { path: string; body: string; headers: IncomingMessage['headers'] };
export type HookAnswer = { status: number; headers?: Record<string, string> };

/** A callback receiver on loopback that keeps what it was sent and answers as the test says. */
export async function openHook(answer: (called: Called, count: number) => HookAnswer | Promise<HookAnswer>) {
  const calls: Called[] = [];
  const { port } = await httpReceiver(async (request, reply) => {
    const body = await bodyOf(request);
    const called = { path: request.url ?? '', body, headers: request.headers };
    calls.push(called);
    const { status, headers = {} } = await answer(called, calls.length);
    reply.writeHead(status, headers).end();
  });
  return { origin: `http://127.0.0.1:${port}`, port, calls };
}

export type JobWire = { job_id: string; state: string; attempts: number; due_at: string | null };
export type AttemptWire = { number: number; at: string; outcome: string; status: number | null };
export type CallbackRecord = { callbacks: JobWire[]; attempts: AttemptWire[] };

/** Waits, on the store's own announcements, until so many attempts are on the record. */
export async function attemptsOf(world: World, id: string, count: number): Promise<CallbackRecord> {
  const { signals } = world.running.ground.data.store;
  for (;;) {
    const changed = new Promise<void>((resolve) => {
      const off = signals.on(`desk:${world.space.id}`, () => {
        off();
        resolve();
      });
    });
    const reply = await world.desk('GET', `/desk/deliveries/${id}`);
    const record = (await reply.json()) as CallbackRecord;
    if (record.attempts.length >= count) return record;
    await changed;
  }
}

/** Tells the dispatcher to look for work, as a commit on another replica would: it does not see the manual clock turn. */
export function announceJobs(world: World): void {
  world.running.ground.data.store.signals.tell(new Map([['jobs', new Set<string>()]]));
}

/** Sends bytes as they are, and gives back the first that come. */
export function sendRaw(world: World, chunks: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
    socket.on('error', reject).once('data', (data) => {
      resolve(data.toString('utf8'));
      socket.destroy();
    });
    for (const chunk of chunks) socket.write(chunk);
  });
}
