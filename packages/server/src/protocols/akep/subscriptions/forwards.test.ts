import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { keepEnvironmentProducer } from '../../../core/events/producers.ts';
import {
  addSender,
  answered,
  type Changes,
  readAll,
  type Sender,
  subscribed,
} from '../../../testing/akep/akep.ts';
import { signal } from '../../../testing/network/receivers.ts';
import { AT_ONCE, type Called, type HookAnswer, ledger, openHook, openWorld } from '../../../testing/wake.ts';
import type { World, WorldOptions } from '../../../testing/world.ts';

type Hook = Awaited<ReturnType<typeof openHook>>;

/** A receiver that takes everything, and says when it has got so many. */
async function openReceiver(answer: (count: number) => HookAnswer | Promise<HookAnswer>) {
  const waiting: { count: number; fire: (calls: Called[]) => void }[] = [];
  const hook: Hook = await openHook((_, count) => {
    for (const one of waiting) if (one.count === count) one.fire(hook.calls);
    return answer(count);
  });
  const calls = (count: number): Promise<Called[]> => {
    if (hook.calls.length >= count) return Promise.resolve(hook.calls);
    const { seen, fire } = signal<Called[]>();
    waiting.push({ count, fire });
    return seen;
  };
  return { origin: hook.origin, got: hook.calls, calls };
}

async function openForwarding(
  answer: (count: number) => HookAnswer | Promise<HookAnswer> = () => ({ status: 204 }),
  options: WorldOptions = {},
) {
  const receiver = await openReceiver(answer);
  const world = await openWorld(options);
  const sender = await addSender(world);
  const url = `${receiver.origin}/akep/events`;
  await world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks: [receiver.origin] });
  const delivery = { type: 'webhook', url };
  const made = await subscribed(world, { delivery });
  return { world, sender, receiver, made, delivery };
}

const jobsOf = async (world: World, id: string) => {
  const { json } = await answered(world.desk('GET', `/desk/events/agent-01/${id}`));
  return json.forwards as { job_id: string; state: string; attempts: number }[];
};

/** Waits, on the store's own announcements, until the event's forward is in this state. */
async function untilState(world: World, id: string, state: string) {
  const { signals } = world.running.ground.data.store;
  for (;;) {
    const { seen, fire } = signal();
    const off = signals.on(`desk:${world.space.id}`, () => fire());
    const [job] = await jobsOf(world, id);
    if (job?.state === state) return job;
    await seen;
    off();
  }
}

const put = (world: World, id: string, body: Changes) =>
  answered(world.desk('PUT', `/akep/subscriptions/${id}`, body, world.agent.key));

