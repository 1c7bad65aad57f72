import { describe, expect, test } from 'vitest';
import type { Store, Tx } from '../../core/store.ts';
import { defaultCard } from '../../core/tasks/card.ts';
import type { Frame, StoredEntry } from '../../core/tasks/store.ts';
import type { TaskRecord } from '../../core/tasks/task.ts';
import { anAgent } from '../../testing/things.ts';
import type { Fresh } from '../contract.ts';

const SPACE = 'sp_1';
const BYTES = new Uint8Array([0, 1, 254, 255]);

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
  const opened = async () => {
    const { store } = await fresh();
    return {
      store: store as Store,
      write: <T>(work: (tx: Tx) => Promise<T>) => store.write(SPACE, [], work),
      read: <T>(work: (tx: Tx) => Promise<T>) => store.read(SPACE, work),
    };
  };

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
      expect(await write((tx) => tx.links.renew('agent-1', 'l1', 100))).toBe(true);
      expect(await store.directory.lostLinks(70, 10)).toEqual([]);
      expect(await read((tx) => tx.links.live(70))).toHaveLength(1);
      expect(await write((tx) => tx.links.remove('agent-1', 'l1'))).toBe(true);
      expect(await write((tx) => tx.links.renew('agent-1', 'l1', 200))).toBe(false);
    });
  });

  describe('callers, cards, pushes, content and keys', () => {
    test('[A21] a caller token is found by its digest, and ends once', async () => {
      const { write, read, store } = await opened();
      const token = {
        space: SPACE,
        id: 'caller_1',
        agent: 'agent-1',
        name: 'a partner',
        digest: 'd1',
        lastFour: 'abcd',
        createdAt: 10,
        expiresAt: null,
        revokedAt: null,
        lastUsedAt: null,
      };
      await write((tx) => tx.callers.insert(token));
      expect(await store.directory.callerByDigest('d1')).toEqual(token);
      // Two servers write down what each has seen, in any order.
      for (const at of [12, 15, 13]) await write((tx) => tx.callers.used('caller_1', at));
      expect(await store.directory.callerByDigest('d1')).toEqual({ ...token, lastUsedAt: 15 });
      expect(await write((tx) => tx.callers.revoke('agent-2', 'caller_1', 20))).toBe(false);
      expect(await write((tx) => tx.callers.revoke('agent-1', 'caller_1', 20))).toBe(true);
      expect(await write((tx) => tx.callers.revoke('agent-1', 'caller_1', 30))).toBe(false);
      expect(await read((tx) => tx.callers.list('agent-1'))).toEqual([
        { ...token, revokedAt: 20, lastUsedAt: 15 },
      ]);
    });

    test('[A1] an agent is found by its address, with its card when it has one', async () => {
      const { write, store } = await opened();
      expect(await store.directory.agentAddress('home', 'agent-01')).toBeNull();
      await write(async (tx) => {
        await tx.spaces.insert({ id: SPACE, handle: 'home', createdAt: 1, pushTargets: null });
        await tx.agents.insert(anAgent(), []);
      });
      const bare = await store.directory.agentAddress('home', 'agent-01');
      expect(bare).toMatchObject({ space: SPACE, isSample: false, card: null });
      const card = defaultCard({ id: 'agent-01', createdAt: 1 });
      await write((tx) => tx.cards.put('agent-01', { ...card, visibility: 'public' }));
      const dressed = await store.directory.agentAddress('home', 'agent-01');
      expect(dressed?.card).toEqual({ ...card, visibility: 'public' });
      expect(await store.directory.agentAddress('elsewhere', 'agent-01')).toBeNull();
    });

    test('[A2] a card is put and put again', async () => {
      const { write, read } = await opened();
      const card = {
        description: 'ä',
        version: '1',
        skills: [],
        inputModes: ['text/plain'],
        outputModes: ['text/plain'],
        provider: null,
        documentationUrl: null,
        iconUrl: null,
        visibility: 'space' as const,
        isPrivate: true,
        waitSeconds: 30,
        changedAt: 10,
      };
      expect(await read((tx) => tx.cards.get('agent-1'))).toBeNull();
      await write((tx) => tx.cards.put('agent-1', card));
      await write((tx) => tx.cards.put('agent-1', { ...card, visibility: 'public', changedAt: 20 }));
      expect(await read((tx) => tx.cards.get('agent-1'))).toEqual({
        ...card,
        visibility: 'public',
        changedAt: 20,
      });
    });

    test('[A18] a push configuration is replaced under its id and keeps its place in the log', async () => {
      const { write, read } = await opened();
      const push = { task: 1, id: 'p', dialect: '1.0', sentPos: 1, job: null, createdAt: 10, body: BYTES };
      await write((tx) => tx.pushes.put(push));
      await write((tx) => tx.pushes.advance(1, 'p', { sentPos: 5, job: 'job-1' }));
      await write((tx) => tx.pushes.put({ ...push, dialect: 'seed' }));
      expect(await read((tx) => tx.pushes.get(1, 'p'))).toMatchObject({
        dialect: 'seed',
        sentPos: 5,
        job: 'job-1',
      });
      expect(await read((tx) => tx.pushes.of(2))).toEqual([]);
      expect(await write((tx) => tx.pushes.remove(1, 'p'))).toBe(true);
      expect(await write((tx) => tx.pushes.remove(1, 'p'))).toBe(false);
    });

    test('[A20] content is kept in chunks, found by its digest, and unused only while nobody uses it', async () => {
      const { write, read } = await opened();
      const blob = { id: 'b1', agent: 'agent-1', digest: null, size: 0, chunks: 0, createdAt: 10 };
      await write(async (tx) => {
        await tx.blobs.insert(blob);
        await tx.blobs.insertChunk('b1', 0, BYTES);
        await tx.blobs.finish('b1', { digest: 'd', size: 4, chunks: 1 });
      });
      expect(await read((tx) => tx.blobs.byDigest('d'))).toEqual({
        ...blob,
        digest: 'd',
        size: 4,
        chunks: 1,
      });
      expect([...((await read((tx) => tx.blobs.chunk('b1', 0))) ?? [])]).toEqual([...BYTES]);
      expect(await read((tx) => tx.blobs.unused(11, 10))).toEqual(['b1']);
      expect(await read((tx) => tx.blobs.unused(10, 10))).toEqual([]);
      await write((tx) => tx.blobs.renew('b1', 12));
      expect(await read((tx) => tx.blobs.unused(12, 10))).toEqual([]);
      expect(await read((tx) => tx.blobs.unused(13, 10))).toEqual(['b1']);
      await write((tx) => tx.blobs.use(1, 'b1'));
      await write((tx) => tx.blobs.use(1, 'b1'));
      expect(await read((tx) => tx.blobs.unused(13, 10))).toEqual([]);
      await write((tx) => tx.blobs.remove('b1'));
      expect(await read((tx) => tx.blobs.chunk('b1', 0))).toBeNull();
    });

    test('[A3] signing keys are listed newest first, and retired', async () => {
      const { write, read } = await opened();
      const key = (id: string, createdAt: number) => ({
        id,
        jwk: `{"d":"${id}"}`,
        createdAt,
        retiredAt: null,
      });
      await write((tx) => tx.signing.insert(key('old', 1)));
      await write((tx) => tx.signing.insert(key('new', 2)));
      await write((tx) => tx.signing.retire('old', 2));
      expect(await read((tx) => tx.signing.list())).toEqual([
        key('new', 2),
        { ...key('old', 1), retiredAt: 2 },
      ]);
    });
  });
}
