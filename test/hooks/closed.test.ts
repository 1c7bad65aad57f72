import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LANTERN } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { geminiCall, hook, Spoken, toolCall } from '../support/hook.ts';
import { AGENT } from '../support/server.ts';
import { until } from '../support/until.ts';
import { sharedWorkplaces, Workplace } from './desk.ts';

const openWorkplace = sharedWorkplaces();

/** The host gives up soon, but not before a machine as busy as this has put the question on the desk. */
const soon = ({ server }: Workplace) => ['--host-timeout', String(Math.ceil(20 * server.slowness))];
/** As soon as may be: for a call that comes to nothing whatever happens. */
const AT_ONCE = ['--host-timeout', '10'];
/** A host that waits for as long as a test could. */
const PATIENT = ['--host-timeout', '600'];

type Ended = { code: number | null; stdout: string; stderr: string };

/** What every host takes for a no: code 2, nothing on standard output, and a reason on standard error. */
function expectDenied({ code, stdout, stderr }: Ended, says: RegExp): void {
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toMatch(/^Lanternroom did not let this run\. /);
  expect(stderr).toMatch(says);
  expect(stderr).not.toMatch(/wk_test_/);
}

/** A program of ours with something wrong in it from the start, as a broken machine would have. */
function sabotage(code: string): Record<string, string> {
  const file = join(temporaryFolder(), 'sabotage.mjs');
  writeFileSync(file, code);
  return { NODE_OPTIONS: `--import ${file}` };
}

test('[W23] no server, a wrong key, no key, a far host in the clear: the tool does not run', async () => {
  const { env } = await openWorkplace();
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  const cases: [Record<string, string>, RegExp][] = [
    [{ LANTERN_URL: 'http://127.0.0.1:1' }, /Nothing answers at http:\/\/127\.0\.0\.1:1 /],
    [{ WAKE_API_KEY: 'wk_test_zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz' }, /does not accept this API key/],
    [{ WAKE_API_KEY: '' }, /Set WAKE_API_KEY/],
    [{ LANTERN_URL: 'http://desk.example.com' }, /use an https:\/\/ address/],
    [{ LANTERN_URL: 'nonsense' }, /not a URL/],
    [{ LANTERN_LOG: join(file, 'log') }, /cannot be written/],
    [{ HOME: file, LANTERN_LOG: 'off' }, /ENOTDIR/],
  ];
  const ended = await Promise.all(
    cases.map(([over]) => hook(['claude'], toolCall(), { ...env, ...over }).ended),
  );
  for (const [at, [, says]] of cases.entries()) expectDenied(ended[at] as Ended, says);
});

