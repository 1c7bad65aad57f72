import { get, type IncomingHttpHeaders } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openDesk } from '../testing/desk/desk.ts';
import type { World } from '../testing/world.ts';

type Read = { headers: IncomingHttpHeaders; bytes: Buffer };

/** As the bytes come: fetch unpacks them before anybody can look. */
function read(world: World, path: string, accepted: string): Promise<Read> {
  const headers = { authorization: `Bearer ${world.token}`, 'accept-encoding': accepted };
  return new Promise((resolve, reject) => {
    const asked = get(`${world.url}${path}`, { headers }, (reply) => {
      const parts: Buffer[] = [];
      reply.on('data', (part: Buffer) => parts.push(part));
      reply.on('end', () => resolve({ headers: reply.headers, bytes: Buffer.concat(parts) }));
    });
    asked.on('error', reject);
  });
}

test('[D87] a long answer is gzipped for callers that accept it, with the same bytes inside', async () => {
  const { world } = await openDesk();
  const id = await world.deliver({ details: 'A long story. '.repeat(2000) });
  const path = `/desk/deliveries/${id}`;
  const plain = await read(world, path, 'identity');
  const packed = await read(world, path, 'gzip, deflate, br');
  expect(packed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(packed.bytes.length).toBeLessThan(plain.bytes.length / 10);
  expect(gunzipSync(packed.bytes).toString()).toBe(plain.bytes.toString());
  const unwanted = await read(world, path, 'gzip;q=0');
  const short = await read(world, '/desk/session', 'gzip');
  for (const { headers } of [plain, unwanted, short]) expect(headers['content-encoding']).toBeUndefined();
});

test('[D87] what is shown once is never packed', async () => {
  const { world } = await openDesk();
  const callbacks = Array.from({ length: 40 }, (_, n) => `https://agent.example.com/${'x'.repeat(60)}/${n}`);
  const made = await world.desk('POST', '/desk/agents', { agent_id: 'fresh', callbacks });
  expect(made.status).toBe(201);
  expect((await made.text()).length).toBeGreaterThan(2048);
  expect(made.headers.get('content-encoding')).toBeNull();
});
