import { expect, test } from 'vitest';
import type { PasskeyRecord } from '../../core/people/passkeys/passkey.ts';
import {
  aCheckpoint,
  aKey,
  aLine,
  anAgent,
  anIdempotencyRecord,
  aPasskey,
  aPerson,
  aSession,
  aToken,
} from '../../testing/stores/things.ts';
import type { Fresh } from '../contract.ts';

const SPACE = 'sp_1';

export function describePeople(fresh: Fresh): void {
  test('[D27] a space is found by its handle, and a handle belongs to one space', async () => {
    const { store } = await fresh();
    const home = { id: SPACE, handle: 'home', createdAt: 1, pushTargets: null };
    await store.write(SPACE, [], (tx) => tx.spaces.insert(home));
    expect(await store.read(SPACE, (tx) => tx.spaces.get())).toEqual(home);
    expect(await store.directory.spaceByHandle('home')).toEqual(home);
    expect(await store.directory.spaceByHandle('nowhere')).toBeNull();
    const twin = store.write('sp_2', [], (tx) => tx.spaces.insert({ ...home, id: 'sp_2' }));
    await expect(twin).rejects.toThrow();
    expect(await store.directory.spaces()).toEqual([home]);
  });

  test('[A18] a space keeps a list of push targets, an empty one, or none', async () => {
    const { store } = await fresh();
    const home = { id: SPACE, handle: 'home', createdAt: 1, pushTargets: ['https://a.example'] };
    await store.write(SPACE, [], (tx) => tx.spaces.insert(home));
    expect(await store.directory.spaceByHandle('home')).toEqual(home);
    for (const pushTargets of [['https://b.example', 'https://c.example/x'], [], null]) {
      await store.write(SPACE, [], (tx) => tx.spaces.setPushTargets(pushTargets));
      expect(await store.read(SPACE, (tx) => tx.spaces.get())).toEqual({ ...home, pushTargets });
    }
  });

  test('[D1] a person is found by id and by e-mail, once in a space', async () => {
    const { store } = await fresh();
    const olga = aPerson({ id: 'pe_olga', createdAt: 2 });
    const anna = aPerson({ id: 'pe_anna', createdAt: 1, role: 'reader' });
    await store.write(SPACE, [], async (tx) => {
      await tx.people.insert(olga);
      await tx.people.insert(anna);
      await tx.people.setPassword(anna.id, 'a hash');
    });
    const withPassword = { ...anna, passwordHash: 'a hash' };
    await store.read(SPACE, async (tx) => {
      expect(await tx.people.get(olga.id)).toEqual(olga);
      expect(await tx.people.get('pe_nobody')).toBeNull();
      expect(await tx.people.byEmail(anna.email)).toEqual(withPassword);
      expect(await tx.people.byEmail('nobody@example.com')).toBeNull();
      expect(await tx.people.list()).toEqual([withPassword, olga]);
    });
    expect(await store.directory.peopleByEmail(anna.email)).toEqual([withPassword]);
    const again = store.write(SPACE, [], (tx) => tx.people.insert({ ...anna, id: 'pe_other' }));
    await expect(again).rejects.toThrow();
  });

  test('[D54] a passkey is found by its digest, belongs to one person, and keeps its counter', async () => {
    const { store } = await fresh();
    const laptop = aPasskey();
    const phone = aPasskey({ id: 'pk_2', digest: 'other', createdAt: 2 });
    await store.write(SPACE, [], async (tx) => {
      await tx.passkeys.insert(phone);
      await tx.passkeys.insert(laptop);
      await tx.passkeys.insert(aPasskey({ id: 'pk_3', digest: 'theirs', person: 'pe_2' }));
      await tx.passkeys.rename('pk_2', 'phone');
      await tx.passkeys.used('pk_2', 7, 9);
    });
    const used = { ...phone, name: 'phone', counter: 7, lastUsedAt: 9 };
    // Stores give bytes back in arrays of different classes.
    const plain = (k: PasskeyRecord | null) => k && { ...k, credential: [...k.credential] };
    const mine = await store.read(SPACE, (tx) => tx.passkeys.of('pe_1'));
    expect(mine.map(plain)).toEqual([laptop, used].map(plain));
    expect(plain(await store.directory.passkeyByDigest('other'))).toEqual(plain(used));
    const twin = store.write('sp_2', [], (tx) => tx.passkeys.insert(aPasskey({ space: 'sp_2' })));
    await expect(twin).rejects.toThrow();
    await store.write(SPACE, [], async (tx) => {
      await tx.passkeys.remove('pk_1');
      await tx.passkeys.removeOf('pe_2');
    });
    expect(await store.directory.passkeyByDigest('digest')).toBeNull();
    expect(await store.directory.passkeyByDigest('theirs')).toBeNull();
  });

  test('[D54] a challenge that was used is remembered until its end, and a person has one reset', async () => {
    const { store } = await fresh();
    await store.write(SPACE, [], async (tx) => {
      await tx.passkeys.markUsed('one', 10);
      await tx.passkeys.markUsed('two', 20);
      await tx.passkeys.forgetUsed(10);
      await tx.resets.put({ space: SPACE, person: 'pe_1', digest: 'first', by: 'pe_2', expiresAt: 5 });
      await tx.resets.put({ space: SPACE, person: 'pe_1', digest: 'second', by: 'pe_2', expiresAt: 6 });
    });
    await store.read(SPACE, async (tx) => {
      expect([await tx.passkeys.wasUsed('one'), await tx.passkeys.wasUsed('two')]).toEqual([false, true]);
    });
    const reset = { space: SPACE, person: 'pe_1', digest: 'second', by: 'pe_2', expiresAt: 6 };
    expect(await store.directory.resetByDigest('second')).toEqual(reset);
    expect(await store.directory.resetByDigest('first')).toBeNull();
    await store.write(SPACE, [], (tx) => tx.resets.removeGivenBy('pe_1'));
    expect(await store.read(SPACE, (tx) => tx.resets.of('pe_1'))).toEqual(reset);
    await store.write(SPACE, [], (tx) => tx.resets.removeGivenBy('pe_2'));
    expect(await store.read(SPACE, (tx) => tx.resets.of('pe_1'))).toBeNull();
    await store.write(SPACE, [], (tx) => tx.resets.put(reset));
    await store.write(SPACE, [], (tx) => tx.resets.remove('pe_1'));
    expect(await store.directory.resetByDigest('second')).toBeNull();
  });

  test('[D2] a session is found by its digest until it is ended or swept away', async () => {
    const { store } = await fresh();
    const sessions = [
      aSession({ digest: 'one', expiresAt: 50, device: 'Firefox on Linux' }),
      aSession({ digest: 'two' }),
      aSession({ digest: 'three' }),
      aSession({ digest: 'other', person: 'pe_2' }),
    ];
    await store.write(SPACE, [], async (tx) => {
      for (const session of sessions) await tx.people.insertSession(session);
    });
    const found = async () => {
      const all = await Promise.all(sessions.map((s) => store.directory.sessionByDigest(s.digest)));
      return all.flatMap((s) => s?.digest ?? []);
    };
    expect(await store.directory.sessionByDigest('one')).toEqual(sessions[0]);
    expect(await store.write(SPACE, [], (tx) => tx.people.deleteExpiredSessions(50))).toBe(1);
    expect(await found()).toEqual(['two', 'three', 'other']);
    expect(await store.write(SPACE, [], (tx) => tx.people.deleteSession('two'))).toBe(1);
    expect(await store.write(SPACE, [], (tx) => tx.people.deleteSession('two'))).toBe(0);
    expect(await found()).toEqual(['three', 'other']);
    expect(await store.write(SPACE, [], (tx) => tx.people.deleteSessionsOf('pe_1'))).toBe(1);
    expect(await found()).toEqual(['other']);
  });

  test('[D4] a token is found by its digest, listed for its person and revoked once', async () => {
    const { store } = await fresh();
    const token = aToken();
    await store.write(SPACE, [], (tx) => tx.people.insertToken(token));
    expect(await store.directory.tokenByDigest('digest')).toEqual(token);
    expect(await store.directory.tokenByDigest('another')).toBeNull();
    expect(await store.read(SPACE, (tx) => tx.people.listTokens('pe_1'))).toEqual([token]);
    expect(await store.read(SPACE, (tx) => tx.people.listTokens('pe_2'))).toEqual([]);
    expect(await store.write(SPACE, [], (tx) => tx.people.revokeToken('tok_1', 9))).toBe(1);
    expect(await store.write(SPACE, [], (tx) => tx.people.revokeToken('tok_1', 10))).toBe(0);
    expect(await store.directory.tokenByDigest('digest')).toMatchObject({ revokedAt: 9 });
  });

  test('[D19] an agent keeps its callbacks and its secrets; it is accepted once', async () => {
    const { store } = await fresh();
    const secret = { secret: 'whsec_1', createdAt: 1, expiresAt: null };
    const fresher = { secret: 'whsec_2', createdAt: 2, expiresAt: 8 };
    await store.write(SPACE, [], async (tx) => {
      await tx.agents.insert(anAgent(), [secret]);
      await tx.agents.insert(anAgent({ id: 'agent-00' }), []);
      expect(await tx.agents.secrets('agent-01')).toEqual([secret]);
      await tx.agents.setCallbacks('agent-01', ['https://example.com/hook']);
      await tx.agents.setSecrets('agent-01', [secret, fresher]);
      await tx.agents.accept('agent-01', 5);
      await tx.agents.accept('agent-01', 6);
      await tx.agents.connected('agent-01', 6);
      await tx.agents.seen('agent-01', 7);
    });
    const times = { acceptedAt: 5, lastSeenAt: 7, connectedAt: 6 };
    const now = anAgent({ ...times, callbacks: ['https://example.com/hook'] });
    await store.read(SPACE, async (tx) => {
      expect(await tx.agents.get('agent-01')).toEqual(now);
      expect(await tx.agents.get('nobody')).toBeNull();
      expect(await tx.agents.list()).toEqual([anAgent({ id: 'agent-00' }), now]);
      expect(await tx.agents.names(1)).toEqual(['agent-00']);
      expect(await tx.agents.secrets('agent-01')).toEqual([secret, fresher]);
      expect(await tx.agents.secrets('nobody')).toEqual([]);
    });
  });

  test('[D41] agents are read by the page, and found by any letters of their name', async () => {
    const { store } = await fresh();
    const ids = ['a_b', 'Release-Notes', 'axb', 'notes.2', 'other'];
    await store.write(SPACE, [], async (tx) => {
      for (const id of ids) await tx.agents.insert(anAgent({ id }), []);
    });
    await store.read(SPACE, async (tx) => {
      const found = async (after: string, containing: string, limit = 10) =>
        (await tx.agents.page({ after, containing, limit })).map(({ id }) => id);
      expect(await found('', '', 2)).toEqual(['Release-Notes', 'a_b']);
      expect(await found('a_b', '', 2)).toEqual(['axb', 'notes.2']);
      expect(await found('', 'NOTES')).toEqual(['Release-Notes', 'notes.2']);
      expect(await found('', 'a_')).toEqual(['a_b']);
      expect(await found('', '%')).toEqual([]);
      expect(await found('', '\\')).toEqual([]);
    });
  });

  test('[D19] a key is found by its digest, with its agent; rotation shortens the others, revoking ends one', async () => {
    const { store } = await fresh();
    const keys = ['key_1', 'key_2', 'key_3'].map((id, at) => aKey({ id, digest: id, createdAt: at }));
    await store.write(SPACE, [], async (tx) => {
      await tx.agents.insert(anAgent({ acceptedAt: 3, callbacks: ['https://example.com'] }), []);
      for (const key of keys) await tx.keys.insert(key);
      expect(await tx.keys.revoke('key_1', 40)).toBe(1);
      expect(await tx.keys.revoke('key_1', 41)).toBe(0);
      expect(await tx.keys.expireOthers('agent-01', 'key_3', 60)).toBe(1);
      expect(await tx.keys.expireOthers('agent-01', 'key_3', 90)).toBe(0);
    });
    expect(await store.read(SPACE, (tx) => tx.keys.list('agent-01'))).toEqual([
      { ...keys[0], revokedAt: 40 },
      { ...keys[1], expiresAt: 60 },
      keys[2],
    ]);
    expect(await store.directory.identityByDigest('key_2')).toEqual({
      key: { ...keys[1], expiresAt: 60 },
      accepted: true,
      callbacks: ['https://example.com'],
    });
    expect(await store.directory.identityByDigest('unknown')).toBeNull();
  });

  test('[W12] an idempotency record is there until it expires, and may then be written anew', async () => {
    const { store } = await fresh();
    const record = anIdempotencyRecord({ expiresAt: 100 });
    await store.write(SPACE, [], (tx) => tx.idempotency.put(record));
    const get = (now: number, agent = 'agent-01') =>
      store.read(SPACE, (tx) => tx.idempotency.get(agent, 'once', now));
    expect(await get(99)).toEqual(record);
    expect(await get(100)).toBeNull();
    expect(await get(99, 'agent-02')).toBeNull();
    const next = { ...record, delivery: 'delivery-2', isDeduplicated: true, createdAt: 100, expiresAt: 200 };
    await store.write(SPACE, [], (tx) => tx.idempotency.put(next));
    expect(await get(100)).toEqual(next);
  });

  test('[W12] expired idempotency records are cleared in small steps, others stay', async () => {
    const { store } = await fresh();
    await store.write(SPACE, [], async (tx) => {
      for (let i = 1; i <= 5; i++) {
        await tx.idempotency.put(anIdempotencyRecord({ key: `k${i}`, expiresAt: i * 10 }));
      }
    });
    const clear = () => store.write(SPACE, [], (tx) => tx.idempotency.deleteExpired(30, 2));
    expect([await clear(), await clear(), await clear()]).toEqual([2, 1, 0]);
    const left = await store.read(SPACE, (tx) => tx.idempotency.get('agent-01', 'k4', 0));
    expect(left).toMatchObject({ key: 'k4' });
  });

  test('[D23] the ledger pages in both directions, and a place is taken once', async () => {
    const { store } = await fresh();
    const lines = [1, 2, 3, 4].map((seq) => aLine({ seq, data: `{"n":${seq}}` }));
    await store.write(SPACE, [], async (tx) => {
      for (const line of lines) await tx.ledger.insert(line);
    });
    await store.read(SPACE, async (tx) => {
      expect(await tx.ledger.page(0, 3)).toEqual(lines.slice(0, 3));
      expect(await tx.ledger.page(3, 3)).toEqual(lines.slice(3));
      expect(await tx.ledger.newest(5, 2)).toEqual([lines[3], lines[2]]);
      expect(await tx.ledger.newest(3, 9)).toEqual([lines[1], lines[0]]);
    });
    const twice = store.write(SPACE, [], (tx) => tx.ledger.insert(aLine({ seq: 4 })));
    await expect(twice).rejects.toThrow();
  });

  test('[D22] checkpoints are kept in order, and the last is found without the others', async () => {
    const { store } = await fresh();
    expect(await store.read(SPACE, (tx) => tx.ledger.lastCheckpoint())).toBeNull();
    const [second, first] = [aCheckpoint({ seq: 20 }), aCheckpoint({ seq: 3 })];
    await store.write(SPACE, [], async (tx) => {
      await tx.ledger.insertCheckpoint(second);
      await tx.ledger.insertCheckpoint(first);
    });
    expect(await store.read(SPACE, (tx) => tx.ledger.checkpoints())).toEqual([first, second]);
    expect(await store.read(SPACE, (tx) => tx.ledger.lastCheckpoint())).toEqual(second);
  });
}
