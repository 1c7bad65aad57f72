import { connect, type Socket } from 'node:net';
import { sampleEvent } from '../akep.ts';
import type { Asked } from '../checker/book.ts';
import { answered } from '../checker/doors.ts';
import { AGENT } from '../server.ts';
import { pause } from '../until.ts';
import type { Site } from './site.ts';

const MANY = 40;
const times = <T>(count: number, make: (n: number) => T): T[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** The same thing again and again, at the same moment, through every server. */
export async function flood(site: Site): Promise<void> {
  const { doors, book, tally } = site.checker.life;
  const { fault } = book;
  const entry = book.newEntry(null);
  entry.busy = true;
  const sends = times(MANY, () => answered('a delivery', doors.wake().deliver(entry.body, entry.key), [201]));
  const ids = new Set((await Promise.all(sends)).map(({ json }) => json.delivery_id));
  tally.check('L2', fault, ids.size === 1, () => `one key made ${ids.size} deliveries`);
  entry.id = [...ids][0] ?? null;
  entry.busy = false;
  const event = book.newEvent();
  event.accepted = true; // so that nobody else sends it
  const taken = await Promise.all(
    times(MANY, () => answered('an event', doors.akep().send(sampleEvent(event.id)), [202])),
  );
  const firsts = taken.filter(({ json }) => !json.duplicate).length;
  tally.check('L2', fault, firsts <= 1, () => `one event was taken ${firsts} times`);
}

const POISON: readonly Record<string, unknown>[] = [
  { text: 'a\u0000b' },
  { text: '\ud800 alone' },
  { text: '\u202e\u200b\ufeff' },
  { text: 'x'.repeat(200_000) },
  { ['__proto__']: { polluted: true }, constructor: { prototype: 1 } },
  { list: times(2000, (n) => n) },
  { numbers: [1e308, -0, 5e-324, Number.MAX_SAFE_INTEGER] },
  JSON.parse(`${'{"a":'.repeat(500)}1${'}'.repeat(500)}`) as Record<string, unknown>,
];

/**
 * Input that breaks careless readers. It is accepted or refused, but never a 500, and what comes after it gets through.
 */
export async function poison(site: Site): Promise<void> {
  const { doors, book } = site.checker.life;
  for (const content of POISON) {
    const fine = [201, 202, 400, 413, 422];
    const knowledge = { kind: 'observation', content_type: 'application/json', summary: 'poison', content };
    const event = sampleEvent(`evt_poison_${book.events.length}_${site.random.below(1e9)}`, { knowledge });
    await answered('a poison event', doors.akep().send(event), fine);
    const entry = book.newEntry(null, { details: content });
    entry.busy = true;
    const { status, json } = await answered(
      'a poison delivery',
      doors.wake().deliver(entry.body, entry.key),
      fine,
    );
    if (status === 201) entry.id = json.delivery_id;
    else book.forget(entry);
    entry.busy = false;
  }
}

/** Two people decide the same things at the same moment, on different servers: exactly one of them each time. */
export async function together(site: Site): Promise<void> {
  const { doors, book, tally, random } = site.checker.life;
  const { fault } = book;
  for (let n = 0; n < 6; n++) {
    const entry = book.newEntry(site.checker.receiver.address);
    entry.busy = true;
    const { json } = await answered('a delivery', doors.wake().deliver(entry.body, entry.key), [201]);
    entry.id = json.delivery_id;
    const { content_sha256 } = await doors.desk().detail(json.delivery_id);
    const path = `/desk/deliveries/${json.delivery_id}/decision`;
    const both = [0, 1].map(async (person) => {
      const answer = { status: random.below(2) ? 'approved' : 'rejected', feedback: book.word() };
      const asked: Asked = { ...answer, reply: 'unknown', undone: 'no' };
      entry.asked.push(asked);
      const deciding = doors
        .desk(person)
        .request<{ state: 'held' }>('POST', path, { ...answer, content_sha256 });
      const reply = await answered('a decision', deciding, [200, 409]);
      asked.reply = reply.status === 200 ? reply.json.state : 'refused';
      return reply.status;
    });
    const statuses = (await Promise.all(both)).sort();
    tally.check(
      'L2',
      fault,
      statuses.join() === '200,409',
      () => `two people were answered ${statuses.join()}`,
    );
    entry.busy = false;
  }
}

/**
 * Clients that ask and do not read, and clients that begin a request and do not finish it. Nobody else waits for them.
 */
export async function deadWeight(site: Site): Promise<void> {
  const { doors } = site.checker.life;
  const headers = (more: string) => `Host: x\r\nAuthorization: Bearer ${AGENT.key}\r\n${more}\r\n`;
  const page = `GET /akep/events?limit=1000 HTTP/1.1\r\n${headers('')}`;
  const cookie = doors.people[0]?.cookie ?? '';
  const said = [
    page.repeat(3),
    `GET /desk/stream HTTP/1.1\r\nHost: x\r\nCookie: ${cookie}\r\n\r\n`,
    `POST /wake/v1/deliver HTTP/1.1\r\n${headers('Content-Type: application/json\r\nContent-Length: 1000\r\n')}{"half":`,
    'GET /wake/v1/resp',
    '',
  ];
  const sockets = times(MANY, (n) => silent(doors.url(), said[n % said.length] ?? ''));
  await pause(1500);
  await site.checker.healthy();
  for (const socket of sockets) socket.destroy();
}

function silent(url: string, text: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  socket.pause();
  socket.write(text);
  return socket;
}

/** So many at once, ten times a second: a key may read a thousand times a second, and 511 wait at the door at most. */
const BATCH = 40;
const BATCH_EVERY_MS = 100;
const WAIT_SECONDS = 60;

/** As many as the contract asks for, each on a bare socket: a client library would take more memory than the server. */
export async function multitude(site: Site, size: number): Promise<void> {
  await wake(site, size, async (id) => {
    const replies: Promise<string>[] = [];
    const { doors } = site.checker.life;
    const path = `/wake/v1/response/${id}?wait=${WAIT_SECONDS}`;
    const text = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${AGENT.key}\r\nConnection: close\r\n\r\n`;
    while (replies.length < size) {
      const some = Math.min(BATCH, size - replies.length);
      replies.push(...times(some, () => told(doors.url(), text)));
      await pause(BATCH_EVERY_MS);
    }
    return replies;
  });
}

/** The answer, however long it takes: a wait that ended empty, a 429 and a lost connection are asked again. */
async function told(url: string, text: string): Promise<string> {
  for (;;) {
    const heard = await spoken(url, text);
    if (!/^$|^200 .*"status":"pending"|^429 /.test(heard)) return heard;
    // A busy door does not get free by being knocked at.
    if (!heard.startsWith('200')) await pause(2000);
  }
}

/** What one socket is answered until it is closed: the status and the body. */
function spoken(url: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => socket.write(text));
    let heard = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      heard += chunk;
    });
    // Where the door is full, the system turns people away for the server.
    socket.on('error', () => {});
    socket.setTimeout((WAIT_SECONDS + 15) * 1000, () => socket.destroy());
    socket.on('close', () => resolve(inShort(heard)));
  });
}

const inShort = (heard: string) =>
  heard.replace(/^HTTP\/1\.1 (\d+)[\s\S]*?\r\n\r\n/, (_, status: string) => `${status} `);

/** Very many wait for the same answer, and all are woken by it, with the same bytes. */
export function crowd(site: Site, size = 200): Promise<void> {
  return wake(site, size, async (id) => {
    const { doors } = site.checker.life;
    const waiting = times(size, async () => {
      const { status, text } = await doors.wake().response(id, 60);
      return `${status} ${text}`;
    });
    await pause(500);
    return waiting;
  });
}

/** `park` has them wait, and hands over what each of them will be told. */
async function wake(
  site: Site,
  size: number,
  park: (id: string) => Promise<readonly Promise<string>[]>,
): Promise<void> {
  const { doors, book, tally } = site.checker.life;
  const { fault } = book;
  const entry = book.newEntry(null);
  entry.busy = true;
  const { json } = await answered('a delivery', doors.wake().deliver(entry.body, entry.key), [201]);
  const id = json.delivery_id;
  entry.id = id;
  const waiting = await park(id);
  const asked: Asked = { status: 'approved', feedback: book.word(), reply: 'unknown', undone: 'no' };
  entry.asked.push(asked);
  const { status, feedback } = asked;
  const deciding = await doors.desk().decide(id, { status, feedback });
  asked.reply = deciding.status === 200 ? 'held' : 'refused';
  const texts = new Set(await Promise.all(waiting));
  const isOne =
    texts.size === 1 && [...texts].every((text) => text.startsWith('200 ') && text.includes(feedback));
  tally.check('L4', fault, isOne, () => `${size} who waited were told ${[...texts].join(' | ')}`);
  entry.busy = false;
}
