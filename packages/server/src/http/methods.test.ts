import { request } from 'node:http';
import { expect, test } from 'vitest';
import { openWorld } from '../testing/wake.ts';
import type { World } from '../testing/world.ts';

type Answer = { status: number; allow: string | undefined };

/** `fetch` refuses to send some of these. */
function ask(world: World, method: string, path: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${world.agent.key}` };
  return new Promise((resolve, reject) => {
    const asked = request(world.url + path, { method, headers }, (reply) => {
      reply.resume();
      resolve({ status: reply.statusCode ?? 0, allow: reply.headers.allow });
    });
    asked.on('error', reject).end();
  });
}

const FILE = /^\/assets\/|\.(?:js|svg|png|html|webmanifest)$/;

/** The desk's addresses have tests of their own, and those with a star answer for addresses that do not exist. */
function servedBy(world: World): Map<string, string[]> {
  const served = new Map<string, string[]>();
  for (const { method, url } of world.running.routes) {
    if (url.startsWith('/desk/') || url.includes('*') || FILE.test(url)) continue;
    served.set(url, [...(served.get(url) ?? []), method]);
  }
  return served;
}

const fill = (url: string, agent: string) =>
  url.replace(/::|:(\w+)/g, (_, name?: string) => {
    if (name === undefined) return ':';
    return { handle: 'home', agent }[name] ?? 'x';
  });

test('[D86] a method that an address does not have is 405 and told what works, at every door', async () => {
  const world = await openWorld();
  const served = servedBy(world);
  for (const [url, methods] of served) {
    const others = ['HEAD', 'PUT', 'OPTIONS', 'TRACE', 'QUERY'].filter((m) => !methods.includes(m));
    for (const method of others) {
      const { status, allow } = await ask(world, method, fill(url, world.agent.agent.id));
      expect([method, url, status, allow?.split(', ').every((m) => methods.includes(m))]).toEqual([
        method,
        url,
        405,
        true,
      ]);
    }
  }
  expect(served.size).toBeGreaterThan(40);
});

test('[W1] a method that nobody serves, or a range that is not there, is not a fault of ours', async () => {
  const world = await openWorld();
  for (const path of ['/nothing', '/wake/nothing', '/akep/nothing', '/assets/nothing'])
    expect((await ask(world, 'QUERY', path)).status).toBeLessThan(500);
  const part = await fetch(`${world.url}/`, { headers: { range: 'bytes=99999999-' } });
  expect(part.status).toBe(200);
});

test('[D86] it is told in the words of the door, however the address is written, and without looking at a body', async () => {
  const world = await openWorld();
  const put = (path: string) =>
    fetch(world.url + path, { method: 'PUT', headers: { 'content-type': 'text/odd' }, body: '{' });
  const akep = await put('/.well-known/akep.json');
  expect([akep.status, await akep.json()]).toEqual([405, { error: 'Only GET works here.' }]);
  const several = await put('/akep/subscriptions');
  expect(await several.json()).toEqual({ error: 'Only GET and POST work here.' });
  for (const path of ['/healthz?a=/b#c', '/%68ealthz', '/docs/errors', '/desk/deliveries/x', '/mcp']) {
    const reply = await put(path);
    const { error } = (await reply.json()) as { error: { code: string } };
    expect([path, reply.status, error.code]).toEqual([path, 405, 'method_not_allowed']);
  }
});

test('[D86] what is written out is another address than the parameter in its place', async () => {
  const world = await openWorld();
  for (const [method, path, allow] of [
    ['DELETE', '/desk/passkeys/challenge', 'POST'],
    ['POST', '/desk/passkeys/some-id', 'PUT, DELETE'],
    ['HEAD', '/akep/events/wait', 'GET'],
  ] as const) {
    const token = path.startsWith('/desk') ? world.token : world.agent.key;
    const reply = await fetch(world.url + path, { method, headers: { authorization: `Bearer ${token}` } });
    expect([path, reply.status, reply.headers.get('allow')]).toEqual([path, 405, allow]);
  }
});
