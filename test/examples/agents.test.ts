import { join } from 'node:path';
import { type Caller, type Task, textIn } from '@lanternroom/sdk/a2a';
import { expect, test } from 'vitest';
import { Child, type Environment } from '../support/command.ts';
import { inRepo, temporaryFolder } from '../support/folder.ts';
import { callerOf, untilState } from '../support/laptop.ts';
import { AGENT, Server } from '../support/server.ts';
import { given, until } from '../support/until.ts';
import { commandOf } from './readme.ts';

/** Runs a command of the README in the repository, on a machine of its own. */
async function start(name: string, server: Server): Promise<Child> {
  const home = temporaryFolder();
  const env: Environment = {
    HOME: home,
    LANTERN_URL: server.url,
    WAKE_API_KEY: AGENT.key,
    AGENT_STATE: join(home, 'state'),
  };
  const line = `cd '${inRepo('.')}' && ${commandOf(name)}`;
  const child = new Child(['sh', '-c', line], env, { group: true });
  await until(`${name} is connected`, () => {
    if (child.hasEnded) throw new Error(`${name} ended: ${child.stderr}${child.stdout}`);
    return child.stdout.includes('Connected');
  });
  return child;
}

async function ask(caller: Caller, text: string): Promise<Task> {
  const answer = await caller.send(text);
  return given('task' in answer ? answer.task : null, 'task');
}

test('[A15] the bash agent counts', async () => {
  const server = await Server.start();
  await start('agent=bash', server);
  const task = await ask(callerOf(server), 'one two three');
  expect(textIn(task.status.message)).toBe(`That was 3 words, in task ${task.id}.`);
});

test('[A16] the Node agent sends an artifact piece by piece', async () => {
  const server = await Server.start();
  await start('agent=node', server);
  const task = await ask(callerOf(server), 'First line\nSecond line');
  expect([task.status.state, textIn(task.status.message)]).toEqual([
    'TASK_STATE_COMPLETED',
    'Summarized 2 lines.',
  ]);
  const whole = (task.artifacts ?? []).map((one) => one.parts.map(({ text }) => text).join(''));
  expect(whole).toEqual(['# Summary\n\n- First line\n- Second line']);
});

test('[A15] the Python agent counts, leaves a file, and rejects what is empty', async () => {
  const server = await Server.start();
  await start('agent=python', server);
  const caller = callerOf(server);
  const task = await ask(caller, 'to be or not to be');
  expect(textIn(task.status.message)).toBe('The most frequent word is “to”, 2 times.');
  expect(task.artifacts).toMatchObject([{ name: 'words.csv', parts: [{ mediaType: 'text/csv' }] }]);
  expect((await ask(caller, '   ')).status.state).toBe('TASK_STATE_REJECTED');
});

test('[A17] the one that asks for approval goes on with what the person decides', async () => {
  const server = await Server.start({ env: { LANTERNROOM_UNDO_SECONDS: '0' } });
  await start('agent=approval', server);
  const caller = callerOf(server);
  const desk = await server.desk();
  const decideNext = async (status: string) => {
    const id = await until('a question is on the desk', async () => {
      type List = { deliveries: { delivery_id: string }[] };
      const { json } = await desk.request<List>('GET', '/desk/deliveries');
      return json.deliveries[0]?.delivery_id;
    });
    await desk.decide(id, { status, feedback: 'Shorter, please.' });
  };
  const first = await ask(caller, 'Send the newsletter');
  expect(first.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  await decideNext('redirected');
  await until('it asks again', async () =>
    textIn((await caller.get(first.id)).status.message).includes('changed'),
  );
  await decideNext('approved');
  const done = await untilState(caller, first.id, 'COMPLETED');
  expect(textIn(done.status.message)).toBe('The newsletter was sent.');
  const second = await ask(caller, 'Send another');
  await decideNext('rejected');
  await untilState(caller, second.id, 'FAILED');
});

test('[A14] send.mjs shows how it goes', async () => {
  const server = await Server.start();
  await start('agent=bash', server);
  const env = { LANTERN_URL: server.url, WAKE_API_KEY: AGENT.key };
  const child = new Child(
    [process.execPath, inRepo('examples/send.mjs'), `@home/${AGENT.id}`, 'some words'],
    env,
  );
  expect(await child.ended).toMatchObject({ code: 0, stderr: '' });
  expect(child.stdout).toMatch(/TASK_STATE_COMPLETED That was 2 words/);
});

test('[A16] the sender says in one sentence why it was refused', async () => {
  const server = await Server.start();
  const env = { LANTERN_URL: server.url, WAKE_API_KEY: AGENT.key };
  const child = new Child([process.execPath, inRepo('examples/send.mjs'), '@home/nobody', 'Hello'], env);
  const { code, stderr } = await child.ended;
  expect(code).toBe(1);
  expect(stderr.trimEnd()).toMatch(
    /^http\S+ refused \(404\): There is no agent with this name in your space\.$/,
  );
});
