import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { join, presenceOf, sweepLost } from '../../../core/tasks/presence.ts';
import { SECOND } from '../../../core/time.ts';
import { TestCaller, v03Message } from '../../../testing/a2a/a2a.ts';
import { type HubFrame, Laptop } from '../../../testing/a2a/laptop.ts';
import { until } from '../../../testing/waiting.ts';
import { ManualClock, World } from '../../../testing/world.ts';
import { FrameFeed } from './frame-feed.ts';

const isWork = (frame: HubFrame) => frame.type === 'task' || frame.type === 'message';

async function stage() {
  const clock = new ManualClock();
  const world = await World.open({ clock });
  onTestFinished(() => world.stop());
  const at = { space: world.agent.agent.space, agent: world.agent.agent.id };
  const caller = new TestCaller(world, world.agent);
  const submit = async (text: string) => {
    const params = { ...v03Message(text), configuration: { blocking: false } };
    return (await caller.call('message/send', params)).result.id;
  };
  const connect = async () => {
    const laptop = await Laptop.connect(world.url, world.agent.key);
    onTestFinished(() => laptop.vanish());
    return laptop;
  };
  return { clock, world, at, caller, submit, connect };
}

test('[A13] a cancel waits for the laptop whose server died with the task in its hands', async () => {
  const { clock, world, at, caller, submit, connect } = await stage();
  await join(world.room, { ...at, link: 'link_of_a_dead_server', replaces: null });
  clock.turn(10 * SECOND);
  const id = await submit('begun, and not acknowledged');
  clock.turn(60 * SECOND);
  await sweepLost(world.room);
  await caller.call('tasks/cancel', { id });
  const laptop = await connect();
  expect(await laptop.ofType('cancel')).toMatchObject({ taskId: id });
});

test('[A14] a lease that ended says when the laptop was last there, and never an earlier time', async () => {
  const { clock, world, at } = await stage();
  const began = clock.now();
  await join(world.room, { ...at, link: 'link_of_a_dead_server', replaces: null });
  clock.turn(3600 * SECOND);
  await sweepLost(world.room);
  const lastSeen = async () => (await presenceOf(world.room, at.space, at.agent)).lastSeenAt;
  expect(await lastSeen()).toBe(began + 60 * SECOND);
  await join(world.room, { ...at, link: 'another', replaces: null });
  const seen = clock.now() + 120 * SECOND;
  await world.room.store.write(at.space, [], (tx) => tx.agents.seen(at.agent, seen));
  clock.turn(200 * SECOND);
  await sweepLost(world.room);
  expect(await lastSeen()).toBe(seen);
});

test.each([true, false])(
  '[A13][A14] a laptop whose lease ran out while it was there gets what came meanwhile (swept: %s)',
  async (isSwept) => {
    const { clock, world, submit, connect, at } = await stage();
    const laptop = await connect();
    // The database was away, or the machine asleep, for longer than the lease.
    clock.turn(61 * SECOND);
    if (isSwept) await sweepLost(world.room);
    const id = await submit('into the gap');
    expect((await presenceOf(world.room, at.space, at.agent)).online).toBe(false);
    await world.running.hub.renew();
    expect((await laptop.next(isWork)).taskId).toBe(id);
    expect((await presenceOf(world.room, at.space, at.agent)).online).toBe(true);
    const next = await submit('and after it');
    expect((await laptop.next(isWork)).taskId).toBe(next);
  },
);

test('[A13] beats during an outage of the store cost no laptop that answers them its connection', async () => {
  const { world, connect } = await stage();
  const laptops = await Promise.all(Array.from({ length: 3 }, connect));
  let back = () => {};
  const away = new Promise<void>((resolve) => {
    back = resolve;
  });
  const { directory } = world.room.store;
  const find = directory.identityByDigest;
  vi.spyOn(directory, 'identityByDigest').mockImplementation((digest) => away.then(() => find(digest)));
  const beats = [];
  for (let beat = 1; beat <= 3; beat++) {
    beats.push(world.running.hub.beat());
    await until(async () => laptops.every(({ beats }) => beats === beat));
    await Promise.all(laptops.map((laptop) => laptop.isHeard()));
  }
  back();
  await Promise.all(beats);
  await Promise.all(laptops.map((laptop) => laptop.isHeard()));
});

