import { describe, expect, it } from 'vitest';
import { memoryLog } from '../log/log.ts';
import {
  answered,
  DRAFT,
  ID,
  OTHER_ID,
  received,
  responseBody,
  startRoom,
  startWorld,
  TEST_KEY,
} from '../testing/room.ts';
import { createWake } from './client.ts';

describe('delivering', () => {
  it('[W26] the draft becomes the body of the wire, with nothing that was not given', async () => {
    const world = await startWorld(() => received(), { provider: 'claude' });
    await world.wake.deliver({
      ...DRAFT,
      details: { words: 3200 },
      timeoutSeconds: 3600,
      callbackWebhook: 'https://agent.example/wake',
      taskId: 't-1',
      threadId: 'th-1',
      interruptId: 'i-1',
      revises: OTHER_ID,
      dedupeKey: 'release',
      allowSecrets: [{ path: '/details/x', reason: 'a sample' }],
    });
    await world.wake.deliver(DRAFT);
    expect(JSON.parse(world.seen[0]?.body ?? '')).toEqual({
      agent_id: 'research-agent-01',
      provider: 'claude',
      ...DRAFT,
      details: { words: 3200 },
      timeout_seconds: 3600,
      callback_webhook: 'https://agent.example/wake',
      task_id: 't-1',
      thread_id: 'th-1',
      interrupt_id: 'i-1',
      revises: OTHER_ID,
      dedupe_key: 'release',
      allow_secrets: [{ path: '/details/x', reason: 'a sample' }],
    });
    const plain = { agent_id: 'research-agent-01', provider: 'claude', ...DRAFT };
    expect(JSON.parse(world.seen[1]?.body ?? '')).toEqual(plain);
  });

  it('[W26] a deduplicated delivery is ours, and says so', async () => {
    const body = { delivery_id: ID, status: 'received', created_at: 'x', deduplicated: true };
    const world = await startWorld((_, count) =>
      count === 1 ? { status: 200, body } : answered('approved'),
    );
    await expect(world.wake.deliver(DRAFT)).resolves.toMatchObject({ deliveryId: ID, deduplicated: true });
    await expect(world.wake.check(ID)).resolves.toMatchObject({ status: 'approved' });
  });

  it('[W25] a server that speaks another version is told apart, with what to upgrade', async () => {
    const error = {
      code: 'unsupported_version',
      message: 'This server does not speak WAKE v1.',
      supported: ['v2'],
      docs: '',
    };
    const world = await startWorld(() => ({ status: 404, body: { error } }));
    const delivering = world.wake.deliver(DRAFT);
    await expect(delivering).rejects.toMatchObject({
      fault: 'not_found',
      wire: { code: 'unsupported_version' },
    });
    await expect(delivering).rejects.toThrow(/speaks v2, this SDK v1: upgrade whichever/);
  });

  it('[W12] what was delivered under a key is found again, by this client and by the next one with the same log', async () => {
    const world = await startWorld(() => received());
    expect(await world.wake.recall('run-7')).toBeNull();
    await world.wake.deliver(DRAFT, { idempotencyKey: 'run-7' });
    expect(await world.wake.recall('run-7')).toBe(ID);
    const log = memoryLog();
    for (const line of world.log.lines) await log.append(line);
    const options = { apiKey: TEST_KEY, agentId: 'research-agent-01', log };
    expect(await createWake({ ...options, url: world.url }).recall('run-7')).toBe(ID);
    // Neither another server's lines nor another agent's count.
    for (const other of [
      { url: 'https://elsewhere.example' },
      { url: world.url, agentId: 'somebody-else' },
    ]) {
      const copy = memoryLog();
      for (const line of world.log.lines) await copy.append(line);
      expect(await createWake({ ...options, log: copy, ...other }).recall('run-7')).toBeNull();
    }
  });

  it('[W12] agents that share a log and a key each find what is theirs', async () => {
    const agents = [
      { name: 'first', apiKey: `${TEST_KEY}1`, id: ID },
      { name: 'second', apiKey: `${TEST_KEY}2`, id: OTHER_ID },
    ];
    const room = await startRoom(({ url, headers }) => {
      const agent = agents.find(({ apiKey }) => headers.authorization === `Bearer ${apiKey}`);
      if (url === '/.well-known/wake.json') return { status: 200, body: { agent_id: agent?.name } };
      return received(agent?.id);
    });
    const log = memoryLog();
    const open = (apiKey = '') => createWake({ url: room.url, apiKey, log });
    const [first, second] = agents.map(({ apiKey }) => open(apiKey));
    await first?.deliver(DRAFT, { idempotencyKey: 'run-7' });
    expect(await second?.recall('run-7')).toBeNull();
    await second?.deliver(DRAFT, { idempotencyKey: 'run-7' });
    for (const { apiKey, id } of agents) expect(await open(apiKey).recall('run-7')).toBe(id);
  });

  it('[W12] a question that was asked again under its key is the one that is found', async () => {
    const ids = [ID, OTHER_ID];
    const world = await startWorld(() => received(ids.shift()));
    await world.wake.deliver(DRAFT, { idempotencyKey: 'run-7' });
    const log = memoryLog();
    for (const line of world.log.lines) await log.append(line);
    const next = createWake({ url: world.url, apiKey: TEST_KEY, agentId: 'research-agent-01', log });
    await next.deliver(DRAFT, { idempotencyKey: 'run-7' });
    expect(await next.recall('run-7')).toBe(OTHER_ID);
  });

  it('[W26] a delivery that met an open dedupe key is found again under its own key too', async () => {
    const world = await startWorld(() => received());
    for (const idempotencyKey of ['run-7', 'run-8']) await world.wake.deliver(DRAFT, { idempotencyKey });
    const log = memoryLog();
    for (const line of world.log.lines) await log.append(line);
    const next = createWake({ url: world.url, apiKey: TEST_KEY, agentId: 'research-agent-01', log });
    expect([await next.recall('run-7'), await next.recall('run-8')]).toEqual([ID, ID]);
  });

  it('[W23] how long a delivery may take, and its signal, count for the question whose key it is too', async () => {
    const says = { status: 429, headers: { 'retry-after': '3600' } };
    const late = await startWorld(() => says, { agentId: undefined });
    await expect(late.wake.deliver(DRAFT, { withinMs: 30_000 })).rejects.toMatchObject({
      fault: 'rate_limited',
    });
    expect([late.clock.naps, late.seen.length]).toEqual([[], 1]);

    const given = new AbortController();
    const hanging = await startWorld(() => new Promise(() => given.abort()), { agentId: undefined });
    await expect(hanging.wake.deliver(DRAFT, { signal: given.signal })).rejects.toMatchObject({
      fault: 'aborted',
    });
  });

  it('[W3] without an agent id the server is asked whose key it is, once', async () => {
    const card = { status: 200, body: { agent_id: 'from-the-key' } };
    const world = await startWorld((seen) => (seen.url === '/.well-known/wake.json' ? card : received()), {
      agentId: undefined,
    });
    await world.wake.deliver(DRAFT);
    await world.wake.deliver(DRAFT);
    expect(world.seen.map((seen) => seen.url)).toEqual([
      '/.well-known/wake.json',
      '/wake/v1/deliver',
      '/wake/v1/deliver',
    ]);
    expect(world.seen[1]?.body).toContain('"agent_id":"from-the-key"');
  });

  it.each([{ status: 404 }, { status: 200, body: {} }, { status: 200, body: 'hello' }])(
    '[W3] a server that does not know (%j) leads to a sentence about WAKE_AGENT_ID',
    async (said) => {
      const world = await startWorld(() => said, { agentId: undefined });
      await expect(world.wake.deliver(DRAFT)).rejects.toMatchObject({
        fault: 'wrong_usage',
        message: expect.stringContaining('WAKE_AGENT_ID'),
      });
    },
  );

  it.each(['', 'a b', 'ü', 'x'.repeat(256)])(
    '[W12] %j is no idempotency key, and nothing is sent',
    async (idempotencyKey) => {
      const world = await startWorld(() => received());
      await expect(world.wake.deliver(DRAFT, { idempotencyKey })).rejects.toMatchObject({
        fault: 'wrong_usage',
      });
      expect(world.seen).toEqual([]);
    },
  );
});

