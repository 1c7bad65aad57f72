import { expect, it } from 'vitest';
import {
  addSender,
  anEvent,
  answered,
  idsOf,
  openInbox,
  type PageWire,
  readAll,
  type Sender,
  subscribed,
} from '../../../testing/akep/akep.ts';
import { Relay, SseReader } from '../../../testing/akep/akep-live.ts';
import type { World } from '../../../testing/world.ts';

const PRODUCERS = 4;
const EVENTS_EACH = 100;
const TOTAL = PRODUCERS * EVENTS_EACH;

/** Repeatable chance (mulberry32): a reader goes away after so many events. */
function chance(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

async function produce(sender: Sender): Promise<void> {
  // At full load: eight in the air at any time.
  const left = Array.from({ length: EVENTS_EACH }, () => anEvent());
  const work = async () => {
    for (let event = left.pop(); event !== undefined; event = left.pop()) {
      const { status } = await sender.send(event);
      if (status !== 202) throw new Error(`refused: ${status}`);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
}

async function poll(world: World, key: string, random: (n: number) => number): Promise<string[]> {
  const seen: string[] = [];
  let cursor = '';
  while (seen.length < TOTAL) {
    const query = `?limit=${1 + random(50)}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const { status, json } = await answered(world.get(`/akep/events${query}`, key));
    if (status !== 200) throw new Error(`not shown: ${status}`);
    // Now and then the answer is lost on the way, and is asked for again.
    if (random(5) === 0) continue;
    seen.push(...idsOf((json as PageWire).events));
    cursor = String(json.next_cursor);
  }
  return seen;
}

async function wait(world: World, key: string, random: (n: number) => number): Promise<string[]> {
  const seen: string[] = [];
  let cursor = '';
  while (seen.length < TOTAL) {
    const gone = new AbortController();
    const query = `?timeout_seconds=20&limit=${1 + random(30)}${cursor === '' ? '' : `&cursor=${cursor}`}`;
    const asking = fetch(`${world.url}/akep/events/wait${query}`, {
      headers: { authorization: `Bearer ${key}` },
      signal: gone.signal,
    });
    if (random(4) === 0) gone.abort();
    const reply = await asking.catch(() => null);
    if (reply?.status !== 200) continue;
    const read = (await reply.json()) as PageWire;
    seen.push(...idsOf(read.events));
    cursor = read.next_cursor;
  }
  return seen;
}

async function stream(world: World, key: string, random: (n: number) => number): Promise<string[]> {
  const seen: string[] = [];
  let lastId: string | null = null;
  while (seen.length < TOTAL) {
    const headers: Record<string, string> = lastId === null ? {} : { 'last-event-id': lastId };
    const reader = await SseReader.open(world, headers, '', key);
    const stay = 1 + random(120);
    for (let n = 0; n < stay && seen.length < TOTAL; n++) {
      const event = await reader.nextEvent();
      if (event === null) break;
      seen.push(event.event_id);
      lastId = reader.lastId;
    }
    await reader.leave();
  }
  return seen;
}

async function relay(world: World, key: string, random: (n: number) => number): Promise<string[]> {
  const seen: string[] = [];
  let cursor = '';
  while (seen.length < TOTAL) {
    const reader = await Relay.open(world, cursor === '' ? '' : `?cursor=${cursor}`, key);
    const stay = 1 + random(120);
    for (let n = 0; n < stay && seen.length < TOTAL; n++) {
      const frame = await reader.next();
      if (frame === null) break;
      if (frame.type !== 'event') continue;
      seen.push(frame.event.event_id);
      cursor = frame.cursor;
    }
    reader.leave();
  }
  return seen;
}

it('[K11][K12][K15] readers that come and go at random under full load see every event once, in one order', async () => {
  const { world } = await openInbox({ env: { LANTERNROOM_RATE_PRODUCER: '0' } });
  const { key } = world.agent;
  const other = await world.addAgent({ id: 'agent-02' });
  await subscribed(world, { event_types: ['*'] }, other.key);
  const senders = [];
  for (let n = 0; n < PRODUCERS; n++) senders.push(await addSender(world, { name: `producer ${n}` }));
  const reading = [poll, wait, stream, relay].flatMap((read, n) => [
    read(world, key, chance(n + 1)),
    read(world, other.key, chance(n + 11)),
  ]);
  await Promise.all(senders.map(produce));
  const seen = await Promise.all(reading);
  const order = idsOf(await readAll(world, key));
  expect(new Set(order).size).toBe(TOTAL);
  const otherOrder = idsOf(await readAll(world, other.key));
  for (const [n, ids] of seen.entries()) expect(ids).toEqual(n % 2 === 0 ? order : otherOrder);
});
