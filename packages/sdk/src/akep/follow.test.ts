import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { event, inboxScript, page, resume, resumePage, startInbox } from '../testing/inbox.ts';
import { fileCursor, type Place } from './cursor.ts';

const vectors: { cursors: string[]; place: Place; not_a_place: string[] } = JSON.parse(
  readFileSync(new URL('../../../../spec/vectors/akep.json', import.meta.url), 'utf8'),
);
const THREE = ['evt_1', 'evt_2', 'evt_3'].map((id) => event(id));
const cursorOf = (url: string) => new URL(url, 'http://room').searchParams.get('cursor');

async function freshPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lantern-cursor-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return join(folder, 'deep', 'inbox.cursor');
}

async function take<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  for await (const item of items) {
    taken.push(item);
    if (taken.length === count) break;
  }
  return taken;
}

describe('reading the inbox', () => {
  it('[K11] every event comes once and in order, over page borders', async () => {
    const world = await startInbox(inboxScript(THREE, { size: 2 }));
    const ids = (await take(world.inbox.events({ once: true }), 9)).map((one) => one.event_id);
    expect(ids).toEqual(['evt_1', 'evt_2', 'evt_3']);
  });

  it('[K11] a place that cannot be kept is told, and leaves nothing behind', async () => {
    const path = await freshPath();
    await mkdir(join(path, 'in the way'), { recursive: true });
    await expect(fileCursor(path).save(vectors.place)).rejects.toMatchObject({ fault: 'cursor_failed' });
    expect(await readdir(dirname(path))).toEqual(['inbox.cursor']);
  });

  it('[K12] it looks at once, then waits for more by long-poll after the last cursor', async () => {
    const world = await startInbox((_, count) => {
      if (count === 1) return page([], 'c0');
      return count === 2 ? { status: 204 } : page([event('evt_9')], 'c1');
    });
    await take(world.inbox, 1);
    expect(world.seen.map((one) => one.url)).toEqual([
      '/akep/events?limit=100',
      '/akep/events/wait?limit=100&cursor=c0&timeout_seconds=50',
      '/akep/events/wait?limit=100&cursor=c0&timeout_seconds=50',
    ]);
    expect(world.clock.naps).toEqual([1_000]);
  });

  it.each(vectors.cursors)('[K11] the cursor %j goes back as it came', async (cursor) => {
    const world = await startInbox((_, count) => page([event(`evt_${count}`)], cursor));
    await take(world.inbox, 2);
    expect(world.seen.map((one) => cursorOf(one.url))).toEqual([null, cursor]);
  });

  it('[K11] only the wanted types are handed out; the others are skipped', async () => {
    const mixed = [event('evt_1'), event('evt_2', { event_type: 'human.approved' }), event('evt_3')];
    const world = await startInbox(inboxScript(mixed));
    const got = await take(world.inbox.events({ types: ['human.approved'], once: true }), 9);
    expect(got.map((one) => one.event_id)).toEqual(['evt_2']);
    expect(await take(world.inbox.events({ once: true }), 9)).toEqual([]);
  });

  it('[K17] a cursor that has expired is told, and reading goes on from the oldest', async () => {
    const gaps: object[] = [];
    const expired = {
      status: 410,
      body: { error: 'No longer kept. Go on from oldest_cursor.', oldest_cursor: 'c7' },
    };
    const load = async () => vectors.place;
    const world = await startInbox(
      (seen) => (cursorOf(seen.url) === 'c7' ? page([event('evt_8')], 'c8') : expired),
      { cursor: { load, save: async () => undefined }, onCursorExpired: (gap) => gaps.push(gap) },
    );
    expect(await take(world.inbox, 1)).toEqual([event('evt_8')]);
    expect(gaps).toEqual([{ expiredCursor: vectors.place.events.cursor, oldestCursor: 'c7' }]);
    expect(world.logged()).toEqual(['cursor_expired']);
  });

  it('[K17] a 410 that leads nowhere is an error and not a loop', async () => {
    const nowhere = await startInbox(() => ({ status: 410, body: { error: 'Gone.' } }));
    await expect(take(nowhere.inbox, 1)).rejects.toMatchObject({ fault: 'refused' });
    const circle = await startInbox(() => ({ status: 410, body: { error: 'x', oldest_cursor: 'c1' } }));
    await expect(take(circle.inbox, 1)).rejects.toMatchObject({ fault: 'cursor_expired' });
    expect(circle.seen).toHaveLength(2);
  });

  it('[K11] a server that promises more without a way to it is not asked for ever', async () => {
    const world = await startInbox(() => page([], 'c0', true));
    await expect(take(world.inbox, 1)).rejects.toMatchObject({ fault: 'bad_reply' });
    expect(world.seen).toHaveLength(2);
  });

  it.each(['[]', '{"events":[{}],"next_cursor":"c"}', '{"events":[]}', '<html>'])(
    '[K11] %s is no page',
    async (body) => {
      const world = await startInbox(() => ({ status: 200, body }));
      await expect(take(world.inbox, 1)).rejects.toMatchObject({ fault: 'bad_reply' });
    },
  );

  it('[K12] a restart of the server is waited for, but a wrong address is told at once', async () => {
    const world = await startInbox((_, count) => {
      if (count === 1) return page([], 'c0');
      return count < 12 ? { status: 503 } : page([event('evt_9')], 'c1');
    });
    expect(await take(world.inbox, 1)).toHaveLength(1);
    const wrong = await startInbox(() => 'hang_up');
    await expect(take(wrong.inbox, 1)).rejects.toMatchObject({ fault: 'unreachable' });
  });

  it.each([401, 403])('[K11] after %i it stops, and says what to do once', async (status) => {
    const world = await startInbox(() => ({ status, body: { error: 'This token is not valid here.' } }));
    await expect(take(world.inbox, 1)).rejects.toThrow(/stop, ask a person for a new key/);
    await expect(world.inbox.task('task_42')).rejects.toThrow();
    expect(world.seen).toHaveLength(1);
    expect(world.alerts).toHaveLength(1);
  });

  it('[K21] resumes are read from where the last reader stopped', async () => {
    const script = inboxScript([], { resumes: [resume('res_1'), resume('res_2')] });
    const world = await startInbox(script);
    expect(await take(world.inbox.resumes(), 1)).toEqual([resume('res_1')]);
    const rest = await take(world.inbox.resumes({ once: true }), 9);
    expect(rest.map((one) => one.resume_id)).toEqual(['res_1', 'res_2']);
    expect(await take(world.inbox.resumes({ once: true }), 9)).toEqual([]);
  });

  it('[K41] and waited for when there are none', async () => {
    const world = await startInbox((_, count) => {
      if (count === 1) return resumePage([], 'c1');
      return count < 4 ? { status: 204 } : resumePage([resume('res_1')], 'c2');
    });
    await take(world.inbox.resumes(), 1);
    const held = '/akep/resumes/wait?limit=100&cursor=c1&timeout_seconds=50';
    expect(world.seen.map((one) => one.url)).toEqual(['/akep/resumes?limit=100', held, held, held]);
    expect(world.clock.naps).toEqual([1_000, 1_000]);
  });
});