describe('checking', () => {
  it.each([{ brief: 'short' }, 'Short text', {}, ''])(
    '[W23] an approval with the edited content %j is no leave to go on with the original',
    async (edited_content) => {
      const world = await startWorld(() => answered('approved', { feedback: 'Like this.', edited_content }));
      await world.wake.adopt(ID);
      expect(await world.wake.check(ID)).toMatchObject({
        status: 'redirected',
        mayProceed: false,
        instructions: { feedback: 'Like this.', editedContent: edited_content },
      });
    },
  );

  it('[W14] each status has its own shape, and only approved may proceed', async () => {
    const script = [
      answered('pending', { timed_out_at: '2026-03-08T13:00:00.000000Z' }),
      answered('approved', { feedback: 'Good.' }),
      answered('rejected', { feedback: 'Not today.' }),
      answered('redirected', { feedback: 'Cut section 3.', edited_content: { brief: 'short' } }),
    ];
    const world = await startWorld((_, count) => script[count - 1] ?? 'hang_up');
    await world.wake.adopt(ID);
    const answers = [1, 2, 3, 4].map(() => world.wake.check(ID));
    const respondedAt = '2026-03-08T12:10:00.000000Z';
    const got = (await Promise.all(answers)).sort((a, b) => a.status.localeCompare(b.status));
    expect(got).toEqual([
      { status: 'approved', mayProceed: true, deliveryId: ID, respondedAt, feedback: 'Good.' },
      { status: 'pending', mayProceed: false, deliveryId: ID, timedOutAt: '2026-03-08T13:00:00.000000Z' },
      {
        status: 'redirected',
        mayProceed: false,
        deliveryId: ID,
        respondedAt,
        instructions: { feedback: 'Cut section 3.', editedContent: { brief: 'short' } },
      },
      {
        status: 'rejected',
        mayProceed: false,
        deliveryId: ID,
        respondedAt,
        feedback: 'Not today.',
        withdrawnAt: null,
      },
    ]);
  });

  it('[W23] an id that this client never submitted is refused before anything is asked', async () => {
    const world = await startWorld(() => answered('approved'));
    await expect(world.wake.check(ID)).rejects.toMatchObject({ fault: 'foreign_delivery' });
    await expect(world.wake.waitFor(ID)).rejects.toMatchObject({ fault: 'foreign_delivery' });
    await expect(world.wake.withdraw(ID, 'x')).rejects.toMatchObject({ fault: 'foreign_delivery' });
    expect(world.seen).toEqual([]);
  });

  it.each([
    ['everything that deliver() returned', { deliveryId: ID }],
    ['its promise', Promise.resolve(ID)],
    ['nothing', undefined],
  ])('[W23] %s is no delivery id, and the sentence says what is', async (_, id) => {
    const { wake, seen } = await startWorld(() => received());
    const given = id as unknown as string;
    const calls = [wake.check(given), wake.waitFor(given), wake.withdraw(given, 'x'), wake.adopt(given)];
    for (const call of calls) {
      await expect(call).rejects.toMatchObject({
        fault: 'wrong_usage',
        message: expect.stringMatching(/await.*deliveryId/),
      });
    }
    expect(seen).toEqual([]);
  });

  it('[W12] an idempotency key that is no text is refused, because nobody would find it again', async () => {
    const world = await startWorld(() => received());
    const idempotencyKey = 4711 as unknown as string;
    await expect(world.wake.deliver(DRAFT, { idempotencyKey })).rejects.toMatchObject({
      fault: 'wrong_usage',
    });
    expect(world.seen).toEqual([]);
  });

  it('[W23] an answer to another delivery than the one asked for is refused, even if that one is ours too', async () => {
    const world = await startWorld(() => answered('approved', { delivery_id: OTHER_ID }));
    await world.wake.adopt(ID);
    await world.wake.adopt(OTHER_ID);
    await expect(world.wake.check(ID)).rejects.toMatchObject({ fault: 'foreign_delivery' });
    expect(world.log.lines.join()).not.toContain('"event":"answer"');
    expect(world.log.lines.at(-1)).toContain('"event":"refused"');
  });

  it('[W23] a number of the person that JavaScript cannot hold arrives as a text with all its digits', async () => {
    const edited =
      '{"account":1187350000000000123,"of":[-9007199254740993,9007199254740992,1187350000000000800,1e400,0.5],"a":"12345678901234567"}';
    const body = JSON.stringify(responseBody('redirected')).replace(
      '"edited_content":null',
      `"edited_content":${edited}`,
    );
    const world = await startWorld((_, count) => (count === 1 ? received() : { status: 200, body }));
    const { deliveryId } = await world.wake.deliver(DRAFT);
    const editedContent = {
      account: '1187350000000000123',
      of: ['-9007199254740993', 9007199254740992, 1187350000000000800, '1e400', 0.5],
      a: '12345678901234567',
    };
    expect(await world.wake.check(deliveryId)).toMatchObject({ instructions: { editedContent } });
  });

  it('[W14] ids compare without case', async () => {
    const world = await startWorld(() => answered('approved', { delivery_id: ID.toUpperCase() }));
    await world.wake.adopt(ID);
    await expect(world.wake.check(ID)).resolves.toMatchObject({ status: 'approved' });
  });

  it.each([
    { status: 'approved!' },
    { status: null },
    { feedback: 7 },
    { edited_content: ['x'] },
    { delivery_id: 7 },
  ])('[W23] nobody proceeds on a reply that cannot be read: %j', async (odd) => {
    const world = await startWorld(() => ({ status: 200, body: { ...responseBody('approved'), ...odd } }));
    await world.wake.adopt(ID);
    await expect(world.wake.check(ID)).rejects.toMatchObject({ fault: 'bad_reply' });
  });
});

