import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { nameServer, type Zone } from '../../testing/network/names.ts';
import { makeOutbound, manualClock, PUBLIC, post, publicAre } from '../../testing/network/outbound.ts';
import {
  certificate,
  httpsReceiver,
  type Receiver,
  serve,
  signal,
  testCa,
} from '../../testing/network/receivers.ts';
import { judgeAddress } from './addresses.ts';
import { dnsLookup } from './outbound.ts';

/** A receiver at the "public" address, and one on the same port of 127.0.0.1 that nobody may ever reach. */
async function world(zone: Zone) {
  const outside = await httpsReceiver(
    certificate('receiver'),
    (req, res) => res.end(`${req.headers.host} ${req.socket.remoteAddress}`),
    PUBLIC,
  );
  const inside = await victim('127.0.0.1', outside.port);
  const names = await nameServer(zone);
  const outbound = makeOutbound({
    lookup: dnsLookup(names.makeResolver),
    judge: publicAre(PUBLIC),
    ca: testCa,
  });
  const send = () => outbound.send(post(`https://receiver.test:${outside.port}/hook`));
  return { outside, inside, names, send };
}

function victim(host: string, port: number): Promise<Receiver> {
  return serve(createServer(), host, port);
}

/** Answers A questions one after the other, then repeats the last; AAAA has nothing. */
function answersInTurn(...turns: string[][]): Zone {
  return ({ family }) => (family === 6 ? [] : ((turns.length > 1 ? turns.shift() : turns[0]) ?? []));
}

test('[W21] a rebinding name server gets one request to its public address, and none to loopback', async () => {
  const { outside, inside, names, send } = await world(answersInTurn([PUBLIC], ['127.0.0.1']));
  expect(await send()).toMatchObject({ ok: true, status: 200 });
  for (let i = 0; i < 5; i++) expect(await send()).toMatchObject({ ok: false, kind: 'refused_address' });
  expect(inside.connections).toEqual([]);
  expect(outside.connections.length).toBe(1);
  expect(names.questions.filter((q) => q.startsWith('A '))).toEqual(Array(6).fill('A receiver.test'));
});

test('[W21] the name is asked for once per request: what was checked is what is dialled', async () => {
  // The second answer would come if anything between the check and the socket asked again.
  const { outside, inside, names, send } = await world(answersInTurn([PUBLIC], ['127.0.0.1']));
  const outcome = await send();
  expect(outcome.ok && outcome.bodyStart.toString()).toContain(`receiver.test:${outside.port}`);
  expect(names.questions).toHaveLength(2); // one A, one AAAA
  expect(outside.connections.map((socket) => socket.localAddress)).toEqual([PUBLIC]);
  expect(inside.connections).toEqual([]);
});

test('[W21] an answer that mixes a public and a loopback address is dialled nowhere', async () => {
  const { outside, inside, send } = await world(answersInTurn([PUBLIC, '127.0.0.1'], ['127.0.0.1', PUBLIC]));
  for (let i = 0; i < 3; i++) expect(await send()).toMatchObject({ ok: false, kind: 'refused_address' });
  expect([inside.connections, outside.connections]).toEqual([[], []]);
});

test.each(['::1', '::ffff:127.0.0.1', '::127.0.0.1', 'fe80::1', 'fd00:ec2::254', '64:ff9b::7f00:1'])(
  '[W21] a bad AAAA beside a good A is refused too: %s',
  async (bad) => {
    const { outside, inside, send } = await world(({ family }) => (family === 6 ? [bad] : [PUBLIC]));
    expect(await send()).toMatchObject({ ok: false, kind: 'refused_address' });
    expect([inside.connections, outside.connections]).toEqual([[], []]);
  },
);

test('[W21] allowLoopback is for hosts written as loopback, not for names that resolve to it', async () => {
  const names = await nameServer(answersInTurn(['127.0.0.1']));
  const inside = await victim('127.0.0.1', 0);
  const outbound = makeOutbound({ lookup: dnsLookup(names.makeResolver) });
  const request = post(`https://receiver.test:${inside.port}/`, { allowLoopback: true });
  expect(await outbound.send(request)).toMatchObject({ ok: false, kind: 'refused_address' });
  expect(inside.connections).toEqual([]);
});

test('[W21] keep-alive ends where DNS changes: the old connection is not used for the new answer', async () => {
  const other = '127.0.0.3';
  const zone = answersInTurn([PUBLIC], [PUBLIC], [other], [PUBLIC]);
  const names = await nameServer(zone);
  const answer = (host: string, port?: number) =>
    httpsReceiver(certificate('receiver'), (_req, res) => res.end(host), host, port);
  const first = await answer(PUBLIC);
  const second = await answer(other, first.port);
  const lookup = dnsLookup(names.makeResolver);
  const judge = publicAre(PUBLIC, other);
  const outbound = makeOutbound({ lookup, judge, ca: testCa, connectionsPerPool: 1 });
  const reached: string[] = [];
  for (let i = 0; i < 3; i++) {
    const outcome = await outbound.send(post(`https://receiver.test:${first.port}/`));
    reached.push(outcome.ok ? outcome.bodyStart.toString() : outcome.kind);
  }
  expect(reached).toEqual([PUBLIC, PUBLIC, other]);
  expect([first.connections.length, second.connections.length]).toEqual([1, 1]);
});

test('[W21] a public answer with a dead first address falls back to another checked one', async () => {
  const { outside, inside, send } = await world(({ family }) => (family === 6 ? [] : ['127.0.0.9', PUBLIC]));
  // 127.0.0.9 is judged as what it is, so the whole answer is refused: fallback never widens the check.
  expect(await send()).toMatchObject({ ok: false, kind: 'refused_address' });
  const outbound = makeOutbound({
    lookup: async () => ['127.0.0.9', PUBLIC],
    judge: publicAre('127.0.0.9', PUBLIC),
    ca: testCa,
  });
  const outcome = await outbound.send(post(`https://receiver.test:${outside.port}/hook`));
  expect(outcome).toMatchObject({ ok: true, status: 200 });
  expect(inside.connections).toEqual([]);
});

test('[W21] an unknown name and a name without addresses are dns failures', async () => {
  const { inside, send } = await world(() => []);
  expect(await send()).toMatchObject({ ok: false, kind: 'dns' });
  expect(inside.connections).toEqual([]);
});

test('[W22] a name server that never answers holds up nobody else', async () => {
  const clock = manualClock();
  const asked = signal();
  const names = await nameServer(({ name }) => {
    if (name !== 'dead.test') return name === 'receiver.test' ? [] : null;
    asked.fire();
    return null;
  });
  const outbound = makeOutbound({ clock, lookup: dnsLookup(names.makeResolver), judge: judgeAddress });
  const hung = Array.from({ length: 20 }, () => outbound.send(post('https://dead.test/')));
  await asked.seen;
  expect(await outbound.send(post('https://receiver.test/'))).toMatchObject({ ok: false, kind: 'dns' });
  clock.passDeadline();
  for (const outcome of await Promise.all(hung))
    expect(outcome).toMatchObject({ ok: false, kind: 'timeout' });
});

test('[W21] after a failure the name servers are read again', async () => {
  const dead = await nameServer(() => []);
  const alive = await nameServer(({ family }) => (family === 4 ? ['8.8.8.8'] : []));
  const resolvers = [dead.makeResolver, alive.makeResolver];
  const lookup = dnsLookup(() => (resolvers.shift() ?? alive.makeResolver)());
  expect(await lookup('receiver.test')).toEqual([]);
  expect(await lookup('receiver.test')).toEqual(['8.8.8.8']);
});
