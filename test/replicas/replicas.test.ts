import { randomUUID } from 'node:crypto';
import { textIn } from '@lanternroom/sdk/a2a';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { startPooler } from '../../packages/server/src/testing/postgres/pooler.ts';
import { freePort } from '../../scripts/free-port.mjs';
import { AkepClient, sampleEvent } from '../support/akep.ts';
import { temporaryFolder } from '../support/folder.ts';
import { callerOf, Laptop } from '../support/laptop.ts';
import { usePostgres } from '../support/postgres.ts';
import { startReceiver } from '../support/receiver.ts';
import { sharedPair, startReplica, startReplicas } from '../support/replicas.ts';
import { AGENT, launch, newAgent, type Server } from '../support/server.ts';
import { each, given, until } from '../support/until.ts';
import { wrongClock } from '../support/wrong-clock.ts';

const cluster = usePostgres();

async function two(env: Record<string, string> = {}): Promise<[Server, Server]> {
  const [one, other] = await startReplicas(await cluster.database(), 2, env);
  return [given(one, 'first replica'), given(other, 'second replica')];
}

describe('a replica whose own clock is wrong', () => {
  const TWO_HOURS_MS = 2 * 60 * 60_000;

  test.each([TWO_HOURS_MS, -TWO_HOURS_MS])(
    '[R5] by %i ms stamps and waits as the others do: the time is the database’s',
    async (wrong) => {
      const url = await cluster.database();
      const env = { LANTERNROOM_UNDO_SECONDS: '1', LANTERNROOM_LOG: 'debug' };
      const right = await startReplica(url, env);
      const off = await startReplica(url, { ...env, ...wrongClock(wrong) });
      // Its log is stamped by its own clock: it really is that far off.
      const stamped = Date.parse(/"time":"([^"]+)"/.exec(off.child.stdout)?.[1] ?? '');
      expect(Math.abs(stamped - Date.now() - wrong)).toBeLessThan(30 * 60_000);
      const order: string[] = [];
      for (const { wake } of [right, off, right, off].map((server) => ({ wake: server.wake() })))
        order.push(await wake.delivered());
      const desk = await right.desk();
      const rows = await Promise.all(order.map((id) => desk.at(off.url).detail(id)));
      const times = rows.map(({ created_at }) => Date.parse(created_at));
      expect(times).toEqual([...times].sort((a, b) => a - b));
      for (const time of times) expect(Math.abs(time - Date.now())).toBeLessThan(30 * 60_000);
      // Held there, in effect by whoever comes first, and known to both once its second is over.
      const [id = ''] = order;
      const decided = await desk.at(off.url).decide(id, { status: 'approved', feedback: 'Go.' });
      expect(decided.json).toMatchObject({ state: 'held' });
      const answer = await until('the decision is in effect', async () => {
        const { json, text } = await off.wake().response(id);
        return json.status === 'pending' ? undefined : text;
      });
      expect((await right.wake().response(id)).text).toBe(answer);
    },
  );
});

