import { expect, it } from 'vitest';
import { Child, node } from '../support/command.ts';
import { inRepo, temporaryFolder } from '../support/folder.ts';
import { approve, type Room, reject, sharedRooms } from './room.ts';

const openRoom = sharedRooms();

const EXAMPLES = ['langgraph', 'openai-agents', 'ai-sdk', 'plain-http'];

function example(name: string, room: Room): Child {
  // Nothing but what the README says to set.
  const env = { LANTERN_URL: room.server.url, WAKE_API_KEY: room.agent.key };
  return new Child(node(inRepo(`packages/adapters/examples/${name}.mjs`)), {
    ...env,
    HOME: temporaryFolder(),
  });
}

it.each(EXAMPLES)('[W23] the %s example refunds after a yes', async (name) => {
  const room = await openRoom();
  const child = example(name, room);
  await room.person(1, approve);
  const { code, stdout, stderr } = await child.ended;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toContain('Refunded 40 for A-17.');
});

it.each(EXAMPLES)('[W23] the %s example refunds nothing after a no', async (name) => {
  const room = await openRoom();
  const child = example(name, room);
  await room.person(1, reject);
  const { code, stdout, stderr } = await child.ended;
  expect({ code, stderr }).toMatchObject({ code: 0 });
  expect(stdout).toContain('Not this customer.');
  expect(stdout).not.toContain('Refunded');
});
