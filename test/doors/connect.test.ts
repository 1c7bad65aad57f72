import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { textIn } from '@lanternroom/sdk/a2a';
import { expect, test } from 'vitest';
import { Child, LANTERN, lantern, node } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { callerOf, Laptop, sent, untilState } from '../support/laptop.ts';
import { AGENT, newAgent, Server, sharedServer } from '../support/server.ts';
import { given, until } from '../support/until.ts';

const shared = sharedServer();

/** An agent of the test's own on the server of them all, somebody who calls it, and what its laptop needs to know. */
async function openPlace() {
  const { id, key } = await newAgent(await shared().desk());
  return { url: shared().url, env: { WAKE_API_KEY: key }, caller: callerOf(shared(), id, key) };
}

function isGone(pid: number): boolean {
  try {
    return !process.kill(pid, 0);
  } catch {
    return true;
  }
}

const lines = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []);

test('[A15] the command gets one JSON object and its names, and what it prints is the answer', async () => {
  const server = await Server.start();
  const file = join(temporaryFolder(), 'seen');
  const laptop = new Laptop(
    `cat > ${file}; env | grep -E "^(WAKEUP|LANTERN)_" | sort > ${file}.env; echo Hello`,
  );
  await laptop.start(server.url);
  const caller = callerOf(server);
  const answer = await caller.send('Review the latest deployment', { messageId: 'msg-001' });
  const task = given('task' in answer ? answer.task : null, 'task');
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  expect(textIn(task.status.message)).toBe('Hello');
  const input = JSON.parse(readFileSync(file, 'utf8'));
  expect(input).toMatchObject({
    taskId: task.id,
    contextId: task.contextId,
    message: { role: 'ROLE_USER', parts: [{ text: 'Review the latest deployment' }] },
  });
  const env = Object.fromEntries(lines(`${file}.env`).map((line) => line.split('=')));
  expect(env).toMatchObject({
    WAKEUP_TASK_ID: task.id,
    WAKEUP_CONTEXT_ID: task.contextId,
    LANTERN_TASK_ID: task.id,
    LANTERN_TURN: 'task',
  });
  // The caller may have its answer before the laptop has said so.
  const told = /Connected to http:\S+ as @home\/agent-01\..*\n\S+ {2}begins\n\S+ {2}completed after/;
  await until('the laptop tells of it', () => told.test(laptop.child.stdout));
  expect(laptop.child.stderr).toBe('');
});

test.each([
  ['a state and a text', `echo '{"state":"failed","text":"Cannot."}'`, 'FAILED', 'Cannot.'],
  [
    'a message of 0.3',
    `echo '{"state":"completed","message":{"role":"agent","parts":[{"kind":"text","text":"Yes"}]}}'`,
    'COMPLETED',
    'Yes',
  ],
  [
    'a message of the seed',
    `echo '{"state":"completed","message":{"role":"agent","parts":[{"type":"text","text":"Yes"}]}}'`,
    'COMPLETED',
    'Yes',
  ],
  ['a refusal', `echo '{"state":"rejected","text":"Not mine."}'`, 'REJECTED', 'Not mine.'],
  [
    'another code, with the end of standard error',
    'echo some; echo "No disk." >&2; exit 3',
    'FAILED',
    'No disk.',
  ],
  ['another code, in silence', 'exit 3', 'FAILED', 'The command ended with code 3 and said nothing.'],
  // Which of the two depends on the shell.
  ['a death', 'kill -9 $$', 'FAILED', /Killed|ended by signal 9/],
  ['nothing', 'true', 'COMPLETED', ''],
])('[A15] %s', async (_name, exec, state, text) => {
  const { url, env, caller } = await openPlace();
  await new Laptop(exec).start(url, env);
  const answer = await caller.send('Do it');
  const { status } = given('task' in answer ? answer.task : null, 'task');
  expect(status.state).toBe(`TASK_STATE_${state}`);
  if (text instanceof RegExp) expect(textIn(status.message)).toMatch(text);
  else expect(textIn(status.message)).toBe(text);
});

test('[A15][A20] artifacts: from the answer, and every file in $LANTERN_ARTIFACTS, but no link out of it', async () => {
  const { url, env, caller } = await openPlace();
  const secret = join(temporaryFolder(), 'secret');
  writeFileSync(secret, 'not for callers');
  const exec = [
    'printf "a,b\\n" > $LANTERN_ARTIFACTS/table.csv',
    `ln -s ${secret} $LANTERN_ARTIFACTS/link.txt`,
    `echo '{"state":"completed","text":"Done.","artifacts":[{"name":"note.md","parts":[{"text":"# Note"}]}]}'`,
  ].join('; ');
  await new Laptop(exec).start(url, env);
  const answer = await caller.send('Do it');
  const { artifacts } = given('task' in answer ? answer.task : null, 'task');
  const byName = Object.fromEntries((artifacts ?? []).map((one) => [one.name, one.parts]));
  expect(Object.keys(byName).sort()).toEqual(['note.md', 'table.csv']);
  expect(byName['note.md']).toEqual([{ text: '# Note' }]);
  expect(byName['table.csv']).toMatchObject([{ mediaType: 'text/csv', filename: 'table.csv' }]);
  expect(JSON.stringify(answer)).not.toContain('not for callers');
});

