import { describe, expect, test } from 'vitest';
import { RESEARCH_AGENT, runNodeSample, SampleRun, sampleEnvironment, stepsOf } from '../seeds/sample-run.ts';
import type { Desk } from '../support/desk.ts';
import type { Received } from '../support/receiver.ts';
import { startReceiver } from '../support/receiver.ts';
import { AGENT, CALLBACK_SECRET, Server } from '../support/server.ts';
import { given, pause, until } from '../support/until.ts';

const ANSWERS = {
  approved: { status: 'approved' },
  rejected: { status: 'rejected', feedback: 'Not before Monday — “really”.' },
  redirected: {
    status: 'redirected',
    feedback: 'Cut section 3.',
    edited_content: { brief: 'short', n: 1.5 },
  },
};
type Verdict = keyof typeof ANSWERS;

function start(env: Record<string, string> = {}): Promise<Server> {
  const settings = { LANTERNROOM_INIT_AGENT: RESEARCH_AGENT, LANTERNROOM_UNDO_SECONDS: '0', ...env };
  return Server.start({ env: settings });
}

async function onlyOpenDelivery(desk: Desk): Promise<string> {
  const { json } = await desk.request<{ deliveries: { delivery_id: string }[] }>('GET', '/desk/deliveries');
  expect(json.deliveries).toHaveLength(1);
  return given(json.deliveries[0], 'open delivery').delivery_id;
}

describe('the samples that deliver and wait', () => {
  const SAMPLES = {
    'whitepaper-minimal.py': {
      endpoint: 'root',
      ends: {
        approved: ['proceed_with_next_step'],
        rejected: ['handle_rejection', ANSWERS.rejected.feedback],
        redirected: ['incorporate_edits', ANSWERS.redirected.edited_content, ANSWERS.redirected.feedback],
      },
    },
    'spec-quickstart.py': {
      endpoint: 'v1',
      ends: {
        approved: ['proceed'],
        rejected: ['handle', ANSWERS.rejected.feedback],
        redirected: ['incorporate', ANSWERS.redirected.edited_content],
      },
    },
  } as const;
  type Name = keyof typeof SAMPLES;

  test.each(Object.keys(SAMPLES) as Name[])('[W24] %s, unchanged, acts on every answer', async (name) => {
    const server = await start();
    const desk = await server.desk();
    const { endpoint, ends } = SAMPLES[name];
    for (const verdict of Object.keys(ANSWERS) as Verdict[]) {
      const run = new SampleRun(name, sampleEnvironment(server, AGENT.key, endpoint));
      expect(await run.next()).toEqual(['sleep', 60]);
      const reply = await desk.decide(await onlyOpenDelivery(desk), ANSWERS[verdict]);
      expect([reply.status, reply.json.state]).toEqual([200, 'decided']);
      run.wake();
      expect(await run.next()).toEqual(ends[verdict]);
      expect(await run.next()).toEqual(['ended', 0]);
    }
  });

  test('[W24][W16] the quickstart, unanswered for its hour, goes on with assumptions', async () => {
    const server = await start();
    const run = new SampleRun('spec-quickstart.py', sampleEnvironment(server, AGENT.key));
    for (let minute = 0; minute < 60; minute++) {
      expect(await run.next()).toEqual(['sleep', 60]);
      run.wake();
    }
    expect(await run.next()).toEqual(['proceed_with_assumptions']);
    expect(await run.next()).toEqual(['ended', 0]);
  });
});

