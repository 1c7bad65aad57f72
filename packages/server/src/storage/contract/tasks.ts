import { describe, expect, test } from 'vitest';
import type { Tx } from '../../core/store.ts';
import type { Frame, StoredEntry } from '../../core/tasks/store.ts';
import type { TaskRecord } from '../../core/tasks/task.ts';
import { aJob } from '../../testing/stores/things.ts';
import type { Fresh } from '../contract.ts';
import { BYTES, openedFor, SPACE } from './opened.ts';

function aTask(over: Partial<TaskRecord> = {}): TaskRecord {
  return {
    space: SPACE,
    seq: 1,
    id: 'task-1',
    agent: 'agent-1',
    context: 'ctx-1',
    caller: 'agent:agent-2',
    dialect: '1.0',
    state: 'submitted',
    createdAt: 10,
    changedAt: 10,
    length: 1,
    logBytes: 300,
    isDirect: false,
    awaitedUntil: 0,
    link: null,
    delivery: null,
    ...over,
  };
}

function anEntry(over: Partial<StoredEntry> = {}): StoredEntry {
  return { pos: 1, kind: 'message', note: '', at: 10, body: BYTES, ...over };
}

function aFrame(place: number, over: Partial<Frame> = {}): Frame {
  return {
    place,
    type: 'task',
    task: { seq: 1, id: 'task-1' },
    pos: 1,
    link: null,
    at: 10,
    body: null,
    ...over,
  };
}

