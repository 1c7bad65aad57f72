import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AkepEvent,
  createInbox,
  createProducer,
  type EventDraft,
  type Gap,
  type Inbox,
  type InboxOptions,
  memoryLog,
  type ProducerOptions,
  type Resume,
  verifyEvent,
} from '@lanternroom/sdk';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addProducer, rotateProducerKey } from '../../core/events/producers.ts';
import { orThrow } from '../../core/faults.ts';
import { DAY } from '../../core/time.ts';
import { AT_ONCE, client, openHook, openStillWorld, openWorld } from '../../testing/wake.ts';
import type { World } from '../../testing/world.ts';

/** The client as a stranger uses it, against the server as it is started. */

const EVENT: EventDraft = {
  event_type: 'tool.completed',
  subject: { task_id: 'task_42' },
  knowledge: { kind: 'tool_result', summary: 'The export has 1200 rows.' },
};

function open(world: World, over: Partial<InboxOptions> = {}): Inbox {
  return createInbox({ url: world.url, apiKey: world.agent.key, log: memoryLog(), ...over });
}

async function producerIn(world: World, over: Partial<ProducerOptions> = {}) {
  const wanted = { space: world.space.id, name: 'exporter', tier: 'test' as const };
  const made = orThrow(await addProducer(world.room, wanted, 'test'));
  await open(world).subscribe({ event_types: ['*'] });
  const { keyId, secret } = made;
  const identity = { producerId: made.producer.id, name: 'exporter', type: 'tool' } as const;
  return { made, producer: createProducer({ url: world.url, ...identity, keyId, secret, ...over }) };
}

/** Reads what is there and acknowledges it. */
async function drain(inbox: Inbox): Promise<AkepEvent[]> {
  const events: AkepEvent[] = [];
  await inbox.run((event) => void events.push(event), { once: true });
  return events;
}

function createSignal(): { given: Promise<void>; give: () => void } {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { given, give: () => give() };
}

function cursorFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'lanternroom-sdk-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'inbox.cursor');
}

describe('the client as a producer', () => {
  it('[K1] what it signs is accepted, with and without a key id, also in one space by its handle', async () => {
    const world = await openWorld();
    const { producer, made } = await producerIn(world);
    const identity = { producerId: made.producer.id, name: 'exporter', type: 'tool' } as const;
    const inSpace = createProducer({
      url: `${world.url}/@${world.space.handle}`,
      ...identity,
      keyId: made.keyId,
      secret: made.secret,
    });
    const nameless = createProducer({ url: world.url, ...identity, secret: made.secret });
    const ids: string[] = [];
    for (const one of [producer, inSpace, nameless]) ids.push((await one.send(EVENT)).eventId);
    const read = await drain(open(world));
    expect(read.map((event) => event.event_id)).toEqual(ids);
    expect(read[0]).toMatchObject({ ...EVENT, source: { producer_id: made.producer.id } });
  });

  it('[K8] the same event again is a duplicate; another under its id is fault conflict', async () => {
    const world = await openWorld();
    const { producer } = await producerIn(world);
    const event = { ...EVENT, event_id: 'evt_mine_0001', occurred_at: '2026-11-15T09:00:00Z' };
    expect(await producer.send(event)).toMatchObject({ duplicate: false });
    expect(await producer.send(event)).toMatchObject({ duplicate: true });
    const other = { ...event, subject: { task_id: 'task_43' } };
    await expect(producer.send(other)).rejects.toMatchObject({ fault: 'conflict' });
    expect(await drain(open(world))).toHaveLength(1);
  });

  it('[K3] a wrong secret is refused in one sentence', async () => {
    const world = await openWorld();
    const { producer } = await producerIn(world, { secret: 'something else' });
    await expect(producer.send(EVENT)).rejects.toMatchObject({ fault: 'refused', wire: { status: 400 } });
  });

  it('[K7] what no subscription takes is refused', async () => {
    const world = await openWorld();
    const { producer } = await producerIn(world);
    const inbox = open(world);
    for (const { subscription_id } of await inbox.subscriptions()) await inbox.unsubscribe(subscription_id);
    await expect(producer.send(EVENT)).rejects.toMatchObject({ fault: 'refused', wire: { status: 422 } });
    const made = await inbox.subscribe({ event_types: ['tool.completed'] });
    await producer.send(EVENT);
    expect(await inbox.subscriptions()).toEqual([made]);
    expect(await drain(inbox)).toHaveLength(1);
  });

  it('[K24] during a rotation the old key and the new one both sign', async () => {
    const world = await openWorld();
    const { producer, made } = await producerIn(world);
    const at = { space: world.space.id, producer: made.producer.id };
    const fresh = orThrow(await rotateProducerKey(world.room, at, 'test'));
    const identity = { producerId: made.producer.id, name: 'exporter', type: 'tool' } as const;
    const rotated = createProducer({ url: world.url, ...identity, ...fresh });
    await producer.send(EVENT);
    await rotated.send(EVENT);
    expect(await drain(open(world))).toHaveLength(2);
  });
});