describe('the sweep loop', () => {
  test('[W24][W19] run verbatim against several deciders, it sees every answer exactly once', async () => {
    const server = await start();
    const wake = server.wake();
    const desk = await server.desk();
    const ids = await Promise.all(
      Array.from({ length: 160 }, () => wake.delivered({ agent_id: RESEARCH_AGENT })),
    );
    const run = new SampleRun('spec-sweep-loop.py', sampleEnvironment(server, AGENT.key));
    const verdicts = Object.keys(ANSWERS) as Verdict[];
    const deciders = Array.from({ length: 8 }, async (_, worker) => {
      for (let at = worker; at < ids.length; at += 8) {
        const verdict = given(verdicts[at % verdicts.length], 'verdict');
        expect((await desk.decide(given(ids[at], 'id'), ANSWERS[verdict])).status).toBe(200);
      }
    });
    let decided = false;
    const allDecided = Promise.all(deciders).then(() => {
      decided = true;
    });
    allDecided.catch(() => {}); // looked at below
    const dispatched: [string, unknown][] = [];
    // Once all are decided, two more rounds: one that may still bring something, one that must not.
    for (let roundsLeft = 2; roundsLeft > 0; ) {
      const [name, ...args] = await run.next();
      if (name === 'dispatch_response') dispatched.push(args as [string, unknown]);
      else if (name !== 'sleep') throw new Error(`the loop ended: ${args}`);
      else {
        if (decided && dispatched.length >= ids.length) roundsLeft--;
        run.wake(roundsLeft > 0 ? 'go on' : 'stop');
      }
    }
    await allDecided;
    expect(await run.next()).toEqual(['ended', 0]);
    expect(dispatched.map(([id]) => id).sort()).toEqual([...ids].sort());
    for (const [id, item] of dispatched) expect(item).toEqual((await wake.response(id)).json);
  });
});

describe('the samples that only deliver', () => {
  const payload = {
    agent_id: RESEARCH_AGENT,
    provider: 'claude',
    type: 'output',
    headline: 'Market report ready for your review',
    summary: 'Analysed top 10 competitors in the space.',
    details: { url: 'https://...', word_count: 3200 },
    timeout_seconds: 3600,
  };

  test('[W24] the bearer samples in Python and Node are accepted', async () => {
    const server = await start();
    const env = { ...sampleEnvironment(server, AGENT.key), SAMPLE_PAYLOAD: JSON.stringify(payload) };
    expect(await stepsOf('spec-bearer.py', env)).toEqual([['ended', 0]]);
    const desk = await server.desk();
    const detail = await desk.detail(await onlyOpenDelivery(desk));
    expect(detail).toMatchObject({ headline: payload.headline, details: payload.details });

    const reply = await runNodeSample(
      'spec-bearer.mjs',
      {
        before: `const payload = ${JSON.stringify(payload)};`,
        after: 'console.log(JSON.stringify([response.status, await response.json()]));',
      },
      env,
    );
    expect(reply).toEqual([201, expect.objectContaining({ status: 'received' })]);
  });

  test('[W24][W5] deliver_with_retry waits as long as it is told, and then gets through', async () => {
    const server = await start({ LANTERNROOM_RATE_TEST: '3600/1' });
    const call = ['deliver_with_retry', payload];
    const env = { ...sampleEnvironment(server, AGENT.key), SAMPLE_CALLS: JSON.stringify([call, call]) };
    const run = new SampleRun('spec-retry.py', env);
    expect(await run.next()).toEqual(['returned', expect.objectContaining({ status: 'received' })]);
    const [name, seconds] = await run.next();
    expect([name, seconds]).toEqual(['sleep', 1]);
    await pause(Number(seconds) * 1000); // what a sleep is
    run.wake();
    expect(await run.next()).toEqual(['returned', expect.objectContaining({ status: 'received' })]);
    expect(await run.next()).toEqual(['ended', 0]);
  });

  test('[W24][W5] deliver_with_retry gives up after three refusals, and raises on anything else', async () => {
    const server = await start({ LANTERNROOM_RATE_TEST: '1/1' });
    const call = ['deliver_with_retry', payload];
    const wrong = ['deliver_with_retry', { ...payload, type: 'nonsense' }];
    const env = {
      ...sampleEnvironment(server, AGENT.key),
      SAMPLE_CALLS: JSON.stringify([call, call, wrong]),
    };
    const run = new SampleRun('spec-retry.py', env);
    expect(await run.next()).toMatchObject(['returned', { status: 'received' }]);
    for (let time = 0; time < 3; time++) {
      const [name, seconds] = await run.next();
      expect([name, Number.isInteger(seconds)]).toEqual(['sleep', true]);
      run.wake();
    }
    expect(await run.next()).toEqual(['raised', expect.stringContaining('Rate limit exceeded')]);
    expect(await run.next()).toEqual(['raised', expect.stringContaining('422')]);
    expect(await run.next()).toEqual(['ended', 0]);
  });
});

