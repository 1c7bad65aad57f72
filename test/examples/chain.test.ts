import { expect, test } from 'vitest';
import { Child, type Environment, lanternroom } from '../support/command.ts';
import { inRepo, temporaryFolder } from '../support/folder.ts';
import { Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { commandOf } from './readme.ts';

async function addAgent(server: Server, name: string): Promise<string> {
  const { code, stdout, stderr } = await lanternroom([
    'agent',
    'add',
    name,
    '--json',
    '--data',
    server.folder,
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout).key;
}

function step(name: string, env: Environment) {
  const home = temporaryFolder();
  const line = `cd '${inRepo('.')}' && ${commandOf(name)}`;
  return new Child(['sh', '-c', line], { HOME: home, ...env }, { group: true }).ended;
}

test('[A19][A14] a chain of two agents that are never awake together', async () => {
  const server = await Server.start();
  const keys = { first: await addAgent(server, 'first'), second: await addAgent(server, 'second') };
  const as = (key: string) => ({ LANTERN_URL: server.url, WAKE_API_KEY: key });

  const sent = await step('chain=send', as(keys.first));
  expect(sent).toMatchObject({ code: 0, stderr: '' });
  expect(sent.stdout).toMatch(/^\S+ TASK_STATE_SUBMITTED\n$/);

  const early = await step('chain=second', as(keys.second));
  expect(early).toMatchObject({ code: 0, stdout: '' });

  const first = await step('chain=first', as(keys.first));
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(first.stdout).toContain('completed');

  const second = await until('the second one has its event', async () => {
    const ended = await step('chain=second', as(keys.second));
    return ended.stdout === '' ? undefined : ended;
  });
  expect(second).toMatchObject({ code: 0, stderr: '' });
  expect(second.stdout).toMatch(/The first agent is done; publishing its report\.\n$/);
});
