import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Child, type Ended, type Environment, LANTERN, lantern, node } from '../support/command.ts';
import type { Desk } from '../support/desk.ts';
import { temporaryFolder } from '../support/folder.ts';
import { AGENT, Server } from '../support/server.ts';
import { given, until } from '../support/until.ts';

const QUESTION = ['deliver', '-t', 'question', '-H', 'Release 2.1 is ready', '-s', 'Ship it today?'];

type Machine = { env: Environment; log: string; server: Server; desk: Desk };

/** An agent's machine: its key, its log, and a server to talk to. */
async function machine(): Promise<Machine> {
  const server = await Server.start({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
  const log = join(temporaryFolder(), 'log.jsonl');
  const env = { LANTERN_URL: server.url, WAKE_API_KEY: AGENT.key, LANTERN_LOG: log };
  return { env, log, server, desk: await server.desk() };
}

async function delivered({ env }: Machine, ...more: string[]): Promise<string> {
  const { code, stdout, stderr } = await lantern([...QUESTION, ...more], env);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^[0-9a-f-]{36}\n$/);
  return stdout.trim();
}

/** `lantern … > /dev/full`: what it prints cannot be kept. */
function intoFullDisk(args: readonly string[], env: Environment): Promise<Ended> {
  return new Child(['sh', '-c', 'exec "$@" > /dev/full', 'sh', ...node(LANTERN, args)], env).ended;
}

/**
 * Runs a command on a terminal of its own, presses Ctrl-C as soon as it asks something, and ends as it does. Tells when
 * what is typed then could be read on the screen.
 */
const PRESS_CTRL_C = `
import os, pty, sys, termios
pid, terminal = pty.fork()
if pid == 0: os.execvp(sys.argv[1], sys.argv[1:])
said = b''
try:
    while True:
        piece = os.read(terminal, 4096)
        if not piece: break
        isAsked = b': ' not in said and b': ' in said + piece
        said += piece
        if not isAsked: continue
        if termios.tcgetattr(terminal)[3] & termios.ECHO: said += b'(not hidden)'
        os.write(terminal, b'\\x03')
except OSError: pass
sys.stdout.write(said.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
`;

test('Ctrl-C at the question for the key ends lantern login as it ends any program', async () => {
  const argv = ['python3', '-c', PRESS_CTRL_C, ...node(LANTERN, ['login'])];
  const { code, stdout, stderr } = await new Child(argv).ended;
  expect([code, stderr]).toEqual([130, '']);
  expect(stdout.trim()).toBe('Key of your agent on http://127.0.0.1:8787:');
});

test('[W6][W23] lantern deliver, and lantern wait with the code of each answer', async () => {
  const here = await machine();
  const cases = [
    { answer: { status: 'approved' }, code: 0, says: /^approved: go on as planned\n$/ },
    {
      answer: { status: 'rejected', feedback: 'Not today.' },
      code: 3,
      says: /^rejected: do not go on\nNot today\.\n$/,
    },
    {
      answer: { status: 'redirected', feedback: 'Shorter.', edited_content: { n: 1.5 } },
      code: 4,
      says: /^redirected: .*\nShorter\.\n\{\n {2}"n": 1\.5\n\}\n$/,
    },
  ];
  for (const { answer, code, says } of cases) {
    const id = await delivered(here, '-d', '{"words":3200}');
    await here.desk.decide(id, answer);
    const ended = await lantern(['wait', id], here.env);
    expect(ended).toEqual({ code, stdout: expect.stringMatching(says), stderr: '' });
    const { stdout } = await lantern(['wait', id, '--json'], here.env);
    expect(JSON.parse(stdout)).toMatchObject({ delivery_id: id, ...answer });
  }
  const lost = await intoFullDisk(['responses'], here.env);
  expect(lost).toMatchObject({ code: 1, stderr: 'lantern: The output cannot be written (ENOSPC).\n' });
  const pending = await delivered(here);
  const timedOut = await lantern(['wait', pending, '--timeout', '1', '--assume', 'Nobody minds.'], here.env);
  expect([timedOut.code, timedOut.stdout]).toEqual([5, expect.stringContaining('Nobody minds.')]);
  expect(readFileSync(here.log, 'utf8')).toContain('"assumption":"Nobody minds."');
  expect(readFileSync(here.log, 'utf8')).not.toContain(AGENT.key);
});

test('[W23][W15] lantern deliver --wait is woken by the decision', async () => {
  const here = await machine();
  const waiting: Promise<Ended> = lantern([...QUESTION, '--wait', '120'], here.env);
  type List = { deliveries: { delivery_id: string }[] };
  const id = await until('the delivery', async () => {
    const { json } = await here.desk.request<List>('GET', '/desk/deliveries');
    return json.deliveries[0]?.delivery_id;
  });
  await here.desk.decide(id, { status: 'approved', feedback: 'Go.' });
  const { code, stdout, stderr } = await waiting;
  expect([code, stdout, stderr]).toEqual([
    0,
    'approved: go on as planned\nGo.\n',
    expect.stringContaining(id),
  ]);
});

test('[W18][W23] lantern responses lists answers in order, goes on from a place, and follows', async () => {
  const here = await machine();
  const ids: string[] = [];
  for (let n = 0; n < 4; n++) ids.push(await delivered(here));
  for (const id of ids.slice(0, 3)) await here.desk.decide(id, { status: 'rejected', feedback: `To ${id}` });
  const { code, stdout } = await lantern(['responses', '--json'], here.env);
  type Line = { delivery_id: string; feedback: string; resume_from: string };
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  expect([code, lines.map((l) => l.delivery_id)]).toEqual([0, ids.slice(0, 3)]);
  expect(lines.map((l) => l.feedback)).toEqual(ids.slice(0, 3).map((id) => `To ${id}`));
  const since = given(lines[2], 'third answer').resume_from;
  const rest = await lantern(['responses', '--since', since], here.env);
  expect(rest).toEqual({ code: 0, stdout: '', stderr: '' });

  const following = new Child(node(LANTERN, ['responses', '--follow', '--since', since]), here.env);
  const last = given(ids[3], 'fourth');
  await here.desk.decide(last, { status: 'approved' });
  await until('the fourth answer is printed', () => following.stdout.includes(last));
  expect(following.stdout).not.toContain(ids[2]);
});

test('[W23][W1] a bad key, a missing one and a wrong option end with 1 and 2, in one sentence', async () => {
  const { env } = await machine();
  const wrong = 'wk_test_00000000000000000000000000000000';
  const cases: [string[], Environment, number, RegExp][] = [
    [QUESTION, { ...env, WAKE_API_KEY: wrong }, 1, /key/],
    [QUESTION, { ...env, WAKE_API_KEY: '' }, 2, /WAKE_API_KEY/],
    [[...QUESTION, '--timeout', '5'], env, 1, /timeout_seconds/],
    [['deliver', '-t', 'nonsense', '-H', 'x', '-s', 'y'], env, 2, /nonsense/],
    [['wait', '00000000-0000-4000-8000-000000000000'], env, 1, /404|no delivery/i],
  ];
  for (const [args, environment, code, says] of cases) {
    const ended = await lantern(args, environment);
    expect({ args, code: ended.code, stdout: ended.stdout }).toEqual({ args, code, stdout: '' });
    expect(ended.stderr).toMatch(says);
    expect(ended.stderr).not.toContain(wrong);
    expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1);
  }
});
