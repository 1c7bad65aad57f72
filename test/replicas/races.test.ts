import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { AkepClient, sampleEvent } from '../support/akep.ts';
import { Desk } from '../support/desk.ts';
import { callerOf, sent, untilState } from '../support/laptop.ts';
import { LaptopSocket } from '../support/laptop-socket.ts';
import { usePostgres } from '../support/postgres.ts';
import { sharedPair, startReplica, startReplicas } from '../support/replicas.ts';
import { newAgent, type Server } from '../support/server.ts';
import { each, given, until } from '../support/until.ts';

const cluster = usePostgres();
const ROUNDS = Array.from({ length: 8 }, (_, i) => i);
const PASSWORD = 'correct horse battery';

let people = 0;

/** A person with a session that holds on both replicas. */
async function newPerson(owner: Desk, url: string, role: string): Promise<{ id: string; desk: Desk }> {
  const email = `person-${++people}@example.com`;
  const wanted = { email, name: `Person ${people}`, role, password: PASSWORD };
  const { status, text, json } = await owner.request<{ person_id: string }>('POST', '/desk/people', wanted);
  if (status !== 201) throw new Error(`the person was refused: ${status} ${text}`);
  return { id: json.person_id, desk: await Desk.login(url, { email, password: PASSWORD }) };
}

async function ledgerHolds(desk: Desk): Promise<void> {
  const { json } = await desk.request<{ ok: boolean }>('GET', '/desk/audit/verify');
  expect(json.ok).toBe(true);
}

describe('the same thing on both at once', () => {
  const pair = sharedPair(cluster);

  test('[R4][W11] one Idempotency-Key with two bodies is one delivery and one conflict', async () => {
    const [one, other] = pair();
    await each(ROUNDS, async (round) => {
      const key = `two-bodies-${round}`;
      const replies = await Promise.all([
        one.wake().deliver({ headline: 'The one' }, key),
        other.wake().deliver({ headline: 'The other' }, key),
      ]);
      expect(replies.map(({ status }) => status).sort()).toEqual([201, 409]);
    });
  });

  test('[R4][A8] one messageId on both is one task', async () => {
    const [one, other] = pair();
    await each(ROUNDS, async (round) => {
      const options = { messageId: `on-both-${round}`, returnImmediately: true };
      const answers = await Promise.all(
        [one, other, one, other].map((server) => callerOf(server).send('The same', options)),
      );
      const ids = answers.map((answer) => ('task' in answer ? answer.task.id : null));
      expect(new Set(ids).size).toBe(1);
    });
  });

  test('[R4][D43] an invitation is accepted once', async () => {
    const [one, other] = pair();
    const owner = await one.desk();
    await each(ROUNDS, async (round) => {
      const wanted = { email: `guest-${round}@example.com`, role: 'decider' };
      const { json } = await owner.request<{ url: string }>('POST', '/desk/invitations', wanted);
      const token = given(/inv_\w+/.exec(JSON.stringify(json))?.[0], 'token');
      const accept = (server: Server) =>
        new Desk(server.url, {}).request('POST', '/desk/invitations/accept', { token, password: PASSWORD });
      const replies = await Promise.all([accept(one), accept(other)]);
      const taken = replies.filter(({ status }) => status < 300);
      expect([taken.length, replies.map(({ status }) => status)]).toEqual([1, expect.anything()]);
    });
  });

  test('[R4][D44] two owners who remove each other leave one', async () => {
    const [one, other] = pair();
    const owner = await one.desk();
    for (const _ of ROUNDS.slice(0, 4)) {
      const [a, b] = [await newPerson(owner, one.url, 'owner'), await newPerson(owner, other.url, 'owner')];
      const replies = await Promise.all([
        a.desk.request('DELETE', `/desk/people/${b.id}`),
        b.desk.request('DELETE', `/desk/people/${a.id}`),
      ]);
      expect(replies.filter(({ status }) => status < 300)).toHaveLength(1);
    }
    await ledgerHolds(owner);
  });

  test('[R4][W4] a key that is rotated twice at once leaves two good keys, and the old one its day', async () => {
    const [one, other] = pair();
    const desk = await one.desk();
    const agent = await newAgent(desk);
    const path = `/desk/agents/${agent.id}/keys`;
    const made = await Promise.all(
      [one, other].map((server) =>
        desk.at(server.url).request<{ key: string }>('POST', path, { rotate: true }),
      ),
    );
    for (const key of [agent.key, ...made.map(({ json }) => json.key)])
      for (const server of [one, other])
        expect((await server.wake(key).sweep({ since: '2020-01-01T00:00:00Z' })).status).toBe(200);
    type Shown = { keys: { expires_at: string | null; revoked_at: string | null }[] };
    const { keys } = (await desk.request<Shown>('GET', `/desk/agents/${agent.id}`)).json;
    expect(keys.filter(({ expires_at }) => expires_at === null)).toHaveLength(1);
  });
});