describe('the client with its inbox', () => {
  it('[K13] it acknowledges after the handler, and the server remembers how', async () => {
    const world = await openWorld();
    const { producer } = await producerIn(world);
    const good = await producer.send(EVENT);
    const bad = await producer.send({ ...EVENT, event_type: 'tool.failed' });
    const inbox = open(world);
    await inbox.run(
      (event) =>
        event.event_type === 'tool.failed' ? { status: 'rejected', reason: 'Too late.' } : undefined,
      { once: true },
    );
    expect((await inbox.get(good.eventId)).ack).toMatchObject({ status: 'applied', reason: null });
    expect((await inbox.get(bad.eventId)).ack).toMatchObject({ status: 'rejected', reason: 'Too late.' });
    await inbox.ack(good.eventId, 'applied');
    await expect(inbox.ack(good.eventId, 'rejected')).rejects.toMatchObject({ fault: 'conflict' });
    await expect(inbox.ack('evt_unknown', 'applied')).rejects.toMatchObject({ fault: 'not_found' });
  });

  it('[K11] an agent that slept gets everything once, in order, over a restart of both', async () => {
    const world = await openWorld();
    const { producer } = await producerIn(world);
    const cursor = cursorFile();
    await producer.send(EVENT);
    expect(await drain(open(world, { cursor }))).toHaveLength(1);
    const ids: string[] = [];
    for (const _ of [1, 2, 3]) ids.push((await producer.send(EVENT)).eventId);
    await world.restart();
    const woken = open(world, { cursor });
    const read: string[] = [];
    for await (const event of woken.events({ once: true, limit: 2 })) read.push(event.event_id);
    expect(read).toEqual(ids);
    expect(await drain(open(world, { cursor }))).toEqual([]);
  });

  it('[K12] a parked reader gets an event as it comes', async () => {
    const world = await openWorld();
    const { producer } = await producerIn(world);
    const controller = new AbortController();
    const read: AkepEvent[] = [];
    const parked = createSignal();
    const watching: typeof fetch = (input, init) => {
      if (String(input).includes('/wait')) parked.give();
      return fetch(input, init);
    };
    const running = open(world, { fetch: watching }).run(
      (event) => {
        read.push(event);
        controller.abort();
      },
      { signal: controller.signal },
    );
    await parked.given;
    const { eventId } = await producer.send(EVENT);
    await running;
    expect(read.map((event) => event.event_id)).toEqual([eventId]);
    expect((await open(world).get(eventId)).ack?.status).toBe('applied');
  });

  it('[K11] the cursor of another agent and a wrong key are told, and the key stops', async () => {
    const world = await openWorld();
    const other = await world.addAgent({ id: 'agent-02' });
    const cursor = cursorFile();
    await drain(open(world, { cursor }));
    const foreign = open(world, { cursor, apiKey: other.key });
    await expect(drain(foreign)).rejects.toMatchObject({ fault: 'cursor_failed' });
    const wrong = open(world, { apiKey: 'wk_test_nobody' });
    await expect(drain(wrong)).rejects.toMatchObject({ fault: 'forbidden' });
    await expect(wrong.policy()).rejects.toMatchObject({ fault: 'forbidden' });
  });

  it('[K16] it tells the state of a task', async () => {
    const world = await openWorld();
    const { producer } = await producerIn(world);
    const { eventId } = await producer.send(EVENT);
    const task = await open(world).task('task_42');
    expect(task).toMatchObject({ status: 'completed', events: [eventId] });
    await expect(open(world).task('task_43')).rejects.toMatchObject({ fault: 'not_found' });
  });

  it('[K21] a wait is resumed by the event it names, once, and after the event', async () => {
    const world = await openWorld();
    const { producer } = await producerIn(world);
    const inbox = open(world);
    const wait = await inbox.openWait({ subject: { task_id: 'task_42' }, run_state_ref: 'runs/42.json' });
    const { eventId } = await producer.send(EVENT);
    await producer.send(EVENT);
    const steps: string[] = [];
    const resumes: Resume[] = [];
    await inbox.run((event) => void steps.push(event.event_id), {
      once: true,
      onResume: (resume) => {
        steps.push('resume');
        resumes.push(resume);
      },
    });
    expect(steps).toEqual([eventId, expect.any(String), 'resume']);
    expect(resumes).toMatchObject([
      { wait_id: wait.wait_id, event_id: eventId, run_state_ref: 'runs/42.json', out_of_order: false },
    ]);
    expect(await inbox.waits()).toEqual([]);
  });

  it('[K20][K41] waitFor brings the event, and a stricter policy of the agent keeps it asleep', async () => {
    const world = await openWorld();
    const { producer } = await producerIn(world);
    const inbox = open(world);
    const wanted = { event_types: ['tool.completed'], run_state_ref: 'here' };
    const opened = createSignal();
    const watching: typeof fetch = async (input, init) => {
      if (String(input).includes('/resumes/wait')) opened.give();
      return fetch(input, init);
    };
    const waiting = open(world, { fetch: watching }).waitFor(wanted);
    await opened.given;
    const { eventId } = await producer.send(EVENT);
    await expect(waiting).resolves.toMatchObject({ status: 'resumed', event: { event_id: eventId } });
    await inbox.setPolicy({ max_resume_policy: 'append_only' });
    expect(await inbox.policy()).toMatchObject({ max_resume_policy: 'append_only' });
    const { wait_id: waitId } = await inbox.openWait(wanted);
    await producer.send(EVENT);
    expect((await inbox.waits()).map((wait) => wait.wait_id)).toEqual([waitId]);
    await inbox.endWait(waitId);
    expect(await inbox.waits()).toEqual([]);
    expect(await inbox.waitFor(wanted, { timeoutMs: 0 })).toMatchObject({ status: 'timed_out' });
  });

  it('[K25] one agent makes something known to another', async () => {
    const world = await openWorld();
    const other = await world.addAgent({ id: 'agent-02' });
    const receiver = open(world, { apiKey: other.key });
    await receiver.subscribe({ event_types: ['knowledge.acquired'] });
    const knowledge = { kind: 'observation', summary: 'The supplier has closed.' } as const;
    const draft = { event_type: 'knowledge.acquired', subject: { agent_id: 'agent-02' }, knowledge };
    const { eventId } = await open(world).emit(draft);
    const [event] = await drain(receiver);
    expect(event).toMatchObject({ event_id: eventId, source: { producer_id: 'prod_agent_agent-01' } });
  });
});