test('[A15][A20] what is too much for a frame is uploaded, in the answer and while it works', async () => {
  const { url, env, caller } = await openPlace();
  const file = join(temporaryFolder(), 'agent.mjs');
  const program = `
    const raw = Buffer.alloc(1_500_000, 7).toString('base64');
    const text = 'x'.repeat(1_200_000);
    const say = (value) => console.log(JSON.stringify(value));
    say({ artifact: { name: 'early.txt', text } });
    say({
      state: 'completed',
      message: { parts: [{ text }, { data: { rows: 3 } }] },
      artifacts: [{ name: 'picture.png', parts: [{ raw, mediaType: 'image/png', filename: 'picture.png' }] }],
    });`;
  writeFileSync(file, program);
  await new Laptop(`node ${file}`, ['--progress']).start(url, env);
  const answer = await caller.send('Draw it');
  const { status, artifacts } = given('task' in answer ? answer.task : null, 'task');
  expect([status.state, textIn(status.message)]).toEqual([
    'TASK_STATE_COMPLETED',
    expect.stringContaining('is in the artifact "output"'),
  ]);
  const byName = Object.fromEntries((artifacts ?? []).map((one) => [one.name, one.parts]));
  expect(byName).toMatchObject({
    'early.txt': [{ mediaType: 'text/plain' }],
    'picture.png': [{ mediaType: 'image/png', filename: 'picture.png' }],
    output: [{ mediaType: 'text/plain' }],
  });
  const headers = { authorization: `Bearer ${env.WAKE_API_KEY}` };
  const picture = await fetch(given(byName['picture.png']?.[0]?.url, 'url'), { headers });
  expect(Buffer.from(await picture.arrayBuffer()).equals(Buffer.alloc(1_500_000, 7))).toBe(true);
});

test('[A15] the laptop says why a task failed on its way to the hub', async () => {
  const { url, env, caller } = await openPlace();
  const exec = `node -e 'console.log(JSON.stringify({ state: "working", text: "x".repeat(1_200_000) }))'`;
  const child = await new Laptop(exec, ['--progress']).start(url, env);
  const answer = await caller.send('Tell me much');
  expect(given('task' in answer ? answer.task : null, 'task').status.state).toBe('TASK_STATE_FAILED');
  await until('the laptop says why', () => /\S+ {2}This takes 12\d+ bytes/.test(child.stderr));
});

test('[A15][A20] what is too large for a frame arrives all the same: in artifacts, and in the answer', async () => {
  const { url, env, caller } = await openPlace();
  const answer = join(temporaryFolder(), 'answer.json');
  const bytes = Buffer.alloc(1_500_000, 'lantern');
  const raw = bytes.toString('base64');
  const artifacts = [
    { name: 'scan.pdf', parts: [{ raw, mediaType: 'application/pdf' }, { text: 'Page 1' }] },
  ];
  const parts = [{ text: 'Done.' }, { data: { rows: 'x'.repeat(1_200_000) } }];
  writeFileSync(answer, JSON.stringify({ state: 'completed', message: { role: 'agent', parts }, artifacts }));
  await new Laptop(`cat ${answer}`).start(url, env);
  const reply = await caller.send('Do it');
  const task = given('task' in reply ? reply.task : null, 'task');
  expect(task.status).toMatchObject({
    state: 'TASK_STATE_COMPLETED',
    message: { parts: [{ text: 'Done.' }, {}] },
  });
  const byName = Object.fromEntries((task.artifacts ?? []).map((one) => [one.name, one.parts]));
  expect(byName['scan.pdf']).toMatchObject([{ mediaType: 'application/pdf' }, { text: 'Page 1' }]);
  expect(byName.output).toMatchObject([{ mediaType: 'application/json' }]);
  const headers = { authorization: `Bearer ${env.WAKE_API_KEY}` };
  const content = await fetch(String(byName['scan.pdf']?.[0]?.url), { headers });
  expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true);
});