describe('deciding, undoing, withdrawing', () => {
  test('[R4][D14][W27] however they meet, one of them counts, everywhere the same', async () => {
    const url = await cluster.database();
    const [one, other] = (await startReplicas(url, 2, { LANTERNROOM_UNDO_SECONDS: '1' })) as [Server, Server];
    const owner = await one.desk();
    const ids: string[] = [];
    for (let i = 0; i < 24; i++) ids.push(await (i % 2 ? one : other).wake().delivered());
    const withdrawn = new Set<string>();
    await each(ids, async (id) => {
      const acts = [
        () => owner.at(one.url).decide(id, { status: 'approved' }),
        () => owner.at(other.url).decide(id, { status: 'rejected', feedback: 'No.' }),
        () => owner.at(other.url).undo(id),
        () => owner.at(one.url).decide(id, { status: 'approved', feedback: 'After all.' }),
        async () => {
          const reply = await other.wake().withdraw(id, 'no longer needed');
          if (reply.status === 200) withdrawn.add(id);
          return reply;
        },
      ];
      const replies = await Promise.all(
        acts.filter((_, i) => i < 4 || ids.indexOf(id) % 3 === 0).map((act) => act()),
      );
      for (const { status } of replies) expect([200, 409]).toContain(status);
    });
    // Whatever was undone last is decided now, so that all of them come to an end.
    await each(ids, async (id) => {
      await owner.at(other.url).decide(id, { status: 'approved' });
      const texts = await until(`${id} is answered`, async () => {
        const both = await Promise.all([one.wake().response(id), other.wake().response(id)]);
        return both.every(({ json }) => json.status !== 'pending') && both.map(({ text }) => text);
      });
      expect(texts[0]).toBe(texts[1]);
      const { decisions, state } = await owner.detail(id);
      const effective = decisions.filter((decision) => decision.state === 'decided');
      expect([state, effective.length]).toEqual(withdrawn.has(id) ? ['withdrawn', 0] : ['decided', 1]);
    });
    await ledgerHolds(owner);
  });
});

describe('what was taken away on one', () => {
  const pair = sharedPair(cluster);

  test('[R4][W28] a revoked key hears nothing more on the other, however it waits there', async () => {
    const [one, other] = pair();
    const desk = await one.desk();
    const agent = await newAgent(desk);
    const id = await one.wake(agent.key).delivered({ agent_id: agent.id });
    const headers = { authorization: `Bearer ${agent.key}` };
    const subscribed = await fetch(`${one.url}/akep/subscriptions`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        spec: 'akep.v1',
        sink: 'test',
        event_types: ['knowledge.acquired'],
        delivery: { type: 'poll' },
      }),
    });
    expect(subscribed.status).toBeLessThan(300);
    const waiting = other.wake(agent.key).response(id, 60);
    const page = fetch(`${other.url}/akep/events/wait?timeout=60`, { headers });
    const stream = await fetch(`${other.url}/akep/events/stream`, { headers });
    const laptop = await LaptopSocket.connect(other.url, agent.key);
    const relay = await LaptopSocket.connect(other.url, agent.key, '/akep/relay');
    const { json } = await desk.request<{ keys: { key_id: string }[] }>('GET', `/desk/agents/${agent.id}`);
    const key = given(json.keys[0], 'key').key_id;
    expect((await desk.request('DELETE', `/desk/agents/${agent.id}/keys/${key}`)).status).toBeLessThan(300);
    await desk.decide(id, { status: 'approved', feedback: 'between us' });
    await new AkepClient(one.url).sent(
      sampleEvent(`evt_${randomUUID()}`, {
        knowledge: { kind: 'observation', content_type: 'text/plain', summary: 'between us' },
      }),
    );
    await sent(callerOf(one, agent.id), 'between us');
    expect((await waiting).status).toBe(401);
    expect((await page).status).toBe(403);
    expect(await stream.text()).not.toContain('between us');
    expect([(await laptop.closed).code, (await relay.closed).code]).toEqual([1008, 1008]);
    expect([...laptop.texts, ...relay.texts].join()).not.toContain('between us');
  });

  test('[R4][D44] a role, a session and an allowlist change for both at once', async () => {
    const [one, other] = pair();
    const desk = await one.desk();
    const person = await newPerson(desk, other.url, 'decider');
    const id = await one.wake().delivered();
    expect((await desk.request('PUT', `/desk/people/${person.id}`, { role: 'reader' })).status).toBe(200);
    expect((await person.desk.at(other.url).decide(id, { status: 'approved' })).status).toBe(403);
    expect((await desk.request('DELETE', `/desk/people/${person.id}`)).status).toBeLessThan(300);
    expect((await person.desk.at(other.url).request('GET', '/desk/overview')).status).toBe(401);
    const agent = await newAgent(desk);
    const hook = 'https://hooks.example.com/in';
    const deliver = () => other.wake(agent.key).deliver({ agent_id: agent.id, callback_webhook: hook });
    expect((await deliver()).status).toBe(422);
    const put = (callbacks: string[]) =>
      desk.request('PUT', `/desk/agents/${agent.id}/callbacks`, { callbacks });
    expect((await put([hook])).status).toBe(200);
    expect((await deliver()).status).toBe(201);
    expect((await put([])).status).toBe(200);
    expect((await deliver()).status).toBe(422);
  });
});

