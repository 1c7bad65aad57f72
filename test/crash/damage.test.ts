import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Server } from '../support/server.ts';

const PAGE = 8192;
const LEAF_OF_A_TABLE = 0x0d;
const HEADLINE = 'Headline of the delivery';

/** Overwrites every second leaf page that holds deliveries, under the running server. */
function damage(file: string): number {
  const bytes = readFileSync(file);
  const pages = Array.from({ length: bytes.length / PAGE }, (_, n) => n * PAGE).filter(
    (at) => bytes[at] === LEAF_OF_A_TABLE && bytes.subarray(at, at + PAGE).includes(HEADLINE),
  );
  const hit = pages.filter((_, n) => n % 2 === 1);
  const opened = openSync(file, 'r+');
  for (const at of hit) writeSync(opened, Buffer.alloc(PAGE, 0xff), 0, PAGE, at);
  closeSync(opened);
  return hit.length;
}

test('[D81] a page that cannot be read answers 503 with a sentence and a line in the log; the rest is served', async () => {
  const first = await Server.start();
  const ids: string[] = [];
  for (let n = 0; n < 60; n++) {
    const headline = `${HEADLINE} ${n}`;
    ids.push(await first.wake().delivered({ headline, details: { text: 'x'.repeat(2000) } }));
  }
  expect((await first.terminate()).code).toBe(0);
  const server = await first.restart();
  expect(damage(join(server.folder, 'lanternroom.db'))).toBeGreaterThan(3);

  const replies = await Promise.all(ids.map((id) => server.wake().response(id)));
  const statuses = new Set(replies.map(({ status }) => status));
  expect(statuses).toEqual(new Set([200, 503]));
  const refused = replies.find(({ status }) => status === 503);
  expect(JSON.parse(refused?.text ?? '')).toMatchObject({
    error: { code: 'unavailable', message: expect.stringMatching(/is damaged and cannot be read\..*log\.$/) },
  });
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(server.child.stdout).toMatch(/"level":50.*malformed/);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);

  // The next start finds it, and refuses.
  await server.kill();
  await expect(server.restart()).rejects.toThrow(/is damaged .*restore a backup/);
});