describe('the cursor file', () => {
  it('[K11] is readable by its owner only, is replaced as a whole, and holds what comes next', async () => {
    const path = await freshPath();
    const world = await startInbox(inboxScript(THREE, { size: 2 }), { cursor: path });
    const read: string[] = [];
    for await (const { event_id } of world.inbox.events({ once: true })) {
      read.push(event_id);
      if (read.length === 2) break;
    }
    expect(JSON.parse(await readFile(path, 'utf8'))).toEqual({
      events: { cursor: null, done: ['prod_exporter evt_1'] },
      resumes: { cursor: null, done: [] },
    });
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(dirname(path))).toEqual(['inbox.cursor']);
  });

  it('[K11] an event counts as read when the next one is asked for, also over a restart', async () => {
    const path = await freshPath();
    const world = await startInbox(inboxScript(THREE), { cursor: path });
    await take(world.inbox, 2);
    const rest = await take(world.open().events({ once: true }), 9);
    expect(rest.map((one) => one.event_id)).toEqual(['evt_2', 'evt_3']);
    expect(await take(world.open().events({ once: true }), 9)).toEqual([]);
  });

  it('[K11] the place of another client is understood', async () => {
    const path = await freshPath();
    const world = await startInbox(() => page([event('evt_export_0001'), event('evt_2')], 'c9'), {
      cursor: path,
    });
    await writeFile(join(dirname(dirname(path)), 'place'), JSON.stringify(vectors.place));
    const inbox = world.open({ cursor: join(dirname(dirname(path)), 'place') });
    expect((await take(inbox.events({ once: true }), 9)).map((one) => one.event_id)).toEqual(['evt_2']);
    expect(cursorOf(world.seen[0]?.url ?? '')).toBe(vectors.place.events.cursor);
  });

  it.each(vectors.not_a_place)('[K11] %j is refused as a place, and nothing is read twice', async (text) => {
    const path = join(await freshPath(), '..', '..', 'broken');
    await writeFile(path, text);
    const world = await startInbox(inboxScript(THREE), { cursor: path });
    await expect(take(world.inbox, 1)).rejects.toMatchObject({ fault: 'cursor_failed' });
    expect(world.seen).toEqual([]);
  });

  it('[K11] one that cannot be written stops the reader with a sentence', async () => {
    const folder = join(await freshPath(), '..', '..');
    const world = await startInbox(inboxScript(THREE), { cursor: join(folder, 'file', 'below') });
    await writeFile(join(folder, 'file'), '');
    await expect(take(world.inbox, 2)).rejects.toMatchObject({ fault: 'cursor_failed' });
  });

  it('[K11] the cursor of another inbox leads to a sentence about the file', async () => {
    const body = { error: 'This cursor does not belong to this inbox.', path: 'cursor' };
    const world = await startInbox(() => ({ status: 400, body }));
    await expect(take(world.inbox, 1)).rejects.toMatchObject({
      fault: 'cursor_failed',
      message: expect.stringContaining('one cursor file for each agent'),
    });
  });
});