describe('the client over time and distance', () => {
  it('[K17] an agent that slept too long is told, and continues with what is still kept', async () => {
    const { world, clock } = await openStillWorld();
    const now = () => clock.now() / 1_000;
    const { producer } = await producerIn(world, { clock: { now, sleep: async () => undefined } });
    const gaps: Gap[] = [];
    const cursor = cursorFile();
    await producer.send(EVENT);
    await drain(open(world, { cursor }));
    await producer.send(EVENT);
    await producer.send(EVENT);
    await world.tick(31 * DAY);
    const { eventId } = await producer.send(EVENT);
    const late = await drain(open(world, { cursor, onCursorExpired: (gap) => gaps.push(gap) }));
    expect(late.map((event) => event.event_id)).toEqual([eventId]);
    expect(gaps).toHaveLength(1);
  });

  it('[K19] what is forwarded to a receiver of the agent is genuine to verifyEvent', async () => {
    const world = await openWorld();
    const called = createSignal();
    const hook = await openHook(() => {
      called.give();
      return { status: 200 };
    });
    const hooked = await world.addAgent({ id: 'hooked', callbacks: [hook.origin] });
    const { producer } = await producerIn(world);
    const delivery = { type: 'webhook', url: `${hook.origin}/events` } as const;
    const inbox = open(world, { apiKey: hooked.key });
    const { secret } = await inbox.subscribe({ event_types: ['tool.completed'], delivery });
    const { eventId } = await producer.send(EVENT);
    await called.given;
    const [call] = hook.calls;
    const request = { body: call?.body ?? '', headers: call?.headers ?? {} };
    const verified = await verifyEvent({ ...request, secret });
    expect(verified).toMatchObject({ ok: true, event: { event_id: eventId } });
    const forged = await verifyEvent({ ...request, body: `${request.body} `, secret });
    expect(forged).toEqual({ ok: false, reason: 'bad_signature' });
  });
});