describe('what happens on one replica is known on the other', () => {
  const pair = sharedPair(cluster);

  test('[R1] both start on an empty database, and found one home', async () => {
    const [one, other] = pair();
    const id = await one.wake().delivered();
    expect((await other.wake().response(id)).json).toMatchObject({ delivery_id: id, status: 'pending' });
    const desk = await one.desk();
    // The session was made there, and holds here.
    expect((await desk.at(other.url).detail(id)).status).toBe('pending');
  });

  test('[R3][W15] a decision on one wakes who waits on the other, with the same bytes', async () => {
    const [one, other] = pair();
    const id = await one.wake().delivered();
    const waiting = other.wake().response(id, 60);
    const desk = await one.desk();
    expect((await desk.decide(id, { status: 'approved', feedback: 'Go.' })).status).toBe(200);
    const answer = await waiting;
    expect(answer.json).toMatchObject({ status: 'approved', feedback: 'Go.' });
    expect((await one.wake().response(id)).text).toBe(answer.text);
  });

  test('[R3] the desk of one shows live what was delivered to the other', async () => {
    const [one, other] = pair();
    const desk = (await one.desk()).at(other.url);
    const stream = await desk.open('/desk/stream');
    const reader = given(stream.body, 'stream').getReader();
    onTestFinished(() => reader.cancel());
    const decoder = new TextDecoder();
    let text = '';
    const read = async () => {
      const { value } = await reader.read();
      text += decoder.decode(value, { stream: true });
      return text;
    };
    await until('the stream greets', async () => (await read()).includes('hello'));
    const id = await one.wake().delivered();
    await until('the delivery is told', async () => (await read()).includes(id));
  });

  test('[R3][K13] an event sent to one reaches the long-poll and the socket on the other', async () => {
    const [one, other] = pair();
    const sender = new AkepClient(one.url);
    const reader = new AkepClient(other.url);
    const { json: start } = await reader.page(null);
    const socket = new WebSocket(`${other.url.replace('http', 'ws')}/akep/relay`, {
      headers: { authorization: `Bearer ${AGENT.key}` },
    });
    onTestFinished(() => socket.terminate());
    const frames: string[] = [];
    socket.on('message', (data) => frames.push(String(data)));
    await new Promise((resolve) => socket.once('open', resolve));
    const waiting = reader.page(start.next_cursor, 100, '/akep/events/wait');
    const id = `evt_${randomUUID()}`;
    await sender.sent(sampleEvent(id));
    expect((await waiting).json.events.map((event) => event.event_id)).toEqual([id]);
    await until('the socket brings it', () => frames.some((frame) => frame.includes(id)));
  });

  test('[R3][A15] a laptop connected to one replica works for callers of the other', async () => {
    const [one, other] = pair();
    const laptop = new Laptop('cat > /dev/null; echo Hello from the laptop');
    await laptop.start(one.url);
    onTestFinished(() => laptop.kill());
    const answer = await callerOf(other).send('Are you there?', { messageId: 'msg-across' });
    const task = given('task' in answer ? answer.task : null, 'task');
    expect([task.status.state, textIn(task.status.message)]).toEqual([
      'TASK_STATE_COMPLETED',
      'Hello from the laptop',
    ]);
    expect((await callerOf(one).get(task.id)).status.state).toBe('TASK_STATE_COMPLETED');
  });

  test('[R2][W19] a sweep on one never misses what is decided on the other', async () => {
    const [one, other] = pair();
    const desk = await one.desk();
    const agent = await newAgent(desk);
    const ids = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        (i % 2 ? one : other).wake(agent.key).delivered({ agent_id: agent.id }),
      ),
    );
    const seen = new Set<string>();
    let since = '2020-01-01T00:00:00Z';
    let done = false;
    const sweeping = (async () => {
      for (;;) {
        const last = done;
        const { json } = await other.wake(agent.key).sweep({ since, status: 'approved' });
        for (const { delivery_id } of json.deliveries) seen.add(delivery_id);
        since = json.next_since ?? since;
        if (last && !json.has_more) return;
      }
    })();
    await each(ids, async (id) => {
      const replica = desk.at(Math.random() < 0.5 ? one.url : other.url);
      expect((await replica.decide(id, { status: 'approved' })).status).toBe(200);
    });
    done = true;
    await sweeping;
    expect([...seen].sort()).toEqual([...ids].sort());
  });
});

describe('what is shared', () => {
  const pair = sharedPair(cluster);

  test('[R4][W23] one limit for all replicas', async () => {
    const [one, other] = await two({ LANTERNROOM_RATE_TEST: '6/6' });
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, i) => (i % 2 ? one : other).wake().deliver()),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(6);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(6);
  });

  test('[R4][W11] the same Idempotency-Key on both is one delivery', async () => {
    const [one, other] = pair();
    const replies = await Promise.all(
      [one, other, one, other].map((s) => s.wake().deliver({}, 'the-same-key')),
    );
    expect(new Set(replies.map(({ json }) => json.delivery_id)).size).toBe(1);
  });

  test('[R4] two people decide the same thing on two replicas: one of them is told', async () => {
    const [one, other] = pair();
    const id = await one.wake().delivered();
    const desk = await one.desk();
    const { content_sha256 } = await desk.detail(id);
    const replies = await Promise.all(
      [one, other].map((s, i) =>
        desk.at(s.url).request('POST', `/desk/deliveries/${id}/decision`, {
          status: i ? 'approved' : 'rejected',
          content_sha256,
        }),
      ),
    );
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('[R4] a key that is revoked on one is refused on the other at once', async () => {
    const [one, other] = pair();
    const desk = await one.desk();
    const agent = await newAgent(desk);
    const asked = () => other.wake(agent.key).response('0b9c4a3e-0000-4000-8000-000000000000');
    expect((await asked()).status).toBe(404);
    const { json } = await desk.request<{ keys: { key_id: string }[] }>('GET', `/desk/agents/${agent.id}`);
    const key = given(json.keys[0], 'key').key_id;
    expect((await desk.request('DELETE', `/desk/agents/${agent.id}/keys/${key}`)).status).toBeLessThan(300);
    expect((await asked()).status).toBe(401);
  });

  test('[R5][W21] one of many replicas sends each callback, once', async () => {
    const receiver = await startReceiver();
    const [one, other] = await two({ LANTERNROOM_INIT_CALLBACKS: `${receiver.origin}/hook` });
    const desk = await one.desk();
    const ids = await Promise.all(
      Array.from({ length: 12 }, () => one.wake().delivered({ callback_webhook: `${receiver.origin}/hook` })),
    );
    await each(ids, async (id) => void (await desk.at(other.url).decide(id, { status: 'approved' })));
    await until('all are called', () => receiver.received.length >= 12);
    const state = async (id: string) => (await desk.detail(id)).callbacks[0]?.state;
    for (const id of ids) await until('it is recorded', async () => (await state(id)) === 'done');
    for (const id of ids) expect((await desk.detail(id)).attempts).toHaveLength(1);
    expect(receiver.received).toHaveLength(12);
  });
});

