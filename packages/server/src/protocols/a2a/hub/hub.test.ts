import { once } from 'node:events';
import { connect } from 'node:net';
import { Compile } from 'typebox/compile';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import type { MadeAgent } from '../../../core/agents/found.ts';
import { addKey, revokeKeys } from '../../../core/agents/keys.ts';
import { subscribeToEverything } from '../../../core/events/subscriptions/subscribe.ts';
import { Fault, orThrow } from '../../../core/faults.ts';
import { framesTopic } from '../../../core/tasks/frames.ts';
import { append, olderFrameKey, save } from '../../../core/tasks/log/log.ts';
import { send } from '../../../core/tasks/open.ts';
import { presenceOf, renewLinks, sweepLost } from '../../../core/tasks/presence.ts';
import {
  aLaptop,
  anAgent,
  fresh,
  TestCaller,
  useWorld,
  v03Message,
  type Wire,
} from '../../../testing/a2a/a2a.ts';
import { type HubFrame, Laptop } from '../../../testing/a2a/laptop.ts';
import { anEvent, openInbox } from '../../../testing/akep/akep.ts';
import { until } from '../../../testing/waiting.ts';
import { ManualClock, World } from '../../../testing/world.ts';
import { Connection } from './connection.ts';
import { HUB_FRAMES } from './frames.ts';

const world = useWorld();

async function stage() {
  const agent = await anAgent(world());
  return { agent, caller: new TestCaller(world(), agent) };
}

async function submit(caller: TestCaller, text: string, over: Wire = {}): Promise<string> {
  const sent = await caller.call('message/send', {
    ...v03Message(text, over),
    configuration: { blocking: false },
  });
  return sent.result.id;
}

const textOf = (frame: HubFrame) => (frame.message as { parts: { text: string }[] }).parts[0]?.text;
const isWork = (frame: HubFrame) => frame.type === 'task' || frame.type === 'message';

function presence(agent: MadeAgent) {
  return presenceOf(world().room, world().space.id, agent.agent.id);
}

