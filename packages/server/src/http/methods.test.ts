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

/** The desk's are looked at in its own tests; those with a star are there for what is not there. */
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

test('[W1] a method that nobody serves, or a part that is not there, is no fault of ours', async () => {
  const world = await openWorld();
  for (const path of ['/nothing', '/wake/nothing', '/akep/nothing', '/assets/nothing'])
    expect((await ask(world, 'QUERY', path)).status).toBeLessThan(500);
  const part = await fetch(`${world.url}/`, { headers: { range: 'bytes=99999999-' } });
  expect(part.status).toBe(200);
});
