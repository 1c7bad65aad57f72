import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Caller, connect, isEnded, type StreamItem, type Task, textIn } from '@lanternroom/sdk/a2a';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../support/folder.ts';
import { callerOf, Laptop, patientCallerOf, sent, untilState } from '../support/laptop.ts';
import { Seeded } from '../support/random.ts';
import { startReceiver } from '../support/receiver.ts';
import { AGENT, Server } from '../support/server.ts';
import { each, given, pause, until } from '../support/until.ts';
import { verifyLedger } from './promises.ts';

/** Like the real world: a restarted server is where it was. */
function again(server: Server): Promise<Server> {
  return Server.start({ folder: server.folder, args: ['--port', new URL(server.url).port] });
}

const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
const lines = (file: string) => read(file).split('\n').filter(Boolean);

/** A command that notes that it runs, waits for a file named `go`, and notes that it is done. */
function patientCommand(folder: string): string {
  return `echo "$WAKEUP_TASK_ID" >> ${folder}/began; while ! test -e ${folder}/go; do sleep 0.05; done; echo "$WAKEUP_TASK_ID" >> ${folder}/ended; echo "Answer of $WAKEUP_TASK_ID"`;
}

async function begun(folder: string, count = 1): Promise<void> {
  await until(`${count} commands run`, () => lines(join(folder, 'began')).length >= count);
}

test('[A13][A15] kill -9 of the connector: its command goes on, and the next one takes the answer', async () => {
  const server = await Server.start();
  const caller = callerOf(server);
  const folder = temporaryFolder();
  const laptop = new Laptop(patientCommand(folder));
  await laptop.start(server.url);
  const task = await sent(caller, 'Do it');
  const waiting = await sent(caller, 'And then this', { contextId: task.contextId });
  await begun(folder);
  await laptop.kill();
  writeFileSync(join(folder, 'go'), '');
  await until('the command ended by itself', () => lines(join(folder, 'ended')).length === 1);
  await laptop.start(server.url);
  const done = await untilState(caller, task.id, 'COMPLETED');
  expect(textIn(done.status.message)).toBe(`Answer of ${task.id}`);
  await untilState(caller, waiting.id, 'COMPLETED');
  expect(lines(join(folder, 'began'))).toEqual([task.id, waiting.id]);
});

test('[A15] kill -9 of the connector and of the command: the task fails with a reason, and nothing runs twice', async () => {
  const server = await Server.start();
  const caller = callerOf(server);
  const folder = temporaryFolder();
  const laptop = new Laptop(`echo $$ > ${folder}/pid; ${patientCommand(folder)}`);
  await laptop.start(server.url);
  const task = await sent(caller, 'Do it');
  await begun(folder);
  await laptop.kill();
  const group = Number(read(`/proc/${read(`${folder}/pid`).trim()}/stat`).split(' ')[4]);
  process.kill(-group, 'SIGKILL');
  await laptop.start(server.url);
  const failed = await untilState(caller, task.id, 'FAILED');
  expect(textIn(failed.status.message)).toMatch(/killed .* not run a second time/);
  expect(lines(join(folder, 'began'))).toEqual([task.id]);
});

test('[A15] kill -9 of the command alone: the task fails, and the next one is taken', async () => {
  const server = await Server.start();
  const caller = callerOf(server);
  const folder = temporaryFolder();
  const laptop = new Laptop(`echo $$ > ${folder}/pid; ${patientCommand(folder)}`);
  await laptop.start(server.url);
  const task = await sent(caller, 'Do it');
  await begun(folder);
  process.kill(Number(read(`${folder}/pid`)), 'SIGKILL');
  await untilState(caller, task.id, 'FAILED');
  writeFileSync(join(folder, 'go'), '');
  const next = await sent(caller, 'Do it');
  await untilState(caller, next.id, 'COMPLETED');
  expect(lines(join(folder, 'began'))).toEqual([task.id, next.id]);
});

test('[A13][A9] kill -9 of the server in the middle of a task: the laptop comes back, and it ends once', async () => {
  const first = await Server.start();
  const folder = temporaryFolder();
  const laptop = new Laptop(patientCommand(folder));
  await laptop.start(first.url);
  const caller = callerOf(first);
  const task = await sent(caller, 'Do it');
  await begun(folder);
  await first.kill();
  // It answers while nobody is there to hear it.
  writeFileSync(join(folder, 'go'), '');
  await until('the command ended', () => lines(join(folder, 'ended')).length === 1);
  const second = await again(first);
  const done = await untilState(callerOf(second), task.id, 'COMPLETED');
  expect(textIn(done.status.message)).toBe(`Answer of ${task.id}`);
  expect(lines(join(folder, 'began'))).toEqual([task.id]);
  await verifyLedger(second.folder);
});