export function describeTasks(fresh: Fresh): void {
  const opened = openedFor(fresh);

  describe('tasks', () => {
    test('[A9] a task comes back as it went in, and as it was changed', async () => {
      const { write, read, store } = await opened();
      const changed = aTask({
        state: 'input_required',
        changedAt: 20,
        length: 3,
        isDirect: true,
        awaitedUntil: 99,
        link: 'link-1',
        delivery: 'delivery-1',
      });
      await write((tx) => tx.tasks.insert(aTask()));
      expect(await read((tx) => tx.tasks.get('task-1'))).toEqual(aTask());
      await write((tx) => tx.tasks.update(changed));
      expect(await read((tx) => tx.tasks.bySeq(1))).toEqual(changed);
      expect(await read((tx) => tx.tasks.get('nobody'))).toBeNull();
      expect(await store.read('sp_2', (tx) => tx.tasks.get('task-1'))).toBeNull();
    });

    test('[A9] the log is read in order, from an entry on, with its bytes', async () => {
      const { write, read } = await opened();
      await write(async (tx) => {
        for (const pos of [1, 2, 3])
          await tx.tasks.append(1, anEntry({ pos, body: pos === 2 ? null : BYTES }), null);
        await tx.tasks.append(2, anEntry(), null);
      });
      const log = await read((tx) => tx.tasks.log(1, 1, 10));
      expect(log.map(({ pos, body }) => [pos, body === null ? null : [...body]])).toEqual([
        [2, null],
        [3, [...BYTES]],
      ]);
      expect(await read((tx) => tx.tasks.entry(1, 4))).toBeNull();
    });

    test('[A24] how much lies in a log is known without its bytes, and its words without the artifacts', async () => {
      const { write, read } = await opened();
      const kinds = ['message', 'artifact', 'status', 'status', 'message'] as const;
      await write(async (tx) => {
        for (const [i, kind] of kinds.entries())
          await tx.tasks.append(1, anEntry({ pos: i + 1, kind, body: i === 2 ? null : BYTES }), null);
        await tx.tasks.append(2, anEntry(), null);
      });
      const size = BYTES.length;
      expect(await read((tx) => tx.tasks.sizes(1, 1, 3))).toEqual([size, 0, size]);
      expect(await read((tx) => tx.tasks.saidSizes(1, 5, 2))).toEqual([
        { pos: 5, size },
        { pos: 4, size },
      ]);
      expect(await read((tx) => tx.tasks.saidSizes(1, 4, 9))).toEqual([
        { pos: 4, size },
        { pos: 1, size },
      ]);
      expect((await read((tx) => tx.tasks.said(1, 1, 4))).map(({ pos }) => pos)).toEqual([1, 4]);
    });

    test('[A8] an entry is found by its key, and a second one of that key is impossible', async () => {
      const { write, read } = await opened();
      await write((tx) => tx.tasks.append(1, anEntry(), 'key-1'));
      expect(await read((tx) => tx.tasks.byKey('key-1'))).toEqual({ seq: 1, pos: 1 });
      expect(await read((tx) => tx.tasks.byKey('key-2'))).toBeNull();
      await expect(write((tx) => tx.tasks.append(1, anEntry({ pos: 2 }), 'key-1'))).rejects.toThrow();
      expect(await read((tx) => tx.tasks.log(1, 0, 10))).toHaveLength(1);
    });

    test('[A22] a list has only what was asked for, newest change first, page by page', async () => {
      const { write, read } = await opened();
      const tasks = [
        aTask({ seq: 1, id: 'a', changedAt: 30 }),
        aTask({ seq: 2, id: 'b', changedAt: 20, state: 'completed' }),
        aTask({ seq: 3, id: 'c', changedAt: 30, context: 'ctx-2' }),
        aTask({ seq: 4, id: 'd', changedAt: 40, caller: 'agent:other' }),
        aTask({ seq: 5, id: 'e', changedAt: 50, isDirect: true }),
        aTask({ seq: 6, id: 'f', changedAt: 60, agent: 'agent-9' }),
      ];
      await write(async (tx) => {
        for (const task of tasks) await tx.tasks.insert(task);
      });
      const mine = { agent: 'agent-1', caller: 'agent:agent-2' };
      const ids = (query: Parameters<Tx['tasks']['list']>[0]) =>
        read(async (tx) => (await tx.tasks.list(query)).map(({ id }) => id).join(''));
      expect(await ids({ ...mine, limit: 10 })).toBe('cab');
      expect(await ids({ ...mine, limit: 2 })).toBe('ca');
      expect(await ids({ ...mine, limit: 10, before: { changedAt: 30, seq: 3 } })).toBe('ab');
      expect(await ids({ ...mine, limit: 10, before: { changedAt: 30, seq: 1 } })).toBe('b');
      expect(await ids({ ...mine, limit: 10, context: 'ctx-2' })).toBe('c');
      expect(await ids({ ...mine, limit: 10, state: 'completed' })).toBe('b');
      expect(await ids({ ...mine, limit: 10, changedAfter: 30 })).toBe('ca');
      expect(await ids({ limit: 10 })).toBe('fdcab');
      expect(await read((tx) => tx.tasks.count(mine, 10))).toBe(3);
      expect(await read((tx) => tx.tasks.count(mine, 2))).toBe(2);
      expect(await read((tx) => tx.tasks.newestIn('agent-1', 'agent:agent-2', 'ctx-1'))).toMatchObject({
        id: 'e',
      });
      expect(await read((tx) => tx.tasks.newestIn('agent-1', 'agent:other', 'ctx-2'))).toBeNull();
      expect(await read((tx) => tx.tasks.hasContext('agent-1', 'ctx-2'))).toBe(true);
      expect(await read((tx) => tx.tasks.hasContext('agent-9', 'ctx-2'))).toBe(false);
    });

    test('[A18][D82] what has ended stays while a caller is still to be told of it', async () => {
      const { write, read } = await opened();
      const push = aJob({ space: SPACE, kind: 'push', delivery: 'task-1', state: 'due' });
      await write(async (tx) => {
        await tx.tasks.insert(aTask({ state: 'completed' }));
        await tx.jobs.insert(push, { url: 'https://example.com', body: '{}' });
      });
      expect(await write((tx) => tx.tasks.deleteEndedBefore(50, 10))).toBe(0);
      expect(await read((tx) => tx.tasks.get('task-1'))).not.toBeNull();
      await write((tx) => tx.jobs.lease([push], 10, 20));
      const ended = { id: push.id, fence: push.fence + 1, state: 'done' as const, dueAt: 10, attempts: 1 };
      await write((tx) => tx.jobs.settle([ended]));
      expect(await write((tx) => tx.tasks.deleteEndedBefore(50, 10))).toBe(1);
    });

    test('[A9] what has ended leaves with all that hangs on it; the rest stays', async () => {
      const { write, read } = await opened();
      await write(async (tx) => {
        await tx.tasks.insert(aTask({ state: 'completed' }));
        await tx.tasks.insert(aTask({ seq: 2, id: 'task-2' }));
        await tx.tasks.insert(aTask({ seq: 3, id: 'task-3', state: 'failed', changedAt: 99 }));
        await tx.tasks.append(1, anEntry(), null);
        await tx.blobs.use(1, 'blob-1');
      });
      expect(await write((tx) => tx.tasks.deleteEndedBefore(50, 10))).toBe(1);
      await read(async (tx) => {
        expect(await tx.tasks.get('task-1')).toBeNull();
        expect(await tx.tasks.log(1, 0, 10)).toEqual([]);
        expect(await tx.blobs.isUsed(1, 'blob-1')).toBe(false);
        expect(await tx.tasks.get('task-2')).not.toBeNull();
        expect(await tx.tasks.get('task-3')).not.toBeNull();
      });
    });
  });

  describe('frames and connections', () => {
    test('[A13] frames are read in order by the connection they are for, until they are acknowledged', async () => {
      const { write, read } = await opened();
      await write(async (tx) => {
        for (const place of [1, 2, 3]) await tx.frames.insert('agent-1', aFrame(place, { link: 'l1' }));
        await tx.frames.insert('agent-1', aFrame(4, { body: BYTES }));
        await tx.frames.insert('agent-2', aFrame(1, { link: 'l1' }));
      });
      const places = (link: string, after = 0) =>
        read(async (tx) => (await tx.frames.forLink('agent-1', link, after, 10)).map(({ place }) => place));
      expect(await places('l1')).toEqual([1, 2, 3]);
      expect(await places('l1', 2)).toEqual([3]);
      expect(await write((tx) => tx.frames.acknowledge('agent-1', 2))).toBe(true);
      expect(await write((tx) => tx.frames.acknowledge('agent-1', 2))).toBe(false);
      expect(await places('l1')).toEqual([1, 3]);
      expect(await read((tx) => tx.frames.waiting('agent-1', 10))).toBe(3);
      expect(await write((tx) => tx.frames.adopt('agent-1', null, 'l2'))).toBe(1);
      expect(await places('l2')).toEqual([4]);
    });

    test('[A13] a connection that is gone leaves its frames and tasks to another, or to nobody', async () => {
      const { write, read } = await opened();
      await write(async (tx) => {
        await tx.tasks.insert(aTask({ link: 'l1' }));
        await tx.frames.insert('agent-1', aFrame(1, { link: 'l1' }));
      });
      expect(await write((tx) => tx.frames.adopt('agent-1', 'l1', null))).toBe(1);
      expect((await read((tx) => tx.tasks.get('task-1')))?.link).toBeNull();
      expect(await write((tx) => tx.frames.removeUnsent('agent-1', 1))).toBe(1);
      expect(await read((tx) => tx.frames.waiting('agent-1', 10))).toBe(0);
    });

    test('[A14] connections are renewed, found when their time is up, and removed', async () => {
      const { write, read, store } = await opened();
      const link = { agent: 'agent-1', id: 'l1', since: 10, until: 70 };
      await write((tx) => tx.links.insert(link));
      expect(await read((tx) => tx.links.of('agent-1'))).toEqual([link]);
      expect(await read((tx) => tx.links.live(70))).toEqual([]);
      expect(await store.directory.lostLinks(70, 10)).toEqual([
        { space: SPACE, agent: 'agent-1', link: 'l1' },
      ]);
      const renewed = (now: number) =>
        write((tx) => tx.links.renew('agent-1', 'l1', { now, until: now + 60 }));
      expect(await renewed(70)).toBe(false);
      expect(await renewed(40)).toBe(true);
      expect(await store.directory.lostLinks(70, 10)).toEqual([]);
      expect(await read((tx) => tx.links.live(70))).toHaveLength(1);
      expect(await write((tx) => tx.links.remove('agent-1', 'l1'))).toBe(true);
      expect(await renewed(90)).toBe(false);
    });
  });
}