describe('a laptop between two replicas', () => {
  test('[R6][A13] work taken on one that dies comes again on the other, and so does its cancel', async () => {
    const url = await cluster.database();
    const [doomed, left] = (await startReplicas(url, 2)) as [Server, Server];
    const agent = await newAgent(await left.desk());
    const caller = callerOf(left, agent.id);
    const first = await LaptopSocket.connect(doomed.url, agent.key);
    const kept = await sent(caller, 'keep on');
    const ended = await sent(caller, 'never mind');
    await until('both came', () => first.ids('task').length === 2);
    await doomed.kill();
    await caller.cancel(ended.id);
    const second = await LaptopSocket.connect(left.url, agent.key, `/a2a/connect?replaces=${first.link}`);
    await until('what is left comes', () => second.ids('task').includes(kept.id));
    await until('the cancel comes', () => second.ids('cancel').includes(ended.id));
    second.say({ id: 'done-1', type: 'completed', taskId: kept.id, text: 'Done' });
    await untilState(caller, kept.id, 'COMPLETED');
  });

  test('[R3][A13] back on one while the other believes it is there: it is given everything, once', async () => {
    const url = await cluster.database();
    const [one, other] = (await startReplicas(url, 2)) as [Server, Server];
    const agent = await newAgent(await one.desk());
    const halfOpen = await LaptopSocket.connect(one.url, agent.key);
    const before = await sent(callerOf(other, agent.id), 'before');
    await until('it came', () => halfOpen.ids('task').includes(before.id));
    const back = await LaptopSocket.connect(other.url, agent.key, `/a2a/connect?replaces=${halfOpen.link}`);
    await until('it comes again', () => back.ids('task').includes(before.id));
    await halfOpen.closed;
    const after = await Promise.all(
      [one, other, one, other].map((server) => sent(callerOf(server, agent.id), 'after')),
    );
    await until('all came', () => after.every(({ id }) => back.ids('task').includes(id)));
    expect(back.ids('task')).toHaveLength(5);
  });

  test('[R4][A9] canceled on one and completed on the other: one of them, for both', async () => {
    const [one, other] = (await startReplicas(await cluster.database(), 2)) as [Server, Server];
    const agent = await newAgent(await one.desk());
    const laptop = await LaptopSocket.connect(one.url, agent.key);
    const [here, there] = [callerOf(one, agent.id), callerOf(other, agent.id)];
    const tasks = await Promise.all(ROUNDS.map(() => sent(there, 'a race')));
    await until('all came', () => laptop.ids('task').length === tasks.length);
    await each(tasks, async ({ id }) => {
      laptop.say({ id: `done-${id}`, type: 'completed', taskId: id, text: 'Done' });
      const canceled = await there.cancel(id).then(
        () => true,
        () => false,
      );
      await until('the laptop is answered', () => laptop.answerTo(`done-${id}`) !== undefined);
      const states = (await Promise.all([here.get(id), there.get(id)])).map(({ status }) => status.state);
      expect(states).toEqual(Array(2).fill(canceled ? 'TASK_STATE_CANCELED' : 'TASK_STATE_COMPLETED'));
      expect(laptop.answerTo(`done-${id}`)).toBe(canceled ? 'error' : 'ack');
    });
  });
});

test('[R4][D8] a setup link that is used on both at once makes one owner', async () => {
  const url = await cluster.database();
  const none = { LANTERNROOM_INIT_EMAIL: undefined, LANTERNROOM_INIT_PASSWORD: undefined };
  const one = await startReplica(url, none);
  const other = await startReplica(url, none);
  const token = given(/st_\w+/.exec(other.child.stdout)?.[0], 'setup link');
  const set = (server: Server, name: string) =>
    new Desk(server.url, {}).request('POST', '/desk/setup', {
      token,
      email: `${name}@example.com`,
      password: PASSWORD,
    });
  const replies = await Promise.all([set(one, 'first'), set(other, 'second')]);
  expect(replies.filter(({ status }) => status < 300)).toHaveLength(1);
});
