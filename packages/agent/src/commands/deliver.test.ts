import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answer, ID, KEY, received, type Seen, startWorld } from '../testing/room.ts';

const DELIVER = ['deliver', '-t', 'question', '-H', 'Release is ready', '-s', 'Ship 2.1 today?'];
const bodyOf = (seen: Seen | undefined) => JSON.parse(seen?.body ?? '{}');

describe('lantern deliver', () => {
  it('[W6] prints the id of the delivery and nothing else', async () => {
    const world = await startWorld(() => received);
    expect(await world.run(DELIVER)).toEqual({ code: 0, out: `${ID}\n`, err: '' });
    expect(bodyOf(world.seen[0])).toEqual({
      agent_id: 'research-agent-01',
      provider: 'custom',
      type: 'question',
      headline: 'Release is ready',
      summary: 'Ship 2.1 today?',
    });
  });

  it('[W6] --json prints the reply', async () => {
    const world = await startWorld(() => received);
    const { out } = await world.run([...DELIVER, '--json']);
    const created_at = '2026-03-08T12:00:00.000000Z';
    expect(JSON.parse(out)).toEqual({ delivery_id: ID, status: 'received', created_at, deduplicated: false });
  });

  it('[W26] every option reaches the wire', async () => {
    const world = await startWorld(() => received);
    const options = [
      ['--timeout', '600'],
      ['--callback', 'https://agent.example/wake'],
      ['--idempotency-key', 'run-7'],
      ['--task-id', 't'],
      ['--thread-id', 'th'],
      ['--interrupt-id', 'i'],
      ['--revises', ID],
      ['--dedupe-key', 'd'],
      ['--agent-id', 'other-agent'],
      ['--provider', 'claude'],
    ].flat();
    await world.run([...DELIVER, ...options]);
    expect(world.seen[0]?.headers['idempotency-key']).toBe('run-7');
    expect(bodyOf(world.seen[0])).toMatchObject({
      agent_id: 'other-agent',
      provider: 'claude',
      timeout_seconds: 600,
      callback_webhook: 'https://agent.example/wake',
      task_id: 't',
      thread_id: 'th',
      interrupt_id: 'i',
      revises: ID,
      dedupe_key: 'd',
    });
  });

  it('[W8] details come from the argument, a file or standard input; an object stays an object', async () => {
    const world = await startWorld(() => received);
    const file = join(world.folder, 'report.md');
    writeFileSync(file, '# Report\n');
    await world.run([...DELIVER, '-d', 'just text']);
    await world.run([...DELIVER, '-d', '{"words":3200}']);
    await world.run([...DELIVER, '-d', '[1,2]']);
    await world.run([...DELIVER, '-d', `@${file}`]);
    await world.run([...DELIVER, '-d', '-'], { stdin: '{"from":"a pipe"}' });
    writeFileSync(file, '\ufeff{"saved":"on Windows"}\r\n');
    await world.run([...DELIVER, '-d', `@${file}`]);
    const objects = [{ from: 'a pipe' }, { saved: 'on Windows' }];
    const details = ['just text', { words: 3200 }, '[1,2]', '# Report\n', ...objects];
    expect(world.seen.map((seen) => bodyOf(seen).details)).toEqual(details);
  });

  it('[W9] an object that would not arrive as it stands is sent as the text that it is', async () => {
    const world = await startWorld(() => received);
    const objects = ['{"channel":1187350000000000123}', '{"keep":"all","keep":"none"}', '{"ratio":1e400}'];
    for (const object of objects) await world.run([...DELIVER, '-d', object]);
    expect(world.seen.map((seen) => bodyOf(seen).details)).toEqual(objects);
  });

  it('[W3] without WAKE_AGENT_ID the server is asked', async () => {
    const world = await startWorld((seen) =>
      seen.url === '/.well-known/wake.json' ? { status: 200, body: { agent_id: 'by-key' } } : received,
    );
    await world.run(DELIVER, { env: { WAKE_AGENT_ID: undefined } });
    expect(bodyOf(world.seen[1]).agent_id).toBe('by-key');
  });

  it('[W3] and when it does not know, the sentence names the address and the variable', async () => {
    const world = await startWorld(() => ({ status: 404 }));
    const { code, err } = await world.run(DELIVER, { env: { WAKE_AGENT_ID: undefined } });
    expect(code).toBe(2);
    expect(err).toMatch(/^lantern: .*check the address.*WAKE_AGENT_ID.*\n$/);
  });

  it('[W24] WAKE_ENDPOINT is understood as the specification has it', async () => {
    const world = await startWorld(() => received);
    const env = { LANTERN_URL: undefined, WAKE_ENDPOINT: `${world.url}/wake/v1` };
    expect((await world.run(DELIVER, { env })).code).toBe(0);
    expect(world.seen[0]?.url).toBe('/wake/v1/deliver');
  });

  it.each([
    ['approved', 0],
    ['rejected', 3],
    ['redirected', 4],
    ['pending', 5],
  ])('[W23] --wait on %s ends with %i', async (status, code) => {
    const world = await startWorld((seen) =>
      seen.method === 'POST' ? received : { status: 200, body: answer(status) },
    );
    const ran = await world.run([...DELIVER, '--wait', '120']);
    expect(ran.code).toBe(code);
    expect(ran.err).toContain(ID);
  });

  it('[W23] the log knows the delivery, and not the key', async () => {
    const world = await startWorld(() => received);
    await world.run([...DELIVER, '-d', `key=${KEY}`]);
    const log = readFileSync(world.log, 'utf8');
    expect(log).toContain(`"delivery_id":"${ID}"`);
    expect(log).not.toContain(KEY);
  });

  it.each([
    ['no key', { WAKE_API_KEY: undefined }, /WAKE_API_KEY/],
    ['plain http elsewhere', { LANTERN_URL: 'http://example.com' }, /https/],
    ['a live key on plain http', { WAKE_API_KEY: 'wk_live_abc' }, /wk_test_/],
  ])('[W23] %s is wrong usage, in one line', async (_, env, hint) => {
    const world = await startWorld(() => received);
    const { code, out, err } = await world.run(DELIVER, { env });
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(hint);
    expect(err.trim().split('\n')).toHaveLength(1);
    expect(world.seen).toEqual([]);
  });

  it.each([
    [['deliver', '-t', 'question']],
    [['deliver', '-t', 'nonsense', '-H', 'x', '-s', 'y']],
    [[...DELIVER, '--timeout', 'soon']],
    [[...DELIVER, '-d', '@/no/such/file']],
    [[...DELIVER, 'surplus']],
    [['nonsense']],
    [[]],
  ])('[W8] %j is wrong usage and sends nothing', async (argv) => {
    const world = await startWorld(() => received);
    const { code, out, err } = await world.run(argv);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).not.toBe('');
    expect(world.seen).toEqual([]);
  });

  it('[W8] what the server refuses is one line in its words, without control characters', async () => {
    const error = { code: 'too_long', message: 'Shorten\u001b[31m it.\nNow.', docs: '' };
    const world = await startWorld(() => ({ status: 422, body: { error } }));
    const { code, err } = await world.run(DELIVER);
    expect(code).toBe(1);
    expect(err).toBe('lantern: The server refused (422 too_long): Shorten [31m it. Now.\n');
  });

  it('[W23] a server that is not there is one sentence that says what to do', async () => {
    const world = await startWorld(() => received);
    const { code, err } = await world.run(DELIVER, { env: { LANTERN_URL: 'http://127.0.0.1:1' } });
    expect(code).toBe(1);
    expect(err.split('\n').at(-2)).toMatch(
      /^lantern: Nothing answers at http:\/\/127\.0\.0\.1:1 .*try again\.$/,
    );
  });

  it('[W23] help teaches by example and ends well', async () => {
    const world = await startWorld(() => received);
    const commands = [
      'deliver',
      'wait',
      'responses',
      'listen',
      'connect',
      'login',
      'doctor',
      'mcp',
      'install',
    ];
    for (const argv of [['--help'], ...commands.map((command) => [command, '--help'])]) {
      const { code, out } = await world.run(argv);
      expect(code).toBe(0);
      expect([argv, out]).toEqual([
        argv,
        expect.stringMatching(/(Try|Examples):\n {2}(lantern|claude mcp add) /),
      ]);
    }
  });
});
