import { createServer, type ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { faultOf, type LanternError } from '../faults.ts';
import { manualClock } from '../testing/clock.ts';
import { startRoom, TEST_KEY } from '../testing/room.ts';
import { type Caller, createCaller } from './caller.ts';
import type { StreamItem } from './wire.ts';

const task = (state = 'TASK_STATE_COMPLETED') => ({ id: 't1', contextId: 'c1', status: { state } });
const result = (value: unknown) => ({ status: 200, body: { jsonrpc: '2.0', id: 1, result: value } });
const error = (code: number) => ({
  status: 200,
  body: { jsonrpc: '2.0', id: 1, error: { code, message: 'No.' } },
});

const callerAt = (url: string, token: string | undefined = TEST_KEY) =>
  createCaller({ agent: `${url}/@home/helper`, token, clock: manualClock() });

describe('a caller', () => {
  it('[A6][A7] sends, gets and cancels in A2A 1.0, with the token', async () => {
    const room = await startRoom((seen) => {
      const { method } = JSON.parse(seen.body);
      return result(method === 'SendMessage' ? { task: task() } : task());
    });
    const caller = callerAt(room.url);
    const push = { url: 'https://example.com/hook', token: 'secret' };
    expect(
      await caller.send('Hello', { messageId: 'm1', contextId: 'c1', returnImmediately: true, push }),
    ).toEqual({
      task: task(),
    });
    expect(await caller.get('t1', { historyLength: 2 })).toEqual(task());
    expect(await caller.cancel('t1')).toEqual(task());
    expect(room.seen.map(({ url, method }) => [method, url])).toEqual(
      Array.from({ length: 3 }, () => ['POST', '/@home/helper/']),
    );
    expect(room.seen[0]?.headers).toMatchObject({
      'a2a-version': '1.0',
      authorization: `Bearer ${TEST_KEY}`,
    });
    expect(room.seen.map(({ body }) => JSON.parse(body))).toMatchObject([
      {
        method: 'SendMessage',
        params: {
          message: { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }], contextId: 'c1' },
          configuration: { returnImmediately: true, taskPushNotificationConfig: push },
        },
      },
      { method: 'GetTask', params: { id: 't1', historyLength: 2 } },
      { method: 'CancelTask', params: { id: 't1' } },
    ]);
  });

  it('[A10] a task that has ended is read instead of followed; another refusal is told', async () => {
    const room = await startRoom((seen) =>
      seen.body.includes('Subscribe') ? error(-32004) : result(task()),
    );
    const items: StreamItem[] = [];
    for await (const item of callerAt(room.url).subscribe('t1')) items.push(item);
    expect(items).toEqual([{ task: task() }]);
    const unknown = await startRoom(() => error(-32001));
    const following = async () => {
      for await (const _ of callerAt(unknown.url).subscribe('t1'));
    };
    await expect(following()).rejects.toMatchObject({ fault: 'not_found' });
    expect(unknown.seen).toHaveLength(1);
  });

  it('[A12] a task whose cancellation got no reply is cancelled, and one that ended otherwise is not', async () => {
    for (const [state, ending] of [
      ['TASK_STATE_CANCELED', task('TASK_STATE_CANCELED')],
      ['TASK_STATE_COMPLETED', 'conflict'],
    ] as const) {
      const room = await startRoom((seen, count) => {
        if (count === 1) return 'hang_up';
        return seen.body.includes('CancelTask') ? error(-32002) : result(task(state));
      });
      expect(await callerAt(room.url).cancel('t1').catch(faultOf)).toEqual(ending);
    }
  });

  it('[A7] takes a message for an answer', async () => {
    const message = { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Hi' }] };
    const room = await startRoom(() => result({ message }));
    expect(await callerAt(room.url).send('Hello')).toEqual({ message });
  });

  it('[A7] what is no JSON is wrong usage, at once', async () => {
    const said = { parts: [{ data: { big: 2n ** 64n } }] };
    const sending = callerAt('http://127.0.0.1:1').send(said);
    await expect(sending).rejects.toMatchObject({ fault: 'wrong_usage' });
  });

  it('[A8] tries again with the same message id', async () => {
    const room = await startRoom((_seen, count) => (count < 3 ? 'hang_up' : result({ task: task() })));
    await callerAt(room.url).send('Hello');
    const ids = room.seen.map(({ body }) => JSON.parse(body).params.message.messageId);
    expect(ids).toHaveLength(3);
    expect(new Set(ids).size).toBe(1);
  });

  it.each([
    [error(-32001), 'not_found'],
    [error(-32002), 'conflict'],
    [error(-32602), 'refused'],
    [{ status: 401 }, 'unauthorized'],
    [{ status: 404 }, 'not_found'],
    [{ status: 500 }, 'server_failed'],
    [{ status: 200, body: 'hello' }, 'bad_reply'],
    [result({ something: 1 }), 'bad_reply'],
  ])('[A11] %j is the fault %s', async (said, fault) => {
    const room = await startRoom(() => said);
    expect(
      await callerAt(room.url)
        .send('Hello')
        .then(() => 'ended', faultOf),
    ).toBe(fault);
  });

  const verbs = {
    send: (caller: Caller) => caller.send('Hello'),
    stream: async (caller: Caller) => {
      for await (const _ of caller.stream('Hello'));
    },
  };

  it.each(['send', 'stream'] as const)('[A21][W23] to %s waits as long as the server asks', async (verb) => {
    const held = (status: number, after: string) => ({ status, headers: { 'retry-after': after } });
    const cases = [
      { says: [held(429, '17'), error(-32001)], naps: [17_000], fault: 'not_found', retryAfterMs: undefined },
      {
        says: [held(429, '17'), held(429, '23')],
        naps: [17_000],
        fault: 'rate_limited',
        retryAfterMs: 23_000,
      },
      { says: [{ status: 429 }, error(-32001)], naps: [60_000], fault: 'not_found', retryAfterMs: undefined },
      { says: [held(503, '20'), error(-32001)], naps: [20_000], fault: 'not_found', retryAfterMs: undefined },
    ];
    for (const { says, naps, fault, retryAfterMs } of cases) {
      const room = await startRoom((_seen, count) => says[count - 1] ?? 'hang_up');
      const clock = manualClock();
      const caller = createCaller({ agent: `${room.url}/@home/helper`, token: TEST_KEY, clock });
      const refusal: LanternError = await verbs[verb](caller).catch((refused) => refused);
      expect([refusal.fault, refusal.wire?.retryAfterMs]).toEqual([fault, retryAfterMs]);
      expect([clock.naps, room.seen.length]).toEqual([naps, 2]);
    }
  });

  it('[A11] a refusal says which member was wrong', async () => {
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'INVALID_PARAMS' },
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: 'message.parts' }] },
    ];
    for (const [data, field] of [
      [details, 'message.parts'],
      [[null, { fieldViolations: [] }], null],
      [{ field: 'x' }, null],
    ]) {
      const body = { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'No.', data } };
      const room = await startRoom(() => ({ status: 200, body }));
      await expect(callerAt(room.url).send('Hello')).rejects.toMatchObject({
        wire: { code: '-32602', field },
      });
    }
  });

  it('[A21] a public agent needs no token; a token never travels in the clear', async () => {
    const room = await startRoom(() => result({ task: task() }));
    await createCaller({ agent: `${room.url}/@home/helper` }).send('Hello');
    expect(room.seen[0]?.headers.authorization).toBeUndefined();
    expect(() => callerAt('http://agents.example.com', 'ct_abc')).toThrow(/https/);
  });
});