test('[A15] progress: lines are told as they are written, pieces of an artifact too, and the rest is the answer', async () => {
  const { url, env, caller } = await openPlace();
  const go = join(temporaryFolder(), 'go');
  const exec = [
    `echo '{"state":"working","text":"half way"}'`,
    `echo '{"artifact":{"name":"log","parts":[{"text":"one "}]},"append":true}'`,
    `while ! test -e ${go}; do sleep 0.05; done`,
    `echo '{"artifact":{"name":"log","parts":[{"text":"two"}]},"append":true,"lastChunk":true}'`,
    'echo The answer.',
  ].join('; ');
  await new Laptop(exec, ['--progress']).start(url, env);
  const seen: string[] = [];
  for await (const { statusUpdate, artifactUpdate, task } of caller.stream('Do it')) {
    const status = statusUpdate?.status ?? task?.status;
    if (status !== undefined) seen.push(`${status.state} ${textIn(status.message)}`);
    if (artifactUpdate !== undefined) {
      seen.push(`${artifactUpdate.append === true ? '+' : '='}${textIn(artifactUpdate.artifact)}`);
      writeFileSync(go, '');
    }
  }
  expect(seen.slice(seen.indexOf('TASK_STATE_WORKING half way'))).toEqual([
    'TASK_STATE_WORKING half way',
    '=one ',
    '+two',
    'TASK_STATE_COMPLETED The answer.',
  ]);
});

test('[A15] four at a time, in order within a context', async () => {
  const { url, env, caller } = await openPlace();
  const folder = temporaryFolder();
  const exec = `id=$(grep -o 'n[0-9]' | head -n 1); echo $id >> ${folder}/began; while ! test -e ${folder}/$id; do sleep 0.05; done; echo $id >> ${folder}/ended; echo $id`;
  await new Laptop(exec).start(url, env);
  const first = await sent(caller, 'n1');
  const second = await sent(caller, 'n2', { contextId: first.contextId });
  for (const n of [3, 4, 5, 6]) await sent(caller, `n${n}`);
  await until('four began', () => lines(`${folder}/began`).length === 4);
  expect(lines(`${folder}/began`).sort()).toEqual(['n1', 'n3', 'n4', 'n5']);
  writeFileSync(`${folder}/n1`, '');
  await until('the second of the context began', () => lines(`${folder}/began`).includes('n2'));
  for (const n of [2, 3, 4, 5, 6]) writeFileSync(`${folder}/n${n}`, '');
  await untilState(caller, second.id, 'COMPLETED');
  await until('all ended', () => lines(`${folder}/ended`).length === 6);
});

test('[A15] cancel asks the command to end, and then kills it with all it has started', async () => {
  const { url, env, caller } = await openPlace();
  const file = join(temporaryFolder(), 'pid');
  const exec = `trap 'echo asked > ${file}.asked' TERM; sleep 300 & echo $$ $! > ${file}; while true; do sleep 1; done`;
  await new Laptop(exec, ['--grace', '3']).start(url, env);
  const task = await sent(caller, 'Do it');
  const numbers = (await until('the command runs', () => lines(file)[0])).split(' ').map(Number);
  expect((await caller.cancel(task.id)).status.state).toBe('TASK_STATE_CANCELED');
  await until('the command was asked', () => existsSync(`${file}.asked`));
  await until('all of it is gone', () => numbers.every(isGone));
  expect((await caller.get(task.id)).status.state).toBe('TASK_STATE_CANCELED');
});

test('[A15] --timeout stops a command and fails its task', async () => {
  const { url, env, caller } = await openPlace();
  await new Laptop('sleep 300', ['--timeout', '1', '--grace', '0']).start(url, env);
  const answer = await caller.send('Do it');
  const { status } = given('task' in answer ? answer.task : null, 'task');
  expect(status.state).toBe('TASK_STATE_FAILED');
  // The end of standard error may follow: some shells say there that they were stopped.
  expect(textIn(status.message)).toMatch(/^The command did not finish within 1 s and was stopped\.(\n|$)/);
});

