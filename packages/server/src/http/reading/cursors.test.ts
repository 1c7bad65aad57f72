import { expect, test } from 'vitest';
import { useWorld } from '../../testing/a2a/a2a.ts';

const world = useWorld();

const LISTS = [
  '/desk/deliveries?',
  '/desk/deliveries?q=invoice&',
  '/desk/history?',
  '/desk/audit?',
  '/desk/tasks?',
  '/desk/events?',
  '/desk/agents?',
  '/desk/inboxes?',
];
const INBOXES = ['/akep/events?', '/akep/events/wait?timeout_seconds=0&', '/akep/resumes?'];

test.each([...LISTS, ...INBOXES])('[W31] at %s an empty cursor is none', async (path) => {
  const ask = async (more: string) => {
    const reply = path.startsWith('/desk/')
      ? await world().desk('GET', path + more)
      : await world().get(path + more);
    return [reply.status, await reply.text()];
  };
  const without = await ask('limit=5');
  expect([200, 204]).toContain(without[0]);
  expect(await ask('cursor=&limit=5')).toEqual(without);
});

test('[W31] it does not keep a stream from opening', async () => {
  const reply = await world().get('/akep/events/stream?cursor=');
  await reply.body?.cancel();
  expect(reply.status).toBe(200);
});

test('[W31] an empty pageToken is none as well', async () => {
  const { agent, url } = world();
  const reply = await fetch(`${url}/@home/${agent.agent.id}/tasks?pageToken=`, {
    headers: { authorization: `Bearer ${agent.key}`, 'a2a-version': '1.0' },
  });
  expect([reply.status, await reply.json()]).toEqual([200, expect.objectContaining({ tasks: [] })]);
});
