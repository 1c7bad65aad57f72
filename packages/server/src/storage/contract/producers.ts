import { expect, test } from 'vitest';
import { everything } from '../../core/events/subscriptions/subscription.ts';
import { aProducer, aProducerKey, aRefusal } from '../../testing/stores/event-things.ts';
import type { Fresh } from '../contract.ts';
import { openedFor, SPACE } from './opened.ts';

export function describeProducers(fresh: Fresh): void {
  const opened = openedFor(fresh);

  test('[K5] a producer and its keys come back as they went in; the secret opens with its row', async () => {
    const { write, read } = await opened();
    const key = aProducerKey({ expiresAt: 9, algorithm: 'v1a' });
    await write(async (tx) => {
      await tx.producers.insert(aProducer({ anyId: true }));
      await tx.producers.insertKey(key, 'whsec_ä');
      await tx.producers.seen('prod_one', 5);
    });
    await read(async (tx) => {
      expect(await tx.producers.get('prod_one')).toEqual(aProducer({ anyId: true, lastSeenAt: 5 }));
      expect(await tx.producers.list()).toHaveLength(1);
      expect(await tx.producers.keys('prod_one')).toEqual([key]);
      expect(await tx.producers.secret('key_one')).toBe('whsec_ä');
      expect(await tx.producers.secret('unknown')).toBeNull();
    });
    expect(await read((tx) => tx.producers.secret('key_one'), 'sp_2')).toBeNull();
    await write((tx) => tx.producers.setSecret('key_one', 'another'));
    expect(await read((tx) => tx.producers.secret('key_one'))).toBe('another');
  });

  test('[K5] a key id belongs to one producer on the whole server, and finds it', async () => {
    const { store, write } = await opened();
    await write(async (tx) => {
      await tx.producers.insert(aProducer());
      await tx.producers.insertKey(aProducerKey(), 'one');
    });
    const other = aProducer({ space: 'sp_2' });
    const taken = write(async (tx) => {
      await tx.producers.insert(other);
      await tx.producers.insertKey(aProducerKey({ space: 'sp_2' }), 'two');
    }, 'sp_2');
    await expect(taken).rejects.toThrow();
    expect(await store.read('sp_2', (tx) => tx.producers.get('prod_one'))).toBeNull();
    const found = await store.directory.producerKey('key_one');
    expect(found).toMatchObject({ secret: 'one', key: { space: SPACE }, producer: { id: 'prod_one' } });
    expect(await store.directory.producerKey('unknown')).toBeNull();
  });

  test('[K1] keys that may sign without a name: active ones, newest first, of one space or of all', async () => {
    const { store, write } = await opened();
    await write(async (tx) => {
      await tx.producers.insert(aProducer());
      const keys = [
        aProducerKey({ id: 'old', createdAt: 1 }),
        aProducerKey({ id: 'new', createdAt: 2 }),
        aProducerKey({ id: 'ends', createdAt: 3, expiresAt: 50 }),
        aProducerKey({ id: 'revoked', createdAt: 4, revokedAt: 5 }),
        aProducerKey({ id: 'ed25519', createdAt: 5, algorithm: 'v1a' }),
      ];
      for (const key of keys) await tx.producers.insertKey(key, key.id);
    });
    await write(async (tx) => {
      await tx.producers.insert(aProducer({ space: 'sp_2' }));
      await tx.producers.insertKey(aProducerKey({ space: 'sp_2', id: 'other', createdAt: 9 }), 'other');
    }, 'sp_2');
    const ids = async (space: string | null, now: number, limit: number) =>
      (await store.directory.unnamedKeys(space, now, limit)).map(({ key }) => key.id);
    expect(await ids(SPACE, 49, 10)).toEqual(['ends', 'new', 'old']);
    expect(await ids(SPACE, 50, 10)).toEqual(['new', 'old']);
    expect(await ids(null, 50, 2)).toEqual(['other', 'new']);
  });

  test('[K24] keys end: the others after an overlap, one at once', async () => {
    const { write, read } = await opened();
    await write(async (tx) => {
      await tx.producers.insert(aProducer());
      for (const id of ['one', 'two', 'three']) await tx.producers.insertKey(aProducerKey({ id }), id);
      expect(await tx.producers.revokeKey('one', 5)).toBe(1);
      expect(await tx.producers.revokeKey('one', 6)).toBe(0);
      expect(await tx.producers.expireOthers('prod_one', 'three', 70)).toBe(1);
      await tx.producers.setKeyEnd('three', 90);
    });
    const keys = await read((tx) => tx.producers.keys('prod_one'));
    const ends = keys.map(({ id, expiresAt, revokedAt }) => [id, expiresAt, revokedAt]).sort();
    expect(ends).toEqual([
      ['one', null, 5],
      ['three', 90, null],
      ['two', 70, null],
    ]);
  });

  test('[K35] refusals are listed newest first, and leave by age', async () => {
    const { write, read } = await opened();
    await write(async (tx) => {
      for (const at of [1, 3, 2]) await tx.producers.insertRefusal(aRefusal({ at, eventId: null }));
    });
    const times = () => read(async (tx) => (await tx.producers.refusals('prod_one', 10)).map((r) => r.at));
    expect(await times()).toEqual([3, 2, 1]);
    expect(await write((tx) => tx.producers.deleteRefusalsBefore(3))).toBe(2);
    expect(await times()).toEqual([3]);
  });

  test('[K18] a subscription comes back as it went in, changes, and ends; its secret is its own', async () => {
    const { write, read } = await opened();
    const made = everything(SPACE, 'sub_1', 'agent-1', 1);
    await write(async (tx) => {
      await tx.subscriptions.insert(made);
      await tx.subscriptions.insert(everything(SPACE, 'sub_2', 'agent-2', 2));
      await tx.subscriptions.setSecret('sub_1', 'whsec_x');
    });
    const changed = { ...made, isDefault: false, body: { ...made.body, event_types: ['tool.completed'] } };
    await write((tx) => tx.subscriptions.update(changed));
    await read(async (tx) => {
      expect(await tx.subscriptions.get('sub_1')).toEqual(changed);
      expect((await tx.subscriptions.all()).map(({ id }) => id).sort()).toEqual(['sub_1', 'sub_2']);
      expect((await tx.subscriptions.of('agent-2')).map(({ id }) => id)).toEqual(['sub_2']);
      expect(await tx.subscriptions.secret('sub_1')).toBe('whsec_x');
      expect(await tx.subscriptions.secret('sub_2')).toBeNull();
    });
    expect(await read((tx) => tx.subscriptions.all(), 'sp_2')).toEqual([]);
    expect(await write((tx) => tx.subscriptions.delete('sub_1'))).toBe(1);
    expect(await write((tx) => tx.subscriptions.delete('sub_1'))).toBe(0);
  });
}