describe('the client with a person', () => {
  it('[W23] delivers, waits, and acts on the answer; the answer is in the inbox as well', async () => {
    const world = await openWorld({ env: AT_ONCE });
    const wake = client(world);
    const inbox = open(world);
    const draft = { type: 'question', headline: 'Release is ready', summary: 'Ship 2.1 today?' } as const;
    const { deliveryId } = await wake.deliver({ ...draft, taskId: 'task_42' });
    await inbox.openWait({ subject: { task_id: 'task_42' }, run_state_ref: 'runs/42.json' });
    const waiting = wake.waitFor(deliveryId, { timeoutMs: 60_000 });
    await world.decide(deliveryId, { status: 'approved', feedback: 'Go.' });
    await expect(waiting).resolves.toMatchObject({ status: 'approved', mayProceed: true, feedback: 'Go.' });
    const resumed: Resume[] = [];
    const events: AkepEvent[] = [];
    await inbox.run((event) => void events.push(event), {
      once: true,
      onResume: (resume) => void resumed.push(resume),
    });
    expect(events).toMatchObject([
      { event_type: 'human.approved', knowledge: { content: { delivery_id: deliveryId } } },
    ]);
    expect(resumed).toMatchObject([{ run_state_ref: 'runs/42.json' }]);
  });

  it('[W23] a rejection does not let the agent go on, and strangers are refused', async () => {
    const world = await openWorld({ env: AT_ONCE });
    const wake = client(world);
    const draft = { type: 'question', headline: 'Release is ready', summary: 'Ship 2.1 today?' } as const;
    const { deliveryId } = await wake.deliver(draft);
    await world.decide(deliveryId, { status: 'rejected', feedback: 'Not on a Friday.' });
    await expect(wake.check(deliveryId)).resolves.toMatchObject({ status: 'rejected', mayProceed: false });
    await expect(client(world).check(deliveryId)).rejects.toMatchObject({ fault: 'foreign_delivery' });
    const swept = [];
    for await (const answer of wake.sweep()) swept.push(answer.status);
    expect(swept).toEqual(['rejected']);
  });
});