describe('forwarding', () => {
  it("[K19] an event is sent on, signed with the subscription's own secret", async () => {
    const { world, sender, receiver, made } = await openForwarding();
    const event = await sender.sent();
    const [call] = await receiver.calls(1);
    const filled = { ...event, source: { producer_id: sender.id, ...event.source } };
    expect(call?.path).toBe('/akep/events');
    const headers = call?.headers as Record<string, string>;
    expect(new Webhook(made.secret ?? '').verify(call?.body ?? '', headers)).toEqual(filled);
    expect([headers['webhook-id'], headers['content-type']]).toEqual([event.event_id, 'application/json']);
    expect(Object.keys(headers).filter((name) => name.startsWith('x-wake'))).toEqual([]);
    expect(await untilState(world, event.event_id, 'done')).toMatchObject({ attempts: 1 });
    expect(await ledger(world, 'forward.attempted')).toHaveLength(1);
    expect(await readAll(world)).toEqual([filled]);
  });

  it('[K19] what is sent on is the bytes that came', async () => {
    const { sender, receiver } = await openForwarding();
    const body = `{"spec":"akep.v1","event_id":"evt_bytes_03" , "event_type":"knowledge.acquired","occurred_at":"2026-11-15T09:00:00Z","source":{"producer_id":"${sender.id}","name":"d","type":"tool"},"subject":{"task_id":"t"},"knowledge":{"kind":"document","content_type":"x/y","summary":"s","content":12345678901234567890},"routing":{"resume_policy":"never"}}`;
    expect((await sender.send({ id: 'evt_bytes_03', body })).status).toBe(202);
    expect((await receiver.calls(1))[0]?.body).toBe(body);
  });

  it('[K19] the secret is shown once, sealed at rest, and kept when the subscription changes', async () => {
    const { world, sender, receiver, made, delivery } = await openForwarding();
    const path = `/akep/subscriptions/${made.subscription_id}`;
    expect(made.secret).toMatch(/^whsec_/);
    expect((await answered(world.get(path))).text).not.toContain('whsec_');
    expect((await answered(world.get('/akep/subscriptions'))).text).not.toContain('whsec_');
    const body = { spec: 'akep.v1', sink: 'other', event_types: ['knowledge.acquired'], delivery };
    expect((await put(world, made.subscription_id, body)).text).not.toContain('whsec_');
    // As it was shown, with what only we can set.
    expect(await put(world, made.subscription_id, made)).toMatchObject({ status: 200 });
    await sender.sent();
    const [call] = await receiver.calls(1);
    new Webhook(made.secret ?? '').verify(call?.body ?? '', call?.headers as Record<string, string>);
    const [row] = (await world.sql('select secret from subscriptions')) as { secret: Uint8Array }[];
    expect(Buffer.from(row?.secret ?? []).includes(made.secret ?? '?')).toBe(false);
  });

  it('[K19] one that starts to forward later gets its secret then', async () => {
    const { world, delivery } = await openForwarding();
    const { subscription_id: id } = await subscribed(world);
    const body = { spec: 'akep.v1', sink: 's', event_types: ['tool.failed'], delivery };
    expect((await put(world, id, body)).json.secret).toMatch(/^whsec_/);
    expect((await put(world, id, body)).json.secret).toBeUndefined();
  });

  it('[K19] each forwarding subscription gets it, other inboxes only keep it', async () => {
    const { world, sender, receiver, delivery } = await openForwarding();
    await subscribed(world, { delivery: { ...delivery, url: `${delivery.url}/second` } });
    await subscribed(world);
    const { event_id } = await sender.sent();
    const calls = await receiver.calls(2);
    expect(calls.map((call) => call.path).sort()).toEqual(['/akep/events', '/akep/events/second']);
    await untilState(world, event_id, 'done');
    expect(await jobsOf(world, event_id)).toHaveLength(2);
  });

  it('[K19] a failure is tried again on schedule, and can be sent again by hand', async () => {
    const { world, sender, receiver } = await openForwarding((n) => ({ status: n === 1 ? 503 : 200 }));
    const { event_id } = await sender.sent();
    await receiver.calls(1);
    const job = await untilState(world, event_id, 'due');
    await world.desk('POST', `/desk/callbacks/${job.job_id}/send-again`);
    await receiver.calls(2);
    expect(await untilState(world, event_id, 'done')).toMatchObject({ attempts: 2 });
    const [first, second] = receiver.got;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
  });

  it('[K19][W22] sent again while an attempt is under way, both are on the record', async () => {
    const [arrived, answer] = [signal(), signal()];
    const { world, sender, receiver } = await openForwarding(async (n) => {
      if (n > 1) return { status: 200 };
      arrived.fire();
      await answer.seen;
      return { status: 503 };
    });
    const { event_id } = await sender.sent();
    await arrived.seen;
    const [running] = await jobsOf(world, event_id);
    await world.desk('POST', `/desk/callbacks/${running?.job_id}/send-again`);
    answer.fire();
    expect(await untilState(world, event_id, 'done')).toMatchObject({ attempts: 2 });
    const lines = await ledger(world, 'forward.attempted');
    expect(lines.map(({ data }) => [data.attempt, data.status]).sort()).toEqual([
      [1, 503],
      [2, 200],
    ]);
    expect(receiver.got).toHaveLength(2);
  });

  it('[K19] 410 ends it, and so does deleting the subscription', async () => {
    const gone = await openForwarding(() => ({ status: 410 }));
    const first = await gone.sender.sent();
    expect(await untilState(gone.world, first.event_id, 'gone')).toMatchObject({ attempts: 1 });

    const { world, sender, receiver, made } = await openForwarding((n) => ({ status: n === 1 ? 500 : 200 }));
    const event = await sender.sent();
    await receiver.calls(1);
    const job = await untilState(world, event.event_id, 'due');
    const path = `/akep/subscriptions/${made.subscription_id}`;
    await world.desk('DELETE', path, undefined, world.agent.key);
    await world.desk('POST', `/desk/callbacks/${job.job_id}/send-again`);
    expect(await untilState(world, event.event_id, 'gone')).toMatchObject({ attempts: 2 });
    expect(receiver.got).toHaveLength(1);
    expect(await readAll(world)).toHaveLength(1);
  });

  it('[K19] the allowlist is asked again when it is sent', async () => {
    const { world, sender, receiver } = await openForwarding();
    await world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks: ['https://example.com'] });
    const { event_id } = await sender.sent();
    const { signals } = world.running.ground.data.store;
    for (;;) {
      const { seen, fire } = signal();
      const off = signals.on(`desk:${world.space.id}`, () => fire());
      const lines = await ledger(world, 'forward.attempted');
      if (lines.length === 1) {
        expect(lines[0]).toMatchObject({ subject: event_id, data: { outcome: 'target_not_allowed' } });
        break;
      }
      await seen;
      off();
    }
    expect(receiver.got).toEqual([]);
  });

  it.each([
    ['not on the list', 'https://elsewhere.example/hook'],
    ['plain http', 'http://example.com/hook'],
    ['no address', 'mailto:somebody@example.com'],
    ['with a password', 'https://a:b@example.com/hook'],
  ])('[K19] an address that is %s is refused when subscribing', async (_, url) => {
    const world = await openWorld();
    await world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks: ['https://example.com'] });
    const body = { spec: 'akep.v1', sink: 's', event_types: ['*'], delivery: { type: 'webhook', url } };
    const reply = await answered(world.post('/akep/subscriptions', body));
    expect([reply.status, reply.json.path]).toEqual([400, '/delivery/url']);
  });

  it('[K19] what was forwarded is taken by an inbox like ours', async () => {
    const receiving = await openWorld();
    await subscribed(receiving, { event_types: ['*'] });
    const world = await openWorld();
    await world.desk('PUT', '/desk/agents/agent-01/callbacks', { callbacks: [receiving.url] });
    const delivery = { type: 'webhook', url: `${receiving.url}/akep/events` };
    const { secret = '' } = await subscribed(world, { delivery });
    await keepEnvironmentProducer(receiving.room, receiving.space.id, secret);
    const arrived = signal();
    const { signals } = receiving.running.ground.data.store;
    signals.on(`inbox:${receiving.space.id}:agent-01`, () => arrived.fire());
    const sender: Sender = await addSender(world);
    const event = await sender.sent();
    await arrived.seen;
    expect((await readAll(receiving)).map((e) => e.event_id)).toEqual([event.event_id]);
  });

  it('[K28][K19] a decision is sent on where the agent has asked for that', async () => {
    const { world, receiver, delivery } = await openForwarding(undefined, { env: AT_ONCE });
    await subscribed(world, { event_types: ['human.approved'], delivery });
    const id = await world.deliver();
    await world.decide(id, { status: 'approved' });
    const [call] = await receiver.calls(1);
    expect(JSON.parse(call?.body ?? '')).toMatchObject({
      event_type: 'human.approved',
      knowledge: { content: { delivery_id: id, status: 'approved' } },
    });
  });
});