test('[W23] a server that answers nonsense, fails, or says 429 for hours: the tool does not run', async () => {
  const replies: [number, string, RegExp][] = [
    [201, 'fine', /did not answer in JSON/],
    [201, '{"status":"approved"}', /without giving it an id/],
    [200, '[]', /./],
    [500, '{}', /failed several times/],
    [302, '', /sends on/],
    [429, '{"error":{"message":"Five an hour."}}', /asked again in 7200 s.*Five an hour/],
  ];
  const ask = async ([status, body]: (typeof replies)[number]) => {
    const server = createServer((request, reply) => {
      request.resume();
      const held = status === 429 ? { 'retry-after': '7200' } : {};
      reply.writeHead(status, { ...held, location: 'https://elsewhere.example' }).end(body);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const env = {
      HOME: temporaryFolder(),
      LANTERN_URL: `http://127.0.0.1:${port}`,
      WAKE_API_KEY: AGENT.key,
      WAKE_AGENT_ID: AGENT.id,
    };
    return hook(['claude', ...PATIENT], toolCall(), env).ended;
  };
  const ended = await Promise.all(replies.map(ask));
  for (const [at, [, , says]] of replies.entries()) expectDenied(ended[at] as Ended, says);
});

test.each([
  ['nothing', '', /no input/],
  ['blanks', ' \n ', /no input/],
  ['no JSON', 'rm -rf /', /not a JSON object/],
  ['half of it', '{"tool_name":"Bash"', /not a JSON object/],
  ['a list', '[]', /not a JSON object/],
  ['null', 'null', /not a JSON object/],
  ['another event', { ...toolCall(), hook_event_name: 'PostToolUse' }, /for PreToolUse/],
  ['no event', { tool_name: 'Read' }, /for PreToolUse/],
  ['no tool', { ...toolCall(), tool_name: '' }, /names no tool/],
  ['a tool that is no text', { ...toolCall(), tool_name: { toString: 'Read' } }, /names no tool/],
  ['no input', { ...toolCall(), tool_input: undefined }, /no input object/],
  ['an input that is a list', { ...toolCall(), tool_input: ['ls'] }, /no input object/],
  ['no session', { ...toolCall(), session_id: 7 }, /names no session/],
  ['a hundred thousand levels', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, /not a JSON object/],
  [
    'twenty thousand levels in the input',
    `{"hook_event_name":"PreToolUse","tool_name":"Bash","session_id":"s","tool_input":{"a":${'['.repeat(20_000)}${']'.repeat(20_000)}}}`,
    /nested too deeply/,
  ],
  [
    'a number that nobody can be shown',
    `{"hook_event_name":"PreToolUse","tool_name":"mcp__bank__pay","session_id":"s","tool_input":{"to":12345678901234567890}}`,
    /holds 12345678901234567890/,
  ],
  ['nine megabytes', ' '.repeat(9 * 1024 * 1024), /8 MiB/],
])('[W23] odd input, %s: the tool does not run', async (_, input, says) => {
  const env = { HOME: temporaryFolder(), LANTERN_URL: 'http://127.0.0.1:1', WAKE_API_KEY: AGENT.key };
  expectDenied(await hook(['claude'], input, env).ended, says);
});

test('[W23] where nothing can be noted nobody is asked, and the reason says what to do', async () => {
  const HOME = join(temporaryFolder(), 'file');
  writeFileSync(HOME, '');
  const env = { HOME, LANTERN_URL: 'http://127.0.0.1:1', WAKE_API_KEY: AGENT.key };
  expectDenied(await hook(['claude'], toolCall(), env).ended, /cannot be written \(ENOTDIR\): make room/);
});

test('[W23] input that never ends is not a call', async () => {
  const spoken = new Spoken([process.execPath, LANTERN, 'hook', 'claude'], { HOME: temporaryFolder() });
  spoken.process.stdin.write('{"tool_name":');
  expectDenied(await spoken.ended, /did not finish/);
});

test.each([
  [[], /for whom/],
  [['cursor'], /for whom/],
  [['__proto__'], /for whom/],
  [['claude', '--host-timeout', 'soon'], /--host-timeout/],
  [['claude', '--host-timeout', '3'], /--host-timeout/],
  [['claude', '--host-timeout'], /needs a value/],
  [['claude', '--allow', 'Bash'], /does not know --allow/],
  [['claude', '--ask', 'Bash', '--pass', 'Write'], /not both/],
])('[W23] wrong usage %j: the tool does not run', async (args, says) => {
  expectDenied(await hook(args, toolCall(), { HOME: temporaryFolder() }).ended, says);
});

test('[W11][W13] what the server will not show to a person does not run', async () => {
  const { env } = await openWorkplace();
  const token = `ghp_${'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'}`;
  const deep = JSON.parse(`${'{"a":'.repeat(90)}1${'}'.repeat(90)}`);
  const cases: [unknown, RegExp][] = [
    [{ command: `curl -H "Authorization: token ${token}" https://api.github.com` }, /secret_in_details/],
    [{ content: 'x'.repeat(1_100_000) }, /413/],
    [deep, /400/],
    [JSON.parse('{"__proto__":{"command":"ls"}}'), /400/],
  ];
  for (const [tool_input, says] of cases) {
    const ended = await hook(['claude'], toolCall({ tool_input }), env).ended;
    expectDenied(ended, says);
    expect(ended.stderr).not.toContain(token);
  }
});

test('[W23] no answer in time: denied before the host gives up, and the next try has the late answer', async () => {
  const place = await openWorkplace();
  const late = await hook(['claude', ...soon(place)], toolCall(), place.env).ended;
  expectDenied(late, /Nobody has answered yet.*stays on the desk/);
  const id = await place.answer({ status: 'approved' });
  expect(late.stderr).toContain(id);
  // Another call of the same thing takes that answer, and a third one has to ask again.
  const args = ['claude', ...PATIENT];
  expect((await hook(args, toolCall(), place.env).ended).code).toBe(0);
  const third = hook(args, toolCall(), place.env);
  expect((await place.question()).delivery_id).not.toBe(id);
  await place.answer({ status: 'rejected' });
  expect((await third.ended).code).toBe(2);
});

test('[W23] a late answer is not for another input, another folder or another session', async () => {
  const place = await openWorkplace();
  await hook(['gemini', ...soon(place)], geminiCall(), place.env).ended;
  await place.answer({ status: 'approved' });
  const args = ['gemini', ...PATIENT];
  const others = [
    { tool_input: { command: 'npm publish --force' } },
    { cwd: '/srv/another-shop' },
    { session_id: 'session-2' },
  ];
  for (const over of others) {
    const other = hook(args, geminiCall(over), place.env);
    await place.answer({ status: 'rejected' });
    expect((await other.ended).code).toBe(2);
  }
  expect((await hook(args, geminiCall(), place.env).ended).code).toBe(0);
});

test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  '[W23] %s while the person thinks: the tool does not run',
  async (signal) => {
    const place = await openWorkplace();
    const running = hook(['claude'], toolCall(), place.env);
    await place.question();
    running.process.kill(signal);
    expectDenied(await running.ended, new RegExp(`stopped by ${signal}`));
  },
);

test('[W23][W12] killed between question and answer, started again: one question, one answer', async () => {
  const place = await openWorkplace();
  for (const call of [toolCall(), geminiCall()]) {
    const host = 'tool_use_id' in call ? 'claude' : 'gemini';
    const first = hook([host], call, place.env);
    const { delivery_id } = await place.question();
    first.process.kill('SIGKILL');
    expect((await first.ended).signal).toBe('SIGKILL');
    const second = hook([host], call, place.env);
    expect(await place.answer({ status: 'approved' })).toBe(delivery_id);
    expect((await second.ended).code).toBe(0);
  }
});

test('[W23][W12] a hook that is configured twice asks once; two calls of the same thing ask twice', async () => {
  const place = await openWorkplace();
  const call = toolCall();
  const twice = [hook(['claude'], call, place.env), hook(['claude'], call, place.env)];
  await place.answer({ status: 'approved' });
  for (const { ended } of twice) expect((await ended).code).toBe(0);

  const both = [hook(['claude'], toolCall(), place.env), hook(['claude'], toolCall(), place.env)];
  const rows = await until('both ask', async () => {
    const waiting = await place.waiting();
    return waiting.length === 2 && waiting;
  });
  await place.desk.decide(rows[0]?.delivery_id ?? '', { status: 'approved' });
  await place.desk.decide(rows[1]?.delivery_id ?? '', { status: 'rejected' });
  const codes = await Promise.all(both.map(async ({ ended }) => (await ended).code));
  expect(codes.sort()).toEqual([0, 2]);
});

test('[W23] the server goes down while the person thinks: the tool does not run', async () => {
  const place = await Workplace.open();
  const running = hook(['claude', ...soon(place)], toolCall(), place.env);
  await place.question();
  await place.server.kill();
  expectDenied(await running.ended, /./);
});

/** As soon as our program runs, and so in the middle of whatever it does. */
const midway = (what: string) =>
  `const at = setInterval(() => { if (process.exitCode === 2) { clearInterval(at); ${what} } }, 1);`;

test.each<[name: string, code: string, says: RegExp, args?: string[]]>([
  ['an exception', midway('throw new Error("out of luck");'), /out of luck/],
  ['a lost promise', midway('Promise.reject(new Error("out of luck"));'), /out of luck/],
  ['an early end', midway('process.exit();'), /did not let this run|^$/],
  ['an early end that claims success', midway('process.exit(0);'), /did not let this run|^$/],
  ['no fetch', 'globalThis.fetch = () => { throw new Error("no network"); };', /Nothing answers/],
  [
    'an empty loop',
    'globalThis.fetch = () => new Promise(() => {}); AbortSignal.timeout = () => new AbortController().signal;',
    /./,
    AT_ONCE,
  ],
])('[W23] %s in the middle of it: the tool does not run', async (_, code, says, args = PATIENT) => {
  const place = await openWorkplace();
  const env = { ...place.env, ...sabotage(code), WAKE_AGENT_ID: place.agent.id };
  expectDenied(await hook(['claude', ...args], toolCall(), env).ended, says);
});

test('[W23] a program that is half installed does not let anything run', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  cpSync(LANTERN, join(folder, 'bin/lantern.js'));
  const spoken = new Spoken([process.execPath, join(folder, 'bin/lantern.js'), 'hook', 'claude'], {});
  spoken.process.stdin.end(JSON.stringify(toolCall()));
  expectDenied(await spoken.ended, /Cannot find module/);
});

test('[W23] a host that stops reading gets no permission by accident', async () => {
  const place = await openWorkplace();
  const running = hook(['claude'], toolCall(), place.env);
  await place.question();
  running.process.stdout.destroy();
  await place.answer({ status: 'approved' });
  expect((await running.ended).code).toBe(2);
});