test('[A15][A17] input_required asks a person, and the command runs again with the decision', async () => {
  const server = await Server.start({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
  const file = join(temporaryFolder(), 'turns');
  const exec = `cat >> ${file}; case "$LANTERN_DECISION" in approved) echo Sent.;; *) echo '{"state":"input_required","text":"May I?"}';; esac`;
  await new Laptop(exec).start(server.url);
  const caller = callerOf(server);
  const answer = await caller.send('Send the newsletter');
  const task = given('task' in answer ? answer.task : null, 'task');
  expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  const desk = await server.desk();
  const id = await until('the question is on the desk', async () => {
    const { json } = await desk.request<{ deliveries: { delivery_id: string }[] }>('GET', '/desk/deliveries');
    return json.deliveries[0]?.delivery_id;
  });
  await desk.decide(id, { status: 'approved', feedback: 'Go.' });
  const done = await untilState(caller, task.id, 'COMPLETED');
  expect(textIn(done.status.message)).toBe('Sent.');
  const turns = lines(file).map((line) => JSON.parse(line));
  expect(turns).toHaveLength(2);
  expect(turns[1]).toMatchObject({
    taskId: task.id,
    contextId: task.contextId,
    deliveryId: id,
    decision: { status: 'approved', feedback: 'Go.' },
    message: { role: 'ROLE_USER' },
  });
});

test('[A14][A15] what came while nobody was there is taken in order; --once takes it and ends', async () => {
  const { url, env, caller } = await openPlace();
  const file = join(temporaryFolder(), 'seen');
  const first = await sent(caller, 'n1');
  await sent(caller, 'n2', { contextId: first.contextId });
  const last = await sent(caller, 'n3', { contextId: first.contextId });
  expect((await caller.get(first.id)).status.state).toBe('TASK_STATE_SUBMITTED');
  const laptop = new Laptop(`grep -o 'n[0-9]' | head -n 1 >> ${file}`, ['--once']);
  expect((await laptop.launch(url, env).ended).code).toBe(0);
  expect(lines(file)).toEqual(['n1', 'n2', 'n3']);
  expect((await caller.get(last.id)).status.state).toBe('TASK_STATE_COMPLETED');
});

test('[A15] a server that is not there is one sentence, and is waited for', async () => {
  const server = await Server.start();
  const port = new URL(server.url).port;
  await server.terminate();
  const laptop = new Laptop('echo Hello');
  const child = laptop.launch(server.url);
  await until('it says so', () => child.stderr.includes('Nothing answers'));
  expect(child.stderr).toMatch(
    /^Nothing answers at 127\.0\.0\.1:\d+ \(ECONNREFUSED\): check .* Trying again until it works\.\n$/,
  );
  const again = await server.restart();
  expect(again.url).not.toBe(server.url);
  expect(child.hasEnded).toBe(false);
  // The same port, so that the laptop finds it.
  await again.terminate();
  await Server.start({ folder: server.folder, args: ['--port', port] });
  await until('it is connected', () => child.stdout.includes('Connected to'));
  child.process.kill('SIGTERM');
  expect((await child.ended).code).toBe(0);
});

test('[A15] a refused key, a missing command and a state folder in use end with one sentence', async () => {
  const server = await Server.start();
  const env = { LANTERN_URL: server.url, WAKE_API_KEY: AGENT.key };
  const wrong = { ...env, WAKE_API_KEY: 'wk_test_00000000000000000000000000000000' };
  const state = ['--state', temporaryFolder()];
  const refused = await lantern(['connect', '--exec', 'true', ...state], wrong);
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toMatch(/^lantern: .*does not accept this API key.*\n$/);
  expect((await lantern(['connect'], env)).code).toBe(2);
  expect((await lantern(['connect', '--exec', 'true', '--concurrency', '0'], env)).code).toBe(2);
  const file = join(temporaryFolder(), 'file');
  writeFileSync(file, '');
  const unusable = await lantern(['connect', '--exec', 'true', '--state', file], env);
  expect([unusable.code, unusable.stderr]).toEqual([
    1,
    expect.stringMatching(/^The journal .* cannot be opened.*\n$/),
  ]);
  const laptop = new Laptop('true');
  await laptop.start(server.url);
  const second = await lantern(['connect', '--exec', 'true', '--state', laptop.state], env);
  expect([second.code, second.stderr]).toEqual([
    2,
    expect.stringMatching(/^lantern: Process \d+ works with the state folder .*\n$/),
  ]);
});

test('[A15] npx ends only the shell that it has started, and the connector ends with that', async () => {
  const args = ['connect', '--exec', 'true', '--state', temporaryFolder()];
  const shell = ['/bin/sh', '-c', '"$@"; :', 'sh', ...node(LANTERN, args)];
  const env = { LANTERN_URL: 'http://127.0.0.1:1', WAKE_API_KEY: AGENT.key, npm_command: 'exec' };
  const child = new Child(shell, env, { group: true });
  await until('the connector runs', () => child.stderr.includes('Trying again'));
  child.process.kill('SIGTERM');
  // Ends when nobody holds its pipes any more.
  await child.ended;
});

test('[A15] --quiet says nothing as long as all is well', async () => {
  const { url, env, caller } = await openPlace();
  const laptop = new Laptop('echo Hello', ['--quiet']);
  const child = laptop.launch(url, env);
  await caller.send('Do it');
  expect(child.stdout + child.stderr).toBe('');
});