describe('the samples that verify a callback', () => {
  /** A callback as our server really sends it. */
  async function realCallback(): Promise<{ server: Server; received: Received; signature: string }> {
    const receiver = await startReceiver();
    const server = await start({ LANTERNROOM_INIT_CALLBACKS: receiver.origin });
    const callback_webhook = `${receiver.origin}/wake-callback`;
    const id = await server.wake().delivered({ agent_id: RESEARCH_AGENT, callback_webhook });
    await (await server.desk()).decide(id, ANSWERS.redirected);
    const received = await until('the callback', () => receiver.received[0]);
    return { server, received, signature: String(received.headers['x-wake-signature']) };
  }

  const forged = (signature: string) => signature.replace(/.$/, (last) => (last === '0' ? '1' : '0'));

  test('[W24][W20] all three in Python take the genuine one and refuse the forged one', async () => {
    const { server, received, signature } = await realCallback();
    const env = { ...sampleEnvironment(server, AGENT.key), WAKE_WEBHOOK_SECRET: CALLBACK_SECRET };
    const body = { bytes: received.body };
    const steps = async (sample: string, calls: unknown[]) =>
      stepsOf(sample, { ...env, SAMPLE_CALLS: JSON.stringify(calls) });

    const whitepaper = (sent: string) => ['verify_webhook', CALLBACK_SECRET, body, sent];
    expect(
      await steps('whitepaper-verify.py', [whitepaper(signature), whitepaper(forged(signature))]),
    ).toEqual([
      ['returned', true],
      ['returned', false],
      ['ended', 0],
    ]);

    const request = (sent: string) => [
      'handler',
      { request: { body: received.body, headers: { 'X-Wake-Signature': sent } } },
    ];
    expect(await steps('spec-verify.py', [request(signature), request(forged(signature))])).toEqual([
      ['returned', null],
      ['returned', 401],
      ['ended', 0],
    ]);

    const quickstart = (sent: string) => ['verify_webhook', body, sent];
    const calls = JSON.stringify([quickstart(signature), quickstart(forged(signature))]);
    const run = new SampleRun('spec-quickstart.py', { ...env, SAMPLE_CALLS: calls });
    expect(await run.next()).toEqual(['sleep', 60]);
    const desk = await server.desk();
    await desk.decide(await onlyOpenDelivery(desk), ANSWERS.approved);
    run.wake();
    expect([await run.next(), await run.next(), await run.next()]).toEqual([
      ['proceed'],
      ['returned', true],
      ['returned', false],
    ]);
  });

  test('[W24][W20] the one in Node does too', async () => {
    const { server, received, signature } = await realCallback();
    const requests = [signature, forged(signature)].map((sent) => ({ body: received.body, sent }));
    const said = await runNodeSample(
      'spec-verify.cjs',
      {
        before:
          'let handle; const express = { raw: () => null }; const app = { post: (path, parser, handler) => { handle = handler; } };',
        after: `const said = ${JSON.stringify(requests)}.map(({ body, sent }) => {
  const reply = { code: 200, status(code) { this.code = code; return this; }, send(text) { this.text = text; } };
  handle({ body: Buffer.from(body), headers: { 'x-wake-signature': sent } }, reply);
  return [reply.code, reply.text ?? null];
});
console.log(JSON.stringify(said));`,
      },
      { ...sampleEnvironment(server, AGENT.key), WAKE_WEBHOOK_SECRET: CALLBACK_SECRET },
    );
    expect(said).toEqual([
      [200, null],
      [401, 'Invalid signature'],
    ]);
  });
});
