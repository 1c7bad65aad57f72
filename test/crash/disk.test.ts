import { renameSync } from 'node:fs';
import { expect, test } from 'vitest';
import { freePort } from '../../scripts/free-port.mjs';
import type { Desk } from '../support/desk.ts';
import { temporaryFolder } from '../support/folder.ts';
import { AGENT, launch, Server } from '../support/server.ts';
import { until } from '../support/until.ts';
import { type Reply, WakeClient } from '../support/wake.ts';
import { smallDisks } from './small-disk.ts';

/** Whatever room is left in files that are already there is used up by this. */
const BULKY = { details: { text: 'x'.repeat(200_000) } };
const ATTEMPTS = 500;

type ErrorBody = { error: { code: string; message: string } };

async function deliverUntilRefused(wake: WakeClient): Promise<{ accepted: string[]; refused: Reply }> {
  const accepted: string[] = [];
  for (let n = 0; n < ATTEMPTS; n++) {
    const reply = await wake.deliver(BULKY);
    if (reply.status !== 201) return { accepted, refused: reply };
    accepted.push(reply.json.delivery_id);
  }
  throw new Error('the disk never became full');
}

function expectRefusal({ status, text, headers }: Pick<Reply, 'status' | 'text' | 'headers'>): void {
  expect([503, 507]).toContain(status);
  const { error } = JSON.parse(text) as ErrorBody;
  expect(error.code).toBe(status === 507 ? 'storage_full' : 'unavailable');
  expect(error.message).toMatch(/Nothing was stored; .+\.$/);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
}

async function held(desk: Desk, id: string): Promise<void> {
  const { status, json } = await desk.decide(id, { status: 'approved' });
  expect([status, json.state]).toEqual([200, 'held']);
}

test.each(smallDisks())(
  '[D25] $name: a refusal with a sentence, nothing half-written, and all is well once it is freed',
  async (disk) => {
    const folder = temporaryFolder();
    const server = await Server.start({
      folder,
      under: disk.under(folder),
      env: { LANTERNROOM_UNDO_SECONDS: '1' },
    });
    const wake = server.wake();
    const desk = await server.desk();
    const first = await wake.delivered();
    const second = await wake.delivered();
    await held(desk, first);
    disk.fill(server);

    const { accepted, refused } = await deliverUntilRefused(wake);
    expectRefusal(refused);
    expectRefusal(await wake.deliver(BULKY, 'a key that is used again'));
    // What can be read can still be read, and every answer that was given still holds.
    expect((await wake.response(second)).json.status).toBe('pending');
    expect((await wake.sweep({ limit: '1' })).json.total).toBe(2 + accepted.length);
    for (const id of accepted) expect((await wake.response(id)).status).toBe(200);

    disk.free(server);
    const after = await until('deliveries are taken again', async () => {
      const reply = await wake.deliver(BULKY, 'a key that is used again');
      if (reply.status !== 201) expectRefusal(reply);
      return reply.status === 201 && reply.json.delivery_id;
    });
    // The decision whose time came while nothing could be written takes effect now.
    await until(
      'the held decision is in effect',
      async () => (await wake.response(first)).json.status === 'approved',
    );
    expect((await wake.sweep({ limit: '1' })).json.total).toBe(3 + accepted.length);
    expect((await wake.deliver(BULKY, 'a key that is used again')).json.delivery_id).toBe(after);
    const { json } = await desk.request<{ ok: boolean }>('GET', '/desk/audit/verify');
    expect(json.ok).toBe(true);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect((await server.terminate()).code).toBe(0);
  },
);

test.each(smallDisks())('[D30] $name: SIGTERM still ends in good order', async (disk) => {
  const folder = temporaryFolder();
  const server = await Server.start({ folder, under: disk.under(folder) });
  const wake = server.wake();
  await wake.delivered();
  disk.fill(server);
  await deliverUntilRefused(wake);
  expect((await server.terminate()).code).toBe(0);
});

test('[D25] a log on a full disk: the server goes on, also when it has something to say', async () => {
  const folder = temporaryFolder();
  const port = await freePort();
  const under = ['sh', '-c', 'exec "$@" > /dev/full', 'sh'];
  launch({ folder, under, args: ['--port', String(port)] });
  const url = `http://127.0.0.1:${port}`;
  const isReady = async () => (await fetch(`${url}/readyz`).catch(() => null))?.status === 200;
  await until('the server is ready', isReady);
  const wake = new WakeClient(url, AGENT.key);
  await wake.delivered();
  renameSync(folder, `${folder}-aside`);
  const whileAway = await wake.deliver(); // refused, with a line in the log
  renameSync(`${folder}-aside`, folder);
  expectRefusal(whileAway);
  await wake.delivered();
});
