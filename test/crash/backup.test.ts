import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Child, LANTERNROOM, lanternroom, node } from '../support/command.ts';
import { temporaryFolder } from '../support/folder.ts';
import { Seeded } from '../support/random.ts';
import { startReceiver } from '../support/receiver.ts';
import { Server } from '../support/server.ts';
import { each, until } from '../support/until.ts';
import { Load } from './load.ts';
import { type Asked, Notebook } from './notebook.ts';
import { verifyLedger } from './promises.ts';
import { fullDisks } from './small-disk.ts';

type Promised = { id: string; undone: string; withdrawn: string; asked: Asked[] };

/** What clients had been told by now: a backup that begins later has all of it. */
function promised(book: Notebook): Promised[] {
  return book.entries.flatMap(({ id, busy, asked, undone, withdrawn }) =>
    id === null || busy ? [] : [{ id, undone, withdrawn, asked: asked.map((one) => ({ ...one })) }],
  );
}

async function backUp(server: Server, file: string): Promise<void> {
  const { code, stderr } = await lanternroom(['backup', file, '--json', '--data', server.folder]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}

/** Into a folder of its own, with the key that goes with it. */
async function restore(server: Server, file: string): Promise<Server> {
  const folder = join(temporaryFolder(), 'restored');
  const { code, stderr } = await lanternroom(['restore', file, '--json', '--data', folder]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  writeFileSync(join(folder, 'secret.key'), readFileSync(join(server.folder, 'secret.key')), { mode: 0o600 });
  await verifyLedger(folder);
  return Server.start({ folder, env: { LANTERNROOM_UNDO_SECONDS: '1' } });
}

test('[D32][D21] a backup that was taken under load has everything that was answered before it began', async () => {
  const receiver = await startReceiver((reply) => void reply.writeHead(204).end());
  const book = new Notebook(receiver);
  const env = { LANTERNROOM_UNDO_SECONDS: '1', LANTERNROOM_INIT_CALLBACKS: receiver.origin };
  const server = await Server.start({ env });
  const desk = await server.desk();
  const load = new Load({ wake: server.wake(), desk, book, random: new Seeded(20261115) });
  const before = await until('there is something to lose', () => {
    const now = promised(book);
    return now.filter(({ asked }) => asked.length > 0).length > 40 && now;
  });
  const file = join(temporaryFolder(), 'lanternroom.backup');
  await backUp(server, file);
  const meanwhile = book.entries.length;
  await until('the load goes on behind it', () => book.entries.length > meanwhile + 5);
  await load.end();
  expect((await server.terminate()).code).toBe(0);

  const restored = await restore(server, file);
  const copy = desk.at(restored.url); // the session is in the backup too
  await each(before, async ({ id, asked, undone, withdrawn }) => {
    const detail = await copy.detail(id);
    const known = detail.decisions.map((d) => d.feedback);
    for (const { reply, feedback } of asked) {
      if (reply === 'held' || reply === 'decided') expect(known).toContain(feedback);
    }
    if (undone === 'acknowledged') expect(detail.decisions.map((d) => d.state)).toContain('undone');
    if (withdrawn === 'acknowledged') expect(detail.state).toBe('withdrawn');
  });
  // It goes on from there: what was held in the copy takes effect, and new work is taken.
  const held = before.map(({ id }) => id);
  await until('nothing is held any more', async () => {
    const details = await Promise.all(held.map((id) => copy.detail(id)));
    return details.every((detail) => detail.state !== 'held');
  });
  await restored.wake().delivered();
  const { json } = await copy.request<{ ok: boolean }>('GET', '/desk/audit/verify');
  expect(json.ok).toBe(true);
});

test.each(fullDisks())(
  '[D31][D32] a backup or a restore onto $name ends with what to do',
  async ({ under }) => {
    const server = await Server.start();
    await server.terminate();
    const file = join(temporaryFolder(), 'lanternroom.backup');
    await backUp(server, file);
    const room = temporaryFolder();
    for (const args of [
      ['backup', join(room, 'b'), '--data', server.folder],
      ['restore', file, '--data', room],
    ]) {
      const { code, stdout, stderr } = await new Child([...under(room), ...node(LANTERNROOM, args)]).ended;
      expect({ args, code, stdout }).toEqual({ args, code: 1, stdout: '' });
      expect(stderr).toMatch(
        /^(The disk of \S+ (is full\. Free|does not take)|\S+ does not take the copy) .*\.\n$/,
      );
    }
  },
);
