import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { MadeAgent } from '../core/agents/found.ts';
import { TestCaller, useWorld, v03Message } from '../testing/a2a/a2a.ts';
import { anEvent } from '../testing/akep/akep.ts';
import { body } from '../testing/desk/desk.ts';
import { fill } from '../testing/desk/routes.ts';
import { WHO_MAY } from '../testing/desk/who-may.ts';
import { sampleDelivery } from '../testing/world.ts';

const world = useWorld();

type Case = {
  /** Makes what the address is about, for an agent. Returns its id. */
  make(agent: MadeAgent, handle: string): Promise<string>;
  send?: unknown;
  query?: (id: string) => string;
  /** What its owner is answered, which proves that the request was a good one. */
  own?: number;
};

const post = <T>(path: string, sent: unknown, key: string) => body<T>(world().post(path, sent, key));

const SUBSCRIPTION = { spec: 'akep.v1', sink: 'inbox', event_types: ['*'], delivery: { type: 'long_poll' } };
const WAIT = { subject: { task_id: 't_9' }, run_state_ref: 'run-1' };

const delivery = async ({ agent, key }: MadeAgent) =>
  (await post<{ delivery_id: string }>('/wake/v1/deliver', sampleDelivery(agent.id), key)).delivery_id;

/** To what is about this agent alone. */
const subscription = async ({ agent, key }: MadeAgent) => {
  const wanted = { ...SUBSCRIPTION, filters: { 'subject.agent_id': agent.id } };
  return (await post<{ subscription_id: string }>('/akep/subscriptions', wanted, key)).subscription_id;
};

const emitted = async (made: MadeAgent) => {
  await subscription(made);
  const subject = { agent_id: made.agent.id, task_id: randomUUID() };
  const sent = anEvent({ event_id: `evt_${randomUUID()}`, subject });
  await post('/akep/emit', sent, made.key);
  return { event: sent.event_id, task: subject.task_id };
};
const event = async (made: MadeAgent) => (await emitted(made)).event;
const taskOfEvent = async (made: MadeAgent) => (await emitted(made)).task;

const wait = async ({ key }: MadeAgent) =>
  (await post<{ wait_id: string }>('/akep/waits', WAIT, key)).wait_id;

const task = async (agent: MadeAgent, handle: string) =>
  (await new TestCaller(world(), agent, { handle }).call('message/send', v03Message('hello'))).result.id;

/** Every address of the agents' doors that names something. One that is not here fails the first test below. */
const CASES: Record<string, Case> = {
  'GET /wake/v1/response/:id': { make: delivery },
  'POST /wake/v1/withdraw/:id': { make: delivery, send: { reason: 'x' } },
  'GET /akep/events/:id': { make: event },
  'POST /akep/events/:id/ack': { make: event, send: { status: 'applied' } },
  'GET /akep/subscriptions/:id': { make: subscription },
  'PUT /akep/subscriptions/:id': { make: subscription, send: SUBSCRIPTION },
  'DELETE /akep/subscriptions/:id': { make: subscription, own: 204 },
  'GET /akep/tasks/:id': { make: taskOfEvent },
  'DELETE /akep/waits/:id': { make: wait, own: 204 },
  'POST /a2a/uploads': { make: task, query: (id) => `?taskId=${id}`, send: 'content', own: 201 },
};

test('[W14][K16][A22] every address for agents that names something has a case here', () => {
  const named = WHO_MAY.agent.filter((at) => at.includes('/:id'));
  expect(Object.keys(CASES).sort()).toEqual([...named, 'POST /a2a/uploads'].sort());
});

/** What a stranger learns from a reply: everything but the id that they sent, and what is left of their own rate. */
async function tell(reply: Promise<Response>, id: string) {
  const { status, headers } = await reply;
  const text = (await (await reply).text()).replaceAll(id, '…');
  const told = [...headers].filter(([name]) => !/^(date|connection|keep-alive|ratelimit-.*)$/.test(name));
  return { status, headers: told, text };
}

/** An id of the same shape that nobody has. */
function unknownLike(id: string): string {
  const [prefix = ''] = /^[a-z]+_/.exec(id) ?? [];
  return /[0-9a-f]{8}-/.test(id) ? prefix + randomUUID() : prefix + 'x'.repeat(id.length - prefix.length);
}

test.each(Object.entries(CASES))(
  '[W14][K16][A22] %s answers for ids of others as for ids that nobody has',
  async (at, { make, send, query, own = 200 }) => {
    const suffix = randomUUID();
    const space = await world().addSpace(suffix.slice(0, 8));
    const me = await world().addAgent({ id: `me-${suffix}` });
    const colleague = await world().addAgent({ id: `colleague-${suffix}` });
    const stranger = await world().addAgent({ id: `me-${suffix}`, space: space.id });
    const [method = '', url = ''] = at.split(' ');
    const ask = (id: string) =>
      fetch(world().url + fill(url, () => id) + (query?.(id) ?? ''), {
        method,
        headers: {
          authorization: `Bearer ${me.key}`,
          ...(send === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(send === undefined ? {} : { body: JSON.stringify(send) }),
      });
    const mine = await make(me, 'home');
    for (const theirs of [await make(colleague, 'home'), await make(stranger, space.handle)]) {
      const unknown = unknownLike(theirs);
      const told = await tell(ask(unknown), unknown);
      expect(told.status).toBe(404);
      expect(await tell(ask(theirs), theirs)).toEqual(told);
    }
    expect((await ask(mine)).status).toBe(own);
  },
);