const CHUNKS = 60;
const HALF = CHUNKS / 2;

test('[A9][A10][A13] a stream of a chunked artifact through kill -9 of server and connector: every chunk once, in order', async () => {
  let server = await Server.start();
  const folder = temporaryFolder();
  const chunk = `{\\"artifact\\":{\\"name\\":\\"log\\",\\"parts\\":[{\\"text\\":\\"$n \\"}]},\\"append\\":true}`;
  // Half of them wait for the server to be back, however long that takes.
  const atHalf = `if test $n -eq ${HALF}; then while ! test -e ${folder}/go; do sleep 0.05; done; fi`;
  const exec = `echo "$WAKEUP_TASK_ID" >> ${folder}/began; n=0; while test $n -lt ${CHUNKS}; do echo "${chunk}"; n=$((n+1)); sleep 0.05; ${atHalf}; done; echo Done.`;
  const laptop = new Laptop(exec, ['--progress']);
  await laptop.start(server.url);
  const items: StreamItem[] = [];
  const following = follow(patientCallerOf(server), items);
  const pieces = () => items.flatMap(({ artifactUpdate }) => artifactUpdate ?? []);
  await until('some chunks are there', () => pieces().length > 8);
  await server.kill();
  server = await again(server);
  writeFileSync(join(folder, 'go'), '');
  await until('more chunks are there', () => pieces().length > HALF + 5);
  await laptop.kill();
  await laptop.start(server.url);
  await following;
  const numbers = Array.from({ length: CHUNKS }, (_, n) => n);
  expect(pieces().map(({ artifact }) => Number(textIn(artifact)))).toEqual(numbers);
  const id = given(pieces()[0], 'chunk').taskId;
  const task = await callerOf(server).get(id);
  expect(task.status.state).toBe('TASK_STATE_COMPLETED');
  const whole = (task.artifacts ?? []).map((one) => one.parts.map(({ text }) => text).join(''));
  expect(whole).toEqual([numbers.map((n) => `${n} `).join('')]);
  expect(lines(join(folder, 'began'))).toEqual([id]);
});

async function follow(caller: Caller, items: StreamItem[]): Promise<void> {
  for await (const item of caller.stream('Count')) items.push(item);
}

test('[A18] kill -9 of the server in the middle of a push: every change arrives, in order', async () => {
  let isHeld = true;
  const receiver = await startReceiver((reply) => {
    // The first one is never answered: the server dies waiting.
    if (!isHeld) reply.writeHead(204).end();
  });
  const first = await Server.start({ env: { LANTERNROOM_INIT_CALLBACKS: receiver.origin } });
  const laptop = new Laptop(`echo '{"state":"working","text":"half way"}'; sleep 0.2; echo Done.`, [
    '--progress',
  ]);
  await laptop.start(first.url);
  const answer = await callerOf(first).send('Do it', {
    returnImmediately: true,
    push: { url: `${receiver.origin}/hook`, token: 'token-of-the-caller' },
  });
  const { id } = given('task' in answer ? answer.task : null, 'task');
  await until('the first push is under way', () => receiver.received.length > 0);
  await first.kill();
  isHeld = false;
  await again(first);
  const isLast = (body: string) => body.includes('TASK_STATE_COMPLETED');
  await until('the last push is there', () => receiver.received.some(({ body }) => isLast(body)));
  const pushes = receiver.received.map(({ headers, body }) => ({ headers, body }));
  expect(pushes.every(({ headers }) => headers['x-a2a-notification-token'] === 'token-of-the-caller')).toBe(
    true,
  );
  expect(pushes.every(({ body }) => body.includes(id))).toBe(true);
  const states = pushes.flatMap(({ body }) => /TASK_STATE_[A-Z_]+/.exec(body)?.[0] ?? []);
  const order = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'];
  const places = states.map((state) => order.indexOf(state));
  // The push that was under way may come twice; none comes after a later one, and the end comes once.
  expect(places).toEqual([...places].sort());
  expect(states.filter((state) => state === 'TASK_STATE_COMPLETED')).toHaveLength(1);
});