describe('withdrawing', () => {
  const withdrawn = {
    feedback: 'Withdrawn by the agent: no build',
    withdrawn_at: '2026-03-08T12:10:00.000000Z',
  };

  it('[W27] what is taken back answers as rejected and withdrawn', async () => {
    const world = await startWorld((seen) =>
      seen.method === 'POST' ? { status: 200 } : answered('rejected', withdrawn),
    );
    await world.wake.adopt(ID);
    const answer = await world.wake.withdraw(ID, 'no build');
    expect(answer).toMatchObject({
      status: 'rejected',
      mayProceed: false,
      withdrawnAt: withdrawn.withdrawn_at,
    });
    expect(world.seen[0]).toMatchObject({ url: `/wake/v1/withdraw/${ID}`, body: '{"reason":"no build"}' });
  });

  it('[W27] a retry after a lost reply meets 409 and is still a success', async () => {
    const world = await startWorld((seen, count) => {
      if (count === 1) return 'hang_up';
      return seen.method === 'POST' ? { status: 409 } : answered('rejected', withdrawn);
    });
    await world.wake.adopt(ID);
    await expect(world.wake.withdraw(ID, 'no build')).resolves.toMatchObject({
      withdrawnAt: withdrawn.withdrawn_at,
    });
  });

  it.each(['approved', 'rejected'] as const)(
    '[W27] what a person %s cannot be taken back',
    async (status) => {
      const world = await startWorld((seen) => (seen.method === 'POST' ? { status: 409 } : answered(status)));
      await world.wake.adopt(ID);
      await expect(world.wake.withdraw(ID, 'too late')).rejects.toMatchObject({ fault: 'conflict' });
    },
  );
});