/** The status of an upgrade that was refused. */
function refused(url: string, options: { key?: string; protocols?: string[] }): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = options.key === undefined ? {} : { authorization: `Bearer ${options.key}` };
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/a2a/connect`, options.protocols ?? [], {
      headers,
    });
    socket.on('unexpected-response', (_, reply) => resolve(reply.statusCode ?? 0));
    socket.on('open', () => reject(new Error('it was let in')));
    socket.on('error', () => {});
  });
}

describe('connecting', () => {
  test('[A13] a laptop that had gone before it was taken in is listened for no longer', async () => {
    const { agent } = await stage();
    const { room, running } = world();
    const { signals } = running.ground.data.store;
    const socket = new WebSocket(world().url.replace(/^http/, 'ws'));
    socket.on('error', () => {});
    socket.terminate();
    const around = { room, wakeups: signals, isActive: async () => true, warn: () => {} };
    const place = { space: world().space.id, agent: agent.agent.id };
    const at = { ...place, link: 'link_gone', tier: 'test' as const, digest: '' };
    const wire = { cork: () => {}, uncork: () => {}, bytesRead: 0, bytesWritten: 0 };
    const wish = { events: false, resumes: false, cursor: null };
    await new Connection(around, { socket, wire, at }, wish).start('{}', null);
    expect(signals.topics()).not.toContain(framesTopic(at.space, at.agent));
    expect(await presence(agent)).toMatchObject({ online: false });
  });

  test('[A13] the hub says hello: which agent, which protocol, how large, where to upload', async () => {
    const { agent } = await stage();
    const socket = new WebSocket(`${world().url.replace(/^http/, 'ws')}/a2a/connect`, ['lantern.v1'], {
      headers: { authorization: `Bearer ${agent.key}` },
    });
    onTestFinished(() => socket.terminate());
    const hello = await new Promise((resolve) => {
      socket.once('message', (data) => resolve(JSON.parse(String(data))));
    });
    expect(socket.protocol).toBe('lantern.v1');
    expect(hello).toEqual({
      type: 'hello',
      protocol: 'lantern.v1',
      agent: `@home/${agent.agent.id}`,
      connectionId: expect.stringMatching(/^link_/),
      heartbeatSeconds: 15,
      maxFrameBytes: 1_048_576,
      uploadUrl: `${world().url}/a2a/uploads`,
    });
  });

  test('[A13] nobody gets in without a good key or with another protocol', async () => {
    const { agent } = await stage();
    expect(await refused(world().url, {})).toBe(401);
    expect(await refused(world().url, { key: 'wk_test_nonsense' })).toBe(401);
    expect(await refused(world().url, { key: agent.key, protocols: ['mqtt'] })).toBe(400);
    const plain = await world().get('/a2a/connect', agent.key);
    expect(plain.status).toBe(422);
    expect(await plain.text()).toContain('This address speaks WebSocket');
  });

  test('[A13] a store that takes nothing when a laptop comes is no reason to stay away for good', async () => {
    const own = await World.open();
    onTestFinished(() => own.stop());
    const { store } = own.room;
    const write = store.write.bind(store);
    store.write = () => Promise.reject(new Fault('storage_full', 'The disk is full.'));
    const socket = new WebSocket(`${own.url.replace(/^http/, 'ws')}/a2a/connect`, {
      headers: { authorization: `Bearer ${own.agent.key}` },
    });
    const code = await new Promise((resolve) => socket.on('close', resolve));
    expect(code).toBe(1013);
    store.write = write;
    (await Laptop.connect(own.url, own.agent.key)).vanish();
  });

  test('[A13] a key that is revoked ends its connections: do not come back', async () => {
    const own = await World.open();
    onTestFinished(() => own.stop());
    const laptop = await Laptop.connect(own.url, own.agent.key);
    const agent = own.agent.agent.id;
    await revokeKeys(own.room, { space: own.space.id, agent, keyId: own.agent.keyId }, 'test');
    await own.running.hub.beat();
    expect(await laptop.closed).toEqual({ code: 1008, reason: 'this key is no longer valid' });
  });

  const DISMISSED = { code: 1008, reason: 'this key is no longer valid' };
  const revoked = async (agent: MadeAgent) =>
    orThrow(await revokeKeys(world().room, { space: world().space.id, agent: agent.agent.id }, 'test'));

  test('[A13][W28] a laptop is sent no task that came after its key was revoked', async () => {
    const { agent } = await stage();
    const laptop = await Laptop.connect(world().url, agent.key);
    await revoked(agent);
    await submit(new TestCaller(world(), agent, { key: world().token }), 'the secret');
    expect(await laptop.closed).toEqual(DISMISSED);
    expect(laptop.texts.join()).not.toContain('the secret');
  });

  test('[A13][W28] nothing that a laptop says after its key was revoked is taken', async () => {
    const { agent } = await stage();
    const caller = new TestCaller(world(), agent, { key: world().token });
    const laptop = await Laptop.connect(world().url, agent.key);
    const id = await submit(caller, 'hello');
    const frame = await laptop.next(isWork);
    await revoked(agent);
    laptop.ack(frame);
    laptop.raw(JSON.stringify({ type: 'completed', id: fresh(), taskId: id, text: 'A lie.' }));
    expect(await laptop.closed).toEqual(DISMISSED);
    expect((await caller.call('tasks/get', { id })).result.status.state).toBe('submitted');
    const { key } = orThrow(
      await addKey(
        world().room,
        { space: world().space.id, agent: agent.agent.id, tier: null, rotate: true },
        'test',
      ),
    );
    const next = await Laptop.connect(world().url, key);
    expect(await next.next(isWork)).toEqual(frame);
    next.vanish();
  });

  test('[A13][W28] a laptop is sent no event that came after its key was revoked', async () => {
    const { world: own, sender } = await openInbox();
    const laptop = await Laptop.connect(own.url, own.agent.key, { query: '?events=1' });
    await sender.sent();
    await laptop.ofType('event');
    await revokeKeys(own.room, { space: own.space.id, agent: own.agent.agent.id }, 'test');
    const { event_id } = await sender.sent();
    expect(await laptop.closed).toEqual(DISMISSED);
    expect(laptop.texts.join()).not.toContain(event_id);
  });

  test('[A13] a restart says so, and what was not acknowledged comes again', async () => {
    const own = await World.open();
    onTestFinished(() => own.stop());
    const laptop = await Laptop.connect(own.url, own.agent.key);
    await submit(new TestCaller(own, own.agent), 'before the restart');
    const first = await laptop.next(isWork);
    await own.restart();
    expect((await laptop.closed).code).toBe(1012);
    const next = await Laptop.connect(own.url, own.agent.key);
    expect(await next.next(isWork)).toEqual(first);
    next.vanish();
  });
});

describe('from the hub', () => {
  test('[A14] more than a laptop may hold at once waits, and comes as it is acknowledged', async () => {
    const { agent } = await stage();
    const { room, space } = world();
    const place = { space: space.id, agent: agent.agent.id, caller: 'agent:other' };
    const all = Array.from({ length: 1_150 }, (_, i) => {
      const message = { messageId: `m${i}`, role: 'ROLE_USER', parts: [{ text: `${i}` }] };
      const rest = {
        taskId: null,
        contextId: null,
        network: null,
        retryKey: `id:m${i}`,
        awaitFor: 0,
        push: null,
      };
      return send(room, { place, dialect: '1.0', message, ...rest });
    });
    await Promise.all(all);
    const done = new Set<string>();
    let allDone = () => {};
    const waiting = new Promise<void>((resolve) => {
      allDone = resolve;
    });
    const laptop = await Laptop.connect(world().url, agent.key, {
      // Each acknowledgement is written together with the next report, one by one.
      answer: async ({ taskId }, self) => {
        await self.say({ type: 'completed', taskId });
        if (done.add(String(taskId)).size === all.length) allDone();
      },
    });
    onTestFinished(() => laptop.vanish());
    await waiting;
  });

  test('[A13] a task and then its messages, with what was said before', async () => {
    const { agent, caller } = await stage();
    const laptop = await aLaptop(world(), agent);
    const id = await submit(caller, 'first');
    const task = await laptop.ofType('task');
    expect(task).toMatchObject({ taskId: id, message: { role: 'ROLE_USER', parts: [{ text: 'first' }] } });
    expect(task).not.toHaveProperty('history');
    await laptop.say({ type: 'input_required', taskId: id, text: 'Which?' });
    await submit(caller, 'second', { taskId: id });
    const message = await laptop.ofType('message');
    expect(message).toMatchObject({
      taskId: id,
      contextId: task.contextId,
      message: { parts: [{ text: 'second' }] },
    });
    expect((message.history as { parts: { text: string }[] }[]).map(({ parts }) => parts[0]?.text)).toEqual([
      'first',
      'Which?',
    ]);
  });

  test('[A14] what comes while nobody is there waits, in order, and says so', async () => {
    const { agent, caller } = await stage();
    for (const text of ['one', 'two', 'three']) await submit(caller, text);
    expect(await presence(agent)).toMatchObject({ online: false, waiting: 3 });
    const laptop = await aLaptop(world(), agent);
    const frames: HubFrame[] = [];
    for (let i = 0; i < 3; i++) frames.push(await laptop.next(isWork));
    expect(frames.map(textOf)).toEqual(['one', 'two', 'three']);
    expect((await presence(agent)).online).toBe(true);
    for (const frame of frames) laptop.ack(frame);
    await until(async () => (await presence(agent)).waiting === 0);
  });

  test('[A13] only what was not acknowledged comes again, with the ids it had', async () => {
    const { agent, caller } = await stage();
    const first = await aLaptop(world(), agent);
    for (const text of ['one', 'two', 'three']) await submit(caller, text);
    const [one, two, three] = [await first.next(isWork), await first.next(isWork), await first.next(isWork)];
    first.ack(two);
    await until(async () => (await presence(agent)).waiting === 2);
    first.vanish();
    await until(async () => !(await presence(agent)).online);
    const second = await aLaptop(world(), agent);
    expect([await second.next(isWork), await second.next(isWork)]).toEqual([one, three]);
  });

  test('[A13] a cancel reaches the laptop that has the task, and not one that never got it', async () => {
    const { agent, caller } = await stage();
    const unsent = await submit(caller, 'never mind');
    await caller.call('tasks/cancel', { id: unsent });
    const laptop = await aLaptop(world(), agent);
    const id = await submit(caller, 'stop me');
    expect((await laptop.next(isWork)).taskId).toBe(id);
    await caller.call('tasks/cancel', { id });
    expect(await laptop.ofType('cancel')).toEqual({ type: 'cancel', id: expect.any(String), taskId: id });
    expect(laptop.frames).toEqual([]);
  });

  test('[A13] a cancel waits for the laptop that had the task and went, acknowledged or not', async () => {
    const { agent, caller } = await stage();
    const first = await aLaptop(world(), agent);
    const [taken, unheard] = [await submit(caller, 'one'), await submit(caller, 'two')];
    first.ack(await first.next(isWork));
    expect((await first.next(isWork)).taskId).toBe(unheard);
    await until(async () => (await presence(agent)).waiting === 1);
    first.vanish();
    await until(async () => !(await presence(agent)).online);
    // The message that came in the meantime had never been sent to it; the task had.
    await submit(caller, 'and another thing', { taskId: taken });
    for (const id of [taken, unheard]) await caller.call('tasks/cancel', { id });
    const second = await aLaptop(world(), agent);
    const canceled = [await second.ofType('cancel'), await second.ofType('cancel')];
    expect(canceled.map(({ taskId }) => taskId)).toEqual([taken, unheard]);
    expect(second.frames).toEqual([]);
  });

  test('[A13] connections share the work; a task stays with one until it is gone', async () => {
    const { agent, caller } = await stage();
    const laptops = [await aLaptop(world(), agent), await aLaptop(world(), agent)];
    const ids = [];
    for (let i = 0; i < 8; i++) ids.push(await submit(caller, `${i}`));
    const got = (laptop: Laptop) => laptop.frames.filter(isWork);
    await until(async () => laptops.flatMap(got).length === 8);
    for (const laptop of laptops) expect(got(laptop).length).toBeGreaterThan(0);
    const [mine] = got(laptops[0] as Laptop);
    await laptops[0]?.say({ type: 'input_required', taskId: mine?.taskId, text: 'Which?' });
    await submit(caller, 'this one', { taskId: mine?.taskId });
    expect(await laptops[0]?.ofType('message')).toMatchObject({ taskId: mine?.taskId });
    const left = got(laptops[0] as Laptop).map(({ taskId }) => taskId);
    laptops[0]?.vanish();
    const heirs = laptops[1] as Laptop;
    await until(async () => left.every((id) => heirs.frames.some((frame) => frame.taskId === id)));
    expect(new Set(got(heirs).map(({ taskId }) => taskId))).toEqual(new Set(ids));
  });

  test('[A13][A14] when the server of a connection died, its lease ends and another takes over', async () => {
    const clock = new ManualClock();
    const own = await World.open({ clock });
    onTestFinished(() => own.stop());
    const { space, id: agent } = own.agent.agent;
    const ghost = { agent, id: 'link_of_a_dead_server', since: clock.now(), until: clock.now() + 60_000_000 };
    await own.room.store.write(space, [], (tx) => tx.links.insert(ghost));
    const caller = new TestCaller(own, own.agent);
    const id = await submit(caller, 'for a ghost');
    const laptop = await Laptop.connect(own.url, own.agent.key);
    onTestFinished(() => laptop.vanish());
    clock.turn(59_000_000);
    await renewLinks(own.room, space, [{ agent, link: laptop.link }]);
    await sweepLost(own.room);
    expect(laptop.frames).toEqual([]);
    clock.turn(2_000_000);
    await sweepLost(own.room);
    expect((await laptop.next(isWork)).taskId).toBe(id);
  });
});

test('[A13] every frame of the hub is as its schema says', async () => {
  const { agent, caller } = await stage();
  const laptop = await aLaptop(world(), agent);
  const taskId = await submit(caller, 'first');
  const seen = [await laptop.ofType('task')];
  seen.push(await laptop.say({ type: 'input_required', taskId, text: 'Which?' }));
  seen.push(await laptop.say({ type: 'accepted', taskId: 'nobody' }));
  await submit(caller, 'second', { taskId });
  seen.push(await laptop.ofType('message'));
  await caller.call('tasks/cancel', { id: taskId });
  seen.push(await laptop.ofType('cancel'));
  expect(seen.map(({ type }) => type)).toEqual(['task', 'ack', 'error', 'message', 'cancel']);
  for (const frame of seen) {
    expect([...Compile(HUB_FRAMES[frame.type as 'task']).Errors(frame)]).toEqual([]);
  }
});

describe('from the agent', () => {
  test('[A13] the same frame again is acknowledged and changes nothing', async () => {
    const { agent, caller } = await stage();
    const laptop = await aLaptop(world(), agent);
    const taskId = await submit(caller, 'x');
    const frame = { id: fresh('f'), type: 'status', taskId, text: 'half way' };
    expect(await laptop.say(frame)).toEqual({ type: 'ack', id: frame.id });
    expect(await laptop.say(frame)).toEqual({ type: 'ack', id: frame.id });
    const done = { id: fresh('f'), type: 'completed', taskId, text: 'Done.' };
    await laptop.say(done);
    laptop.vanish();
    const again = await aLaptop(world(), agent);
    expect(await again.say(done)).toEqual({ type: 'ack', id: done.id });
    expect(await again.say(frame)).toEqual({ type: 'ack', id: frame.id });
    const { result } = await caller.call('tasks/get', { id: taskId });
    expect((result.history as unknown[]).length).toBe(3);
  });

  test('[A13] a frame that an older server wrote is recognised as well', async () => {
    const { agent, caller } = await stage();
    const laptop = await aLaptop(world(), agent);
    const taskId = await submit(caller, 'x');
    const frame = { id: fresh('f'), type: 'status', taskId, text: 'half way' };
    const { room, space } = world();
    const key = olderFrameKey(room, agent.agent.id, frame.id);
    const body = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: frame.text }] };
    await room.store.write(space.id, ['ledger'], async (tx) => {
      const task = await tx.tasks.get(taskId);
      if (task === null) throw new Error('there is no task');
      await save(tx, await append(room, tx, task, { kind: 'status', note: 'working', body, key, at: 1 }));
    });
    expect(await laptop.say(frame)).toEqual({ type: 'ack', id: frame.id });
    const { result } = await caller.call('tasks/get', { id: taskId });
    expect((result.history as unknown[]).length).toBe(2);
  });

  test('[A13] frames take effect in the order in which they were sent', async () => {
    const { agent, caller } = await stage();
    const laptop = await aLaptop(world(), agent);
    const taskId = await submit(caller, 'x');
    const said = [];
    for (let i = 0; i < 50; i++) {
      const artifact = { artifactId: 'a', parts: [{ text: `${i} ` }] };
      said.push(laptop.say({ type: 'artifact', taskId, artifact, append: i > 0 }));
    }
    said.push(laptop.say({ type: 'completed', taskId }));
    await Promise.all(said);
    const { result } = await caller.call('tasks/get', { id: taskId });
    const [artifact] = result.artifacts as { parts: { text: string }[] }[];
    expect(artifact?.parts.map(({ text }) => text).join('')).toBe(
      Array.from({ length: 50 }, (_, i) => `${i} `).join(''),
    );
    expect(result.status).not.toHaveProperty('message');
  });

  test('[A13] nothing overtakes a frame that the store did not take: all of it comes again, in order', async () => {
    const own = await World.open();
    onTestFinished(() => own.stop());
    const caller = new TestCaller(own, own.agent);
    const first = await Laptop.connect(own.url, own.agent.key);
    const taskId = await submit(caller, 'x');
    const artifact = { artifactId: 'a', parts: [{ text: 'A' }] };
    const frames = [
      { id: 'f1', type: 'accepted', taskId },
      { id: 'f2', type: 'artifact', taskId, artifact },
      { id: 'f3', type: 'completed', taskId, text: 'Done.' },
    ];
    const { store } = own.room;
    const write = store.write.bind(store);
    let reports = 0;
    store.write = (space, heads, work) => {
      // Not the checkpoints, which need the ledger's head alone.
      if (heads.includes(`agent:${own.agent.agent.id}`) && ++reports === 2)
        return Promise.reject(new Fault('storage_full', 'Full.'));
      return write(space, heads, work);
    };
    for (const frame of frames) first.raw(JSON.stringify(frame));
    expect(await first.closed).toMatchObject({ code: 1013 });
    store.write = write;
    const state = async () => (await caller.call('tasks/get', { id: taskId })).result.status.state;
    // The first frame may still be on its way to the database.
    await until(async () => (await state()) !== 'submitted');
    expect(await state()).toBe('working');
    const again = await Laptop.connect(own.url, own.agent.key);
    onTestFinished(() => again.vanish());
    for (const frame of frames) expect(await again.say(frame)).toMatchObject({ type: 'ack' });
    const { result } = await caller.call('tasks/get', { id: taskId });
    expect(result).toMatchObject({ status: { state: 'completed' }, artifacts: [artifact] });
  });

  const wrong: [string, Wire | string, string, RegExp][] = [
    ['no JSON', '{', 'invalid_frame', /not valid JSON/],
    ['a list', '[]', 'invalid_frame', /object/],
    ['no type', { id: 'x' }, 'invalid_frame', /type/],
    ['an unknown type', { id: 'x', type: 'dance' }, 'unknown_type', /dance/],
    ['a frame of the hub', { id: 'x', type: 'task', taskId: 't' }, 'unknown_type', /task/],
    ['no id', { type: 'accepted', taskId: 't' }, 'invalid_frame', /id/],
    ['no taskId', { id: 'x', type: 'accepted' }, 'invalid_frame', /taskId/],
    ['no artifact', { id: 'x', type: 'artifact', taskId: 't' }, 'invalid_frame', /artifact/],
    [
      'an artifact without an id',
      { id: 'x', type: 'artifact', taskId: 't', artifact: { parts: [{ text: '' }] } },
      'invalid_frame',
      /artifactId/,
    ],
    [
      'an artifact without parts',
      { id: 'x', type: 'artifact', taskId: 't', artifact: { artifactId: 'a', parts: [] } },
      'invalid_frame',
      /parts/,
    ],
    [
      'a part of nothing',
      { id: 'x', type: 'completed', taskId: 't', message: { parts: [{}] } },
      'invalid_frame',
      /message\.parts\[0\]/,
    ],
    ['text that is a number', { id: 'x', type: 'completed', taskId: 't', text: 5 }, 'invalid_frame', /text/],
    [
      'a message and a text beside it',
      { id: 'x', type: 'completed', taskId: 't', text: 'b', message: { parts: [{ text: 'a' }] } },
      'invalid_frame',
      /not both/,
    ],
    [
      'a key that would change the prototype',
      '{"id":"x","type":"accepted","taskId":"t","__proto__":{}}',
      'invalid_frame',
      /__proto__/,
    ],
    ['a task of nobody', { id: 'x', type: 'accepted', taskId: 'nobody' }, 'not_found', /no task/],
  ];

  test.each(wrong)('[A13] %s gets an error frame', async (_, frame, code, message) => {
    const { agent } = await stage();
    const laptop = await aLaptop(world(), agent);
    laptop.raw(typeof frame === 'string' ? frame : JSON.stringify(frame));
    expect(await laptop.ofType('error')).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  const held: [string, string, RegExp][] = [
    ['half of a surrogate pair', String.raw`"text":"\ud83d"`, /surrogate/],
    ['a key named constructor', '"message":{"parts":[{"data":{"constructor":1}}]}', /constructor/],
    ['the same key twice', '"text":"a","text":"b"', /twice/],
    ['more levels than are read', `"more":${'['.repeat(99)}${']'.repeat(99)}`, /deeper/],
  ];

  test.each(held)('[A13] the error frame of one with %s names it', async (_, member, message) => {
    const { agent } = await stage();
    const laptop = await aLaptop(world(), agent);
    laptop.raw(`{"id":"mine","type":"completed","taskId":"t",${member}}`);
    const error = { id: 'mine', code: 'invalid_frame', message: expect.stringMatching(message) };
    expect(await laptop.ofType('error')).toMatchObject(error);
  });

  test('[A13] a binary frame gets an error frame, and the connection stays', async () => {
    const { agent, caller } = await stage();
    const laptop = await aLaptop(world(), agent);
    laptop.raw(Buffer.from('{"type":"ping"}'));
    expect(await laptop.ofType('error')).toMatchObject({ id: null, code: 'invalid_frame' });
    laptop.raw('{"type":"ping"}');
    expect(await laptop.ofType('pong')).toEqual({ type: 'pong' });
    const taskId = await submit(caller, 'still there?');
    expect(await laptop.say({ type: 'completed', taskId })).toMatchObject({ type: 'ack' });
  });

  test('[A13] a frame over the limit ends the connection', async () => {
    const { agent } = await stage();
    const laptop = await aLaptop(world(), agent);
    laptop.raw(JSON.stringify({ id: 'x', type: 'status', taskId: 't', text: 'x'.repeat(1_100_000) }));
    expect((await laptop.closed).code).toBe(1009);
  });

  test('[A22] an agent cannot touch the tasks of another, nor tell that they exist', async () => {
    const { caller } = await stage();
    const taskId = await submit(caller, 'mine');
    const stranger = await aLaptop(world(), await anAgent(world()));
    const about = (id: string) => ({ type: 'completed', taskId: id, text: 'stolen', id: fresh('f') });
    const { id: _a, ...foreign } = await stranger.say(about(taskId));
    const { id: _b, ...unknown } = await stranger.say(about('nobody'));
    expect(foreign).toEqual(unknown);
    expect((await caller.call('tasks/get', { id: taskId })).result.status.state).toBe('submitted');
  });

  test('[A13] a client that keeps asking and never listens is cut off before its answers fill the memory', async () => {
    const { agent } = await stage();
    const socket = connect(Number(new URL(world().url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const asking = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
    const known = [`Sec-WebSocket-Key: ${'A'.repeat(22)}==`, `Authorization: Bearer ${agent.key}`];
    socket.write(['GET /a2a/connect HTTP/1.1', 'Host: x', ...asking, ...known, '', ''].join('\r\n'));
    await once(socket, 'readable'); // and never read
    const heard = (event: string) => new Promise((resolve) => socket.once(event, resolve));
    const cut = heard('error');
    // Each is answered with an error that repeats its id. A mask of zeros leaves the text as it is.
    const odd = JSON.stringify({ type: 'nonsense', id: 'i'.repeat(128) });
    const frame = Buffer.concat([
      Buffer.from([0x81, 0x80 | 126, 0, odd.length, 0, 0, 0, 0]),
      Buffer.from(odd),
    ]);
    const many = Buffer.concat(Array(1_000).fill(frame));
    for (let said = 0; said < 400 && !socket.destroyed; said++)
      if (!socket.write(many)) await Promise.race([heard('drain'), cut]);
    expect(socket.destroyed).toBe(true);
    await until(async () => !(await presence(agent)).online);
  });

  test('[A13] a socket that no longer answers is found by the heartbeat', async () => {
    const own = await World.open();
    onTestFinished(() => own.stop());
    const laptop = await Laptop.connect(own.url, own.agent.key);
    laptop.freeze();
    await own.running.hub.beat();
    await own.running.hub.beat();
    const at = [own.room, own.space.id, own.agent.agent.id] as const;
    await until(async () => !(await presenceOf(...at)).online);
    laptop.vanish();
  });
});

describe('events and resumes', () => {
  async function emit(from: MadeAgent, taskId: string): Promise<void> {
    const event = anEvent({ subject: { task_id: taskId }, routing: { resume_policy: 'resume_if_waiting' } });
    const { producer_id: _, ...source } = event.source;
    const reply = await world().post('/akep/emit', { ...event, source }, from.key);
    if (!reply.ok) throw new Error(await reply.text());
  }

  test('[A13] events and resumes come through the same socket when asked for, until acknowledged', async () => {
    const { agent } = await stage();
    const at = { space: world().space.id, agent: agent.agent.id };
    await world().room.store.write(at.space, ['subscriptions', 'ledger'], (tx) =>
      subscribeToEverything(world().room, tx, agent.agent.id),
    );
    const other = await anAgent(world());
    await world().post('/akep/waits', { subject: { task_id: 't-feed' }, run_state_ref: 'run-1' }, agent.key);
    await emit(other, 't-feed');
    const quiet = await aLaptop(world(), agent);
    const open = async (query: string) => {
      const laptop = await Laptop.connect(world().url, agent.key, { query });
      onTestFinished(() => laptop.vanish());
      return laptop;
    };
    const eager = await open('?events=1&resumes=1');
    expect(await eager.ofType('resume')).toMatchObject({ decision: 'resume', run_state_ref: 'run-1' });
    const first = await eager.ofType('event');
    expect(first).toMatchObject({ id: 'e1', event: { subject: { task_id: 't-feed' } } });
    await emit(other, 't-live');
    expect(await eager.ofType('event')).toMatchObject({
      id: 'e2',
      event: { subject: { task_id: 't-live' } },
    });
    eager.ack(first);
    await until(async () => {
      const [oldest] = await world().room.store.read(at.space, (tx) => tx.entries.unacked(at.agent, 1));
      return oldest === 2;
    });
    const again = await open('?events=1');
    expect(await again.ofType('event')).toMatchObject({ id: 'e2' });
    const behind = await open(`?events=1&cursor=${first.cursor}`);
    expect(await behind.ofType('event')).toMatchObject({ id: 'e2' });
    expect(quiet.frames).toEqual([]);
  });

  test('[A13] a store that does not answer when something came sends the laptop back, and harms nobody else', async () => {
    const { world: own, sender } = await openInbox();
    const connect = async () => {
      const laptop = await Laptop.connect(own.url, own.agent.key, { query: '?events=1&resumes=1' });
      onTestFinished(() => laptop.vanish());
      return laptop;
    };
    const laptop = await connect();
    await sender.sent();
    expect(await laptop.ofType('event')).toMatchObject({ id: 'e1' });
    await own.sql('alter table resumes rename to resumes_elsewhere');
    await sender.sent();
    expect(await laptop.closed).toMatchObject({ code: 1013 });
    await own.sql('alter table resumes_elsewhere rename to resumes');
    const again = await connect();
    expect([await again.ofType('event'), await again.ofType('event')]).toMatchObject([
      { id: 'e1' },
      { id: 'e2' },
    ]);
  });

  test('[A13] a cursor of nobody ends the connection with the reason', async () => {
    const { agent } = await stage();
    const laptop = await Laptop.connect(world().url, agent.key, { query: '?events=1&cursor=nonsense' });
    expect(await laptop.closed).toEqual({ code: 4400, reason: 'This cursor does not belong to this inbox.' });
  });
});