type Say = (
  request: { method: string; params: Record<string, unknown>; lastEventId: string | undefined },
  reply: ServerResponse,
) => void;

/** A server of event streams. */
async function startStreams(say: Say): Promise<string> {
  const server = createServer((request, reply) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      const lastEventId = request.headers['last-event-id'];
      reply.writeHead(200, { 'content-type': 'text/event-stream' });
      say(
        { ...JSON.parse(body), lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined },
        reply,
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
}

const event = (id: number, value: StreamItem) =>
  `id: ${id}\r\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: value })}\r\n\r\n`;
const status = (state: 'TASK_STATE_WORKING' | 'TASK_STATE_COMPLETED'): StreamItem => ({
  statusUpdate: { taskId: 't1', contextId: 'c1', status: { state } },
});

describe('a stream', () => {
  it('[A10] continues after the last event when the connection was lost, and ends with the task', async () => {
    const asked: unknown[] = [];
    const opened: StreamItem = {
      task: { id: 't1', contextId: 'c1', status: { state: 'TASK_STATE_SUBMITTED' } },
    };
    const url = await startStreams(({ method, params, lastEventId }, reply) => {
      asked.push([method, params.id, lastEventId]);
      if (method === 'SendStreamingMessage')
        reply.write(
          `: hello\n\n${event(1, opened)}${event(2, status('TASK_STATE_WORKING'))}data: {"half`,
          () => reply.destroy(),
        );
      else reply.end(event(3, status('TASK_STATE_COMPLETED')));
    });
    const items: StreamItem[] = [];
    for await (const item of callerAt(url).stream('Hello')) items.push(item);
    expect(items).toEqual([opened, status('TASK_STATE_WORKING'), status('TASK_STATE_COMPLETED')]);
    expect(asked).toEqual([
      ['SendStreamingMessage', undefined, undefined],
      ['SubscribeToTask', 't1', '2'],
    ]);
  });

  it('[A10] continues after a connection that died silently', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const url = await startStreams(({ method }, reply) => {
      if (method === 'SendStreamingMessage') reply.write(event(1, status('TASK_STATE_WORKING')));
      else reply.end(event(2, status('TASK_STATE_COMPLETED')));
    });
    const items: StreamItem[] = [];
    const reading = (async () => {
      for await (const item of callerAt(url).stream('Hello')) items.push(item);
    })();
    const soon = () => new Promise((resolve) => setImmediate(resolve));
    while (items.length === 0) await soon();
    // Back at listening, and nothing comes.
    await soon();
    await vi.advanceTimersByTimeAsync(45_000);
    await reading;
    expect(items).toEqual([status('TASK_STATE_WORKING'), status('TASK_STATE_COMPLETED')]);
  });

  it('[A10] ends at an error, at a message, and when its signal fires', async () => {
    const url = await startStreams(({ params }, reply) => {
      if (params.id === 'unknown')
        reply.end('data: {"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"No."}}\n\n');
      else if (params.id === undefined)
        reply.write(event(1, { message: { messageId: 'm', role: 'ROLE_AGENT', parts: [] } }));
      else reply.write(event(1, status('TASK_STATE_WORKING')));
    });
    const caller = callerAt(url);
    const drain = async (items: AsyncIterable<StreamItem>, each: () => void = () => {}) => {
      for await (const _ of items) each();
      return 'ended';
    };
    expect(await drain(caller.subscribe('unknown')).catch(faultOf)).toBe('not_found');
    expect(await drain(caller.stream('Hello'))).toBe('ended');
    const controller = new AbortController();
    const following = drain(caller.subscribe('t1', { signal: controller.signal }), () => controller.abort());
    expect(await following.catch(faultOf)).toBe('aborted');
  });
});
