import { expect, test } from 'vitest';
import { defaultCard } from '../../core/tasks/callers/card.ts';
import { anAgent } from '../../testing/stores/things.ts';
import type { Fresh } from '../contract.ts';
import { BYTES, openedFor, SPACE } from './opened.ts';

/** Who calls agents, and what they are shown and sent. */
export function describeCalling(fresh: Fresh): void {
  const opened = openedFor(fresh);

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
    const ended = { ...token, revokedAt: 20, lastUsedAt: 15 };
    expect(await read((tx) => tx.callers.list('agent-1'))).toEqual([ended]);
    expect(await read((tx) => tx.callers.get('agent-1', 'caller_1'))).toEqual(ended);
    expect(await read((tx) => tx.callers.get('agent-2', 'caller_1'))).toBeNull();
  });

  test('[A21] of more than a thousand caller tokens the newest come first, and each can be found', async () => {
    const { write, read } = await opened();
    const token = (n: number) => ({
      space: SPACE,
      id: `caller_${n}`,
      agent: 'agent-1',
      name: 'a partner',
      digest: `d${n}`,
      lastFour: 'abcd',
      createdAt: n,
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
    });
    await write(async (tx) => {
      for (let n = 1; n <= 1_005; n++) await tx.callers.insert(token(n));
    });
    const listed = await read((tx) => tx.callers.list('agent-1'));
    expect(listed.map(({ createdAt }) => createdAt).slice(0, 3)).toEqual([1_005, 1_004, 1_003]);
    expect(await read((tx) => tx.callers.get('agent-1', 'caller_1'))).toEqual(token(1));
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
    const blob = {
      id: 'b1',
      agent: 'agent-1',
      digest: null,
      size: 0,
      chunks: 0,
      createdAt: 10,
      isUnnamed: true,
    };
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

  test('[A20] uploads that no artifact names are counted per agent, with what has come of them', async () => {
    const { write, read } = await opened();
    const blob = { digest: null, size: 0, chunks: 0, createdAt: 10, isUnnamed: true };
    await write(async (tx) => {
      for (const id of ['b1', 'b2']) await tx.blobs.insert({ ...blob, id, agent: 'agent-1' });
      await tx.blobs.insert({ ...blob, id: 'older', agent: 'agent-1', size: 70, createdAt: 9 });
      await tx.blobs.insert({ ...blob, id: 'another', agent: 'agent-2', size: 70 });
      await tx.blobs.insert({ ...blob, id: 'in a frame', agent: 'agent-1', size: 70, isUnnamed: false });
    });
    const unnamed = () => read((tx) => tx.blobs.unnamed('agent-1', 10));
    expect(await unnamed()).toEqual({ count: 2, bytes: 0 });
    await write((tx) => tx.blobs.grow('b1', 5 * 1024 ** 3));
    await write((tx) => tx.blobs.finish('b2', { digest: 'd', size: 4, chunks: 1 }));
    expect(await unnamed()).toEqual({ count: 2, bytes: 5 * 1024 ** 3 + 4 });
    await write((tx) => tx.blobs.use(1, 'b1'));
    expect(await unnamed()).toEqual({ count: 1, bytes: 4 });
    expect(await read((tx) => tx.blobs.get('b1'))).toMatchObject({ isUnnamed: false });
    await write((tx) => tx.blobs.remove('b2'));
    expect(await unnamed()).toEqual({ count: 0, bytes: 0 });
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
}