test('[A13] one that has just gone is not written down again', async () => {
  const { clock, world, at, connect } = await stage();
  const laptop = await connect();
  clock.turn(61 * SECOND);
  const renewing = world.running.hub.renew();
  laptop.vanish();
  await Promise.all([renewing, laptop.closed]);
  const links = () => world.room.store.read(at.space, (tx) => tx.links.of(at.agent));
  await until(async () => (await links()).length === 0);
});

test('[A13] a connection that its laptop has replaced is ended, and given nothing more', async () => {
  const { world, at, submit, connect } = await stage();
  const halfOpen = await connect();
  const bystander = await connect();
  const back = await Laptop.connect(world.url, world.agent.key, { query: `?replaces=${halfOpen.link}` });
  onTestFinished(() => back.vanish());
  await halfOpen.closed;
  await world.running.hub.renew();
  const links = await world.room.store.read(at.space, (tx) => tx.links.of(at.agent));
  expect(links.map(({ id }) => id).sort()).toEqual([bystander.link, back.link].sort());
  const ids = [await submit('one'), await submit('two'), await submit('three')];
  const got = () => [...back.frames, ...bystander.frames].filter(isWork).map(({ taskId }) => taskId);
  await until(async () => got().length === 3);
  expect(got().sort()).toEqual(ids.sort());
});

test('[R3][A13] news whose contents were lost on the way leads to all that is waiting, once', async () => {
  const { world, at, submit } = await stage();
  const said: HubFrame[] = [];
  const line = {
    isClosed: false,
    isSlow: false,
    isLetIn: async () => true,
    send: (frame: string) => void said.push(JSON.parse(frame)),
    sendBack: (problem: unknown) => {
      throw problem;
    },
  };
  const own = { ...at, link: 'link_own' };
  await join(world.room, { ...at, link: 'link_other', replaces: null });
  const older = await submit('for another connection, whose server dies');
  await join(world.room, { ...own, replaces: null });
  await world.room.store.write(at.space, [], (tx) => tx.links.remove(at.agent, 'link_other'));
  const newer = await submit('for this one');
  const feed = new FrameFeed(world.room, own, line);
  feed.start();
  await until(async () => said.length === 1);
  await world.room.store.write(at.space, [], (tx) => tx.frames.adopt(at.agent, 'link_other', own.link));
  feed.wake(new Set(['']));
  await until(async () => said.length === 2);
  const newest = await submit('and after it');
  feed.wake(new Set(['']));
  await until(async () => said.length === 3);
  expect(said.map(({ taskId }) => taskId)).toEqual([newer, older, newest]);
});

test('[A13] an agent has at most a hundred connections; one that comes back for its own is let in', async () => {
  const { world, at, connect } = await stage();
  const first = await connect();
  for (let n = 1; n < 100; n++)
    expect(await join(world.room, { ...at, link: `link_${n}`, replaces: null })).toBeNull();
  const headers = { authorization: `Bearer ${world.agent.key}` };
  const many = new WebSocket(`${world.url.replace(/^http/, 'ws')}/a2a/connect`, ['lantern.v1'], { headers });
  const [code, reason] = (await once(many, 'close')) as [number, Buffer];
  expect([code, String(reason)]).toEqual([
    1013,
    'This agent has 100 connections, and may have no more. End one, then come back.',
  ]);
  const back = await Laptop.connect(world.url, world.agent.key, { query: `?replaces=${first.link}` });
  onTestFinished(() => back.vanish());
  expect(await world.room.store.read(at.space, (tx) => tx.links.of(at.agent))).toHaveLength(100);
});