describe('any of them may die', () => {
  test('[R6] one is killed under load: the other carries on, and nothing that was answered is lost', async () => {
    const url = await cluster.database();
    const [doomed, left] = (await startReplicas(url, 2)) as [Server, Server];
    const accepted: string[] = [];
    let stop = false;
    const send = async (server: Server) => {
      while (!stop) {
        const reply = await server
          .wake()
          .deliver()
          .catch(() => null);
        if (reply?.status === 201) accepted.push(reply.json.delivery_id);
        if (reply === null) return;
      }
    };
    const sending = [doomed, doomed, doomed, left, left].map(send);
    await until('there is some load', () => accepted.length > 60);
    await doomed.kill();
    const before = accepted.length;
    await until('the other goes on', () => accepted.length > before + 40);
    stop = true;
    await Promise.all(sending);
    const fresh = await startReplica(url);
    await each(accepted, async (id) => expect((await fresh.wake().response(id)).status).toBe(200));
    const verdict = await (await left.desk()).request<{ ok: boolean }>('GET', '/desk/audit/verify');
    expect(verdict.json.ok).toBe(true);
  });

  test('[R6][R4] a held decision takes effect although the replica that took it is gone', async () => {
    const url = await cluster.database();
    const [doomed, left] = (await startReplicas(url, 2, { LANTERNROOM_UNDO_SECONDS: '2' })) as [
      Server,
      Server,
    ];
    const id = await left.wake().delivered();
    const waiting = left.wake().response(id, 60);
    expect((await (await doomed.desk()).decide(id, { status: 'approved' })).json.state).toBe('held');
    await doomed.kill();
    expect((await waiting).json).toMatchObject({ status: 'approved' });
  });

  test('[R6] one that froze with the ledger in its hands holds nobody up for long', async () => {
    const [frozen, left] = await two();
    const load = Array.from({ length: 4 }, async () => {
      for (let i = 0; i < 50; i++)
        await frozen
          .wake()
          .deliver()
          .catch(() => null);
    });
    await until('it is under way', async () => (await left.wake().deliver()).status === 201);
    frozen.child.process.kill('SIGSTOP');
    await until('the other can write', async () => (await left.wake().deliver()).status === 201);
    frozen.child.process.kill('SIGCONT');
    await Promise.all(load);
    await until('it is well again', async () => (await frozen.wake().deliver()).status === 201);
  });
});

describe('the database', () => {
  test('[R7][D33] down at the start: the server says so, waits, and is not ready until it is there', async () => {
    const url = await cluster.database();
    await cluster.server.halt();
    const port = await freePort();
    const child = launch({
      folder: temporaryFolder(),
      env: { DATABASE_URL: url },
      args: ['--port', String(port)],
    });
    onTestFinished(() => void child.process.kill('SIGKILL'));
    const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
    const early = await until('somebody answers', async () => (await ask('/readyz')) ?? undefined);
    expect([early.status, early.headers.get('retry-after')]).toEqual([503, '2']);
    expect((await ask('/healthz'))?.status).toBe(200);
    const says = /PostgreSQL at postgres:.* does not answer .*Waiting for it/;
    await until('it says what it waits for', () => says.test(child.stderr));
    await cluster.server.start();
    await until('it is ready', async () => (await ask('/readyz'))?.status === 200);
  });

  test('[R7][D33] being brought forward by another replica: it answers that it is well, and is ready when that is done', async () => {
    const url = await cluster.database();
    const holder = new pg.Client({ connectionString: url });
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query(`select pg_advisory_lock(${0x4c54524e})`);
    const port = await freePort();
    const child = launch({
      folder: temporaryFolder(),
      env: { DATABASE_URL: url },
      args: ['--port', String(port)],
    });
    onTestFinished(() => void child.process.kill('SIGKILL'));
    const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
    await until('it says that it is well', async () => (await ask('/healthz'))?.status === 200);
    expect((await ask('/readyz'))?.status).toBe(503);
    await until('it says what takes so long', () => /is being upgraded/.test(child.stderr));
    await holder.query('select pg_advisory_unlock_all()');
    await until('it is ready', async () => (await ask('/readyz'))?.status === 200);
  });

  test('[R9] behind a pooler the log says, as a line of it, that notices do not arrive', async () => {
    const pooler = await startPooler(await cluster.database());
    onTestFinished(() => pooler.stop());
    const { child } = await startReplica(pooler.url);
    const said = () => child.stdout.split('\n').find((line) => line.includes('LISTEN brings nothing'));
    const line = await until('it says so', said);
    expect(JSON.parse(line)).toMatchObject({ level: 40 });
  });

  test('[R7][D33] gone while it runs: 503 with Retry-After, healthy, not ready; then well by itself', async () => {
    const server = await startReplica(await cluster.database());
    await cluster.server.halt('immediate');
    const reply = await server.wake().deliver();
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([503, '2']);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    await cluster.server.start();
    await until('it is ready again', async () => (await fetch(`${server.url}/readyz`)).status === 200);
    await until('it takes deliveries', async () => (await server.wake().deliver()).status === 201);
  });
});
