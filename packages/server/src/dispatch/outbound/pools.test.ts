import { expect, onTestFinished, test } from 'vitest';
import { makeOutbound, toLoopback } from '../../testing/network/outbound.ts';
import { httpReceiver, rawReceiver, signal } from '../../testing/network/receivers.ts';
import { checkedConnector } from './connect.ts';
import { Pools } from './pools.ts';

const HERE = [{ address: '127.0.0.1', family: 4 as const }];

function makePools(maxPools: number): Pools {
  const pools = new Pools({ maxPools, connectionsPerPool: 2, connectTimeoutMs: 1000, ca: undefined });
  onTestFinished(() => pools.stop());
  return pools;
}

test('[W22] a connection is kept for the next request to the same origin and address', async () => {
  const receiver = await httpReceiver((_req, res) => res.end());
  const outbound = makeOutbound({ connectionsPerPool: 1 });
  for (let i = 0; i < 5; i++) await outbound.send(toLoopback(receiver.port));
  expect(receiver.connections.length).toBe(1);
});

test('[W22] a hung receiver, with all its connections taken, does not slow another', async () => {
  const taken = Array.from({ length: 3 }, () => signal());
  let arrived = 0;
  const hung = await rawReceiver(() => taken[arrived++]?.fire());
  const healthy = await httpReceiver((_req, res) => res.end());
  const outbound = makeOutbound({ connectionsPerPool: 3 });
  const stuck = Array.from({ length: 10 }, () => outbound.send(toLoopback(hung.port)));
  await Promise.all(taken.map(({ seen }) => seen));
  const served = await Promise.all(Array.from({ length: 50 }, () => outbound.send(toLoopback(healthy.port))));
  expect(served.every((outcome) => outcome.ok)).toBe(true);
  expect(hung.connections.length).toBe(3);
  await outbound.stop();
  for (const outcome of await Promise.all(stuck)) expect(outcome).toMatchObject({ kind: 'aborted' });
});

test('[W22] two origins at one address share nothing', () => {
  const pools = makePools(10);
  const one = pools.take('https://one.example', HERE);
  const two = pools.take('https://two.example', HERE);
  expect(one.pool).not.toBe(two.pool);
  expect(pools.take('https://one.example', HERE).pool).toBe(one.pool);
});

test('[W21] another answer of DNS is another pool, the same in another order is not', () => {
  const pools = makePools(10);
  const a = { address: '8.8.8.8', family: 4 as const };
  const b = { address: '8.8.4.4', family: 4 as const };
  const { pool } = pools.take('https://one.example', [a, b]);
  expect(pools.take('https://one.example', [b, a]).pool).toBe(pool);
  expect(pools.take('https://one.example', [a]).pool).not.toBe(pool);
});

test('[W22] the least recently used idle pools are closed above the cap, those in use never', () => {
  const pools = makePools(2);
  const busy = pools.take('https://busy.example', HERE);
  for (let i = 0; i < 20; i++) pools.take(`https://idle-${i}.example`, HERE).release();
  expect(pools.size).toBe(2);
  expect(busy.pool.destroyed).toBe(false);
  busy.release();
  for (let i = 0; i < 2; i++) pools.take(`https://later-${i}.example`, HERE).release();
  expect(pools.size).toBe(2);
  expect(busy.pool.destroyed).toBe(true);
});

test('[W22] using a pool keeps it young', () => {
  const pools = makePools(2);
  const take = (name: string) => {
    const { pool, release } = pools.take(`https://${name}.example`, HERE);
    release();
    return pool;
  };
  const [a, b] = [take('a'), take('b')];
  expect(take('a')).toBe(a);
  take('c');
  expect([a.destroyed, b.destroyed]).toEqual([false, true]);
});

test('[W21] a connection that ended elsewhere than checked is dropped, whatever led it there', async () => {
  const { port } = await httpReceiver((_req, res) => res.end());
  // Linux connects 0.0.0.0 to 127.0.0.1: an address that no judge lets pass, and here nobody asked one.
  const addresses = [{ address: '0.0.0.0', family: 4 as const }];
  const connect = checkedConnector({ addresses, timeoutMs: 1000, ca: undefined, connecting: new Set() });
  const target = { hostname: '0.0.0.0', protocol: 'http:', port: String(port) };
  const result = await new Promise<unknown[]>((resolve) => connect(target, (...args) => resolve(args)));
  expect(result).toEqual([expect.objectContaining({ code: 'LANTERNROOM_UNCHECKED_ADDRESS' }), null]);
});