const ROUNDS = 5;

test('[A9][A13][A14][A15] kill -9 in rounds, of server and connector in turn: every task runs once and ends once', async () => {
  const random = new Seeded(20261117);
  const folder = temporaryFolder();
  let server = await Server.start();
  const laptop = new Laptop(
    `echo "$WAKEUP_TASK_ID" >> ${folder}/began; sleep 0.1; echo "Answer of $WAKEUP_TASK_ID"`,
  );
  await laptop.start(server.url);
  const ids = new Set<string>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const sending = Array.from({ length: 12 }, (_, n) => send(callerOf(server), `${round}-${n}`, ids));
    await pause(100 + random.below(600)); // the fault strikes anywhere
    if (round % 2 === 0) {
      await server.kill();
      await Promise.all(sending);
      server = await again(server);
    } else {
      await laptop.kill();
      await Promise.all(sending);
      await laptop.start(server.url);
    }
  }
  const caller = callerOf(server);
  const tasks: Task[] = [];
  for (const id of ids) {
    tasks.push(
      await until(`task ${id} ends`, async () => {
        const task = await caller.get(id);
        return isEnded(task.status.state) ? task : undefined;
      }),
    );
  }
  expect(tasks.map(({ status }) => status.state)).toEqual(tasks.map(() => 'TASK_STATE_COMPLETED'));
  for (const task of tasks) expect(textIn(task.status.message)).toBe(`Answer of ${task.id}`);
  const began = lines(join(folder, 'began'));
  expect(new Set(began).size).toBe(began.length);
  for (const id of ids) expect(began).toContain(id);
  // The rounds were worth their while.
  expect(ids.size).toBeGreaterThan(ROUNDS * 4);
  await verifyLedger(server.folder);
});

/** Only what was answered counts: the rest may or may not be there. */
async function send(caller: Caller, messageId: string, ids: Set<string>): Promise<void> {
  const answer = await caller.send('Do it', { messageId, returnImmediately: true }).catch(() => null);
  if (answer !== null && 'task' in answer) ids.add(answer.task.id);
}

const CALLERS = 32;
const MESSAGES = 5;
const PARTS = ['one ', 'two ', 'three '];

/** An agent that is quick: whole crowds of its reports are written together. */
function quickAgent(server: Server): void {
  const connection = connect({
    url: server.url,
    apiKey: AGENT.key,
    concurrency: 1000,
    onTask: async (task) => {
      for (const [n, text] of PARTS.entries())
        void task.artifact({ artifactId: 'log', parts: [{ text }] }, { append: n > 0 });
      return `Answer of ${task.id}`;
    },
  });
  onTestFinished(() => connection.stop({ withinMs: 0 }));
}

/** The same message until it is answered: a server that dies in between must not make two tasks of it. */
async function sendUntilAnswered(caller: Caller, messageId: string): Promise<string> {
  return until(`message ${messageId} is answered`, async () => {
    const answer = await caller.send(messageId, { messageId }).catch(() => null);
    return answer !== null && 'task' in answer ? answer.task.id : undefined;
  });
}

test('[A8][A9][A13] kill -9 under a crowd of messages and reports: each message is one task, each report is there once and in order', async () => {
  const first = await Server.start();
  quickAgent(first);
  const caller = callerOf(first); // the one after it has the same address
  const tasks = new Map<string, string>();
  const sending = Array.from({ length: CALLERS }, async (_, who) => {
    for (let n = 0; n < MESSAGES; n++) {
      const messageId = `${who}-${n}`;
      tasks.set(messageId, await sendUntilAnswered(caller, messageId));
    }
  });
  await until('the crowd is under way', () => tasks.size > CALLERS * 2);
  await first.kill();
  const second = await again(first);
  await Promise.all(sending);
  expect(new Set(tasks.values()).size).toBe(CALLERS * MESSAGES);
  await each([...tasks], async ([messageId, id]) => {
    const task = await untilState(caller, id, 'COMPLETED');
    expect(textIn(task.history?.[0])).toBe(messageId);
    expect(textIn(task.status.message)).toBe(`Answer of ${id}`);
    expect((task.artifacts ?? []).map(({ parts }) => parts.map(({ text }) => text))).toEqual([PARTS]);
    expect(await sendUntilAnswered(caller, messageId)).toBe(id);
  });
  await verifyLedger(second.folder);
});
