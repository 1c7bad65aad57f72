import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Seeded } from '../support/random.ts';
import { startReceiver } from '../support/receiver.ts';
import { AGENT, Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { Load } from './load.ts';
import { Notebook } from './notebook.ts';
import { compareDecisions, repeatDeliveries, verifyLedger } from './promises.ts';

const STOPS_WITHIN_MS = 10_000;
/** Far shorter than a lease: the next server did not have to wait for one to end. */
const AT_ONCE_MS = 15_000;

/** A client that has sent half of its request and then no more; the server has already begun to read it. */
async function sendHalf(server: Server): Promise<void> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(
    `POST /wake/v1/deliver HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${AGENT.key}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n',
  );
  const [reply] = await once(socket, 'data');
  expect(String(reply)).toContain('100 Continue');
  socket.write('{"half":');
}

function endsInTime({ child, slowness }: Server) {
  return until('the server has ended', () => child.hasEnded && child.ended, STOPS_WITHIN_MS * slowness);
}

/** The long-polls have arrived; who comes after SIGTERM finds nobody. */
async function untilParked(server: Server, count: number): Promise<void> {
  const made = { name: 'metrics' };
  const { json } = await (await server.desk()).request<{ token: string }>('POST', '/desk/tokens', made);
  await until(`${count} wait`, async () => {
    const headers = { authorization: `Bearer ${json.token}` };
    const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
    return Number(/^lanternroom_parked_requests (\d+)$/m.exec(text)?.[1]) >= count;
  });
}

test('[D30][D26] SIGTERM under load: what got a 2xx is stored, who waits is answered, streams are told', async () => {
  const receiver = await startReceiver();
  const book = new Notebook(receiver);
  const env = { LANTERNROOM_UNDO_SECONDS: '1', LANTERNROOM_INIT_CALLBACKS: receiver.origin };
  const server = await Server.start({ env });
  const desk = await server.desk();
  const wake = server.wake();
  const stream = await desk.listen();
  const waiting = await Promise.all(Array.from({ length: 20 }, () => wake.delivered({ type: 'output' })));
  const parked = waiting.map((id) => wake.response(id, 60));
  await untilParked(server, parked.length);
  const load = new Load({ wake, desk, book, random: new Seeded(7) });
  await until('the load is under way', () => book.entries.filter((e) => e.id !== null).length >= 50);

  const stopping = server.terminate();
  for (const { status, json } of await Promise.all(parked)) {
    expect([status, json.status]).toEqual([200, 'pending']);
  }
  await stream.ended;
  expect(stream.text()).toContain('event: reconnect');
  const { code, stderr } = await endsInTime(server);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  await stopping;
  await load.end();

  const again = await server.restart();
  const doors = { wake: again.wake(), desk: desk.at(again.url), book };
  for (const id of waiting) expect((await doors.wake.withdraw(id, 'only waited')).status).toBe(200);
  await repeatDeliveries(doors, waiting.length);
  await compareDecisions(doors);
  await verifyLedger(again.folder);
});

test('[D30][D28] SIGTERM gives leases back, and neither a hung receiver nor half a request holds it up', async () => {
  let hangs = true;
  const receiver = await startReceiver((reply) => {
    if (!hangs) reply.writeHead(204).end();
  });
  const env = { LANTERNROOM_UNDO_SECONDS: '0', LANTERNROOM_INIT_CALLBACKS: receiver.origin };
  const server = await Server.start({ env });
  const id = await server.wake().delivered({ callback_webhook: `${receiver.origin}/callback` });
  await (await server.desk()).decide(id, { status: 'approved' });
  await until('the callback hangs', () => receiver.received.length === 1);
  await sendHalf(server);
  void server.terminate();
  expect((await endsInTime(server)).code).toBe(0);

  hangs = false;
  const again = await server.restart();
  await until(
    'the callback is sent again',
    () => receiver.received.length === 2,
    AT_ONCE_MS * again.slowness,
  );
  const desk = await again.desk();
  const { attempts } = await until('it is on the record', async () => {
    const detail = await desk.detail(id);
    return detail.attempts.length > 0 && detail;
  });
  expect(attempts).toMatchObject([{ number: 1, outcome: 'answered', status: 204 }]);
});

test('[D30] not ready any more, SIGTERM again at once or SIGINT: it still ends in good order', async () => {
  const server = await Server.start();
  const parked = server.wake().response(await server.wake().delivered(), 60);
  await untilParked(server, 1);
  server.child.process.kill('SIGTERM');
  server.child.process.kill('SIGTERM');
  server.child.process.kill('SIGINT');
  expect((await parked).status).toBe(200);
  expect((await endsInTime(server)).code).toBe(0);
  await expect(fetch(`${server.url}/readyz`)).rejects.toThrow();
});
