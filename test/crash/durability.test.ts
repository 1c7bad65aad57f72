import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/folder.ts';
import { Raw, requestText } from '../support/raw.ts';
import { AGENT, Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { sampleDelivery } from '../support/wake.ts';
import { type Call, readCalls, straceTo } from './strace.ts';

const isToLog = ({ target }: Call): boolean => target.endsWith('lanternroom.db-wal');
const isWrite = ({ name }: Call): boolean => name.includes('write');
const isSync = ({ name, result }: Call): boolean =>
  (name === 'fdatasync' || name === 'fsync') && result === 0;
const isReply = (call: Call): boolean =>
  call.target.startsWith('socket:') && call.text.includes('HTTP/1.1 201');

/** Names that stand readable in the database and nowhere else in what is written. */
const mark = (n: number): string => `MARK${String(n).padStart(4, '0')}KRAM`;
const marksIn = ({ text }: Call): string[] => text.match(/MARK\d{4}KRAM/g) ?? [];

type Tally = {
  replies: number;
  durableAtReply: number[];
  unsyncedAtReply: number;
  /** Those that made at least one delivery safe. */
  syncs: number;
};

/** Follows the calls and notes, at each 201, which deliveries were safe on the disk by then. */
function tally(calls: readonly Call[]): Tally {
  const written = new Set<string>();
  const durable = new Set<string>();
  let unsynced = false;
  const seen: Tally = { replies: 0, durableAtReply: [], unsyncedAtReply: 0, syncs: 0 };
  for (const call of calls) {
    if (isToLog(call) && isWrite(call)) {
      unsynced = true;
      for (const name of marksIn(call)) written.add(name);
    } else if (isToLog(call) && isSync(call)) {
      if (written.size > durable.size) seen.syncs++;
      unsynced = false;
      for (const name of written) durable.add(name);
    } else if (isReply(call)) {
      seen.replies++;
      seen.durableAtReply.push(durable.size);
      if (unsynced) seen.unsyncedAtReply++;
    }
  }
  return seen;
}

function deliveryText(headline: string): string {
  const body = JSON.stringify(sampleDelivery({ headline }));
  const headers = [
    'Host: localhost',
    `Authorization: Bearer ${AGENT.key}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ];
  return requestText('POST /wake/v1/deliver HTTP/1.1', headers, body);
}

async function startTraced(): Promise<{ server: Server; text: () => string; calls: () => Call[] }> {
  const trace = join(temporaryFolder(), 'calls');
  const server = await Server.start({ under: straceTo(trace) });
  const text = () => (existsSync(trace) ? readFileSync(trace, 'utf8') : '');
  return { server, text, calls: () => readCalls(text()) };
}

test('[D26] one after another: the delivery is written, then synced, then answered', async () => {
  const { server, calls } = await startTraced();
  const wake = server.wake();
  for (let n = 1; n <= 5; n++) await wake.delivered({ headline: mark(n) });
  const { replies, durableAtReply, unsyncedAtReply } = await until('all replies are in the trace', () => {
    const seen = tally(calls());
    return seen.replies === 5 && seen;
  });
  expect(replies).toBe(5);
  expect(durableAtReply).toEqual([1, 2, 3, 4, 5]);
  expect(unsyncedAtReply).toBe(0);
});

test('[D26] many at once: none is answered before it is synced, and they share the syncs', async () => {
  const many = 48;
  const { server, text, calls } = await startTraced();
  const clients = await Promise.all(Array.from({ length: many }, () => Raw.connect(server.url)));
  // A connection counts once it is accepted, which an answer proves.
  await Promise.all(clients.map((client) => client.write(requestText('GET /healthz HTTP/1.1', ['Host: x']))));
  await Promise.all(clients.map((client) => client.untilReplied()));
  // All of them arrive while the server is stopped, so it finds them together.
  process.kill(server.pid, 'SIGSTOP');
  // strace pads a short process id with spaces.
  const stopped = new RegExp(`^${server.pid} +--- stopped by SIGSTOP`, 'm');
  await until('it stands still', () => stopped.test(text()));
  await Promise.all(clients.map((client, n) => client.write(deliveryText(mark(n)))));
  process.kill(server.pid, 'SIGCONT');
  await Promise.all(clients.map((client) => client.untilReplied(2)));
  for (const { statuses } of clients) expect(statuses).toEqual([200, 201]);
  const seen = await until('all replies are in the trace', () => {
    const now = tally(calls());
    return now.replies === many && now;
  });
  seen.durableAtReply.forEach((durable, at) => {
    expect(durable).toBeGreaterThan(at);
  });
  expect(seen.unsyncedAtReply).toBe(0);
  expect(seen.syncs).toBeLessThanOrEqual(4);
});
