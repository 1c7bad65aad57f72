import { expect, test } from 'vitest';
import type { Tx } from '../../core/store.ts';
import {
  aCheckpoint,
  aDecision,
  aDelivery,
  aJob,
  aKey,
  aLine,
  anAgent,
  anAttempt,
  anIdempotencyRecord,
  aPerson,
  aSession,
  aToken,
} from '../../testing/stores/things.ts';
import type { Fresh } from '../contract.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const REQUEST = { url: 'https://example.com/hook', body: '{}' };
const SECRET = { secret: 'whsec_1', createdAt: 1, expiresAt: null };

/** One of everything. The ids are the same in every space; only digests are unique on the server. */
async function furnish(tx: Tx): Promise<void> {
  const { space } = tx;
  await tx.spaces.insert({ id: space, handle: space.replace('_', '-'), createdAt: 1, pushTargets: null });
  await tx.people.insert(aPerson({ space }));
  await tx.people.insertSession(aSession({ space, digest: `session ${space}` }));
  await tx.people.insertToken(aToken({ space, digest: `token ${space}` }));
  await tx.agents.insert(anAgent({ space }), [SECRET]);
  await tx.keys.insert(aKey({ space, digest: `key ${space}` }));
  const delivery = aDelivery({ space, dedupeKey: 'k', threadId: 't', section: 'new_agents' });
  await tx.deliveries.insert(delivery, bytes('body'));
  await tx.deliveries.insert(aDelivery({ space, seq: 2, section: 'earlier', sectionAt: -1 }), bytes('old'));
  await tx.decisions.insert(aDecision({ space }), bytes('answer'));
  await tx.idempotency.put(anIdempotencyRecord());
  await tx.jobs.insert(aJob({ space }), REQUEST);
  await tx.jobs.insertAttempt(anAttempt({ space }));
  await tx.ledger.insert(aLine({ space }));
  await tx.ledger.insertCheckpoint(aCheckpoint({ space }));
  await tx.heads.get('ledger');
  tx.heads.set('ledger', { n: 1, at: 1, text: 'x' });
}

/** Everything that a space can say of itself. */
async function look(tx: Tx): Promise<unknown[]> {
  return [
    await tx.spaces.get(),
    await tx.people.get('pe_1'),
    await tx.people.byEmail('pe_1@example.com'),
    await tx.people.list(),
    await tx.people.listTokens('pe_1'),
    await tx.agents.get('agent-01'),
    await tx.agents.list(),
    await tx.agents.secrets('agent-01'),
    await tx.keys.list('agent-01'),
    await tx.deliveries.get('delivery-1'),
    await tx.deliveries.body('delivery-1'),
    await tx.deliveries.tier('delivery-1'),
    await tx.deliveries.polled('delivery-1'),
    await tx.deliveries.get('delivery-2'),
    await tx.deliveries.pendingByDedupeKey('agent-01', 'k'),
    await tx.deliveries.changed('agent-01', 'pending', -1, 9),
    await tx.deliveries.countChanged('agent-01', 'pending', -1),
    await tx.deliveries.list({ section: 'new_agents', limit: 9 }),
    await tx.deliveries.list({ section: 'new_agents', agent: 'agent-01', limit: 9 }),
    await tx.deliveries.ofThread({ agent: 'agent-01', thread: 't', side: 'before', seq: 9, limit: 9 }),
    await tx.deliveries.countOfThread({ agent: 'agent-01', thread: 't', side: 'after', seq: 0, limit: 9 }),
    await tx.decisions.current('delivery-1'),
    await tx.decisions.of('delivery-1'),
    await tx.decisions.answer(1),
    await tx.decisions.history({ limit: 9 }),
    await tx.decisions.history({ limit: 9, agent: 'agent-01' }),
    await tx.idempotency.get('agent-01', 'once', 0),
    await tx.jobs.get('job-1'),
    ...(await tx.jobs.requests(['job-1'])),
    await tx.jobs.byDelivery('delivery-1'),
    await tx.jobs.attempts('delivery-1'),
    await tx.ledger.page(0, 9),
    await tx.ledger.newest(9, 9),
    await tx.ledger.checkpoints(),
    await tx.ledger.lastCheckpoint(),
    await tx.heads.get('ledger'),
  ];
}

/** Every verb that changes something, each with ids that exist in both spaces. */
const CHANGES: Record<string, (tx: Tx) => Promise<unknown>> = {
  'spaces.setPushTargets': (tx) => tx.spaces.setPushTargets(['https://example.com']),
  'people.setPassword': (tx) => tx.people.setPassword('pe_1', 'another'),
  'people.deleteSession': (tx) => tx.people.deleteSession('session sp_2'),
  'people.deleteSessionsOf': (tx) => tx.people.deleteSessionsOf('pe_1'),
  'people.deleteExpiredSessions': (tx) => tx.people.deleteExpiredSessions(1000),
  'people.revokeToken': (tx) => tx.people.revokeToken('tok_1', 9),
  'agents.accept': (tx) => tx.agents.accept('agent-01', 9),
  'agents.setCallbacks': (tx) => tx.agents.setCallbacks('agent-01', ['https://example.com']),
  'agents.setSecrets': (tx) => tx.agents.setSecrets('agent-01', []),
  'agents.seen': (tx) => tx.agents.seen('agent-01', 9),
  'agents.connected': (tx) => tx.agents.connected('agent-01', 9),
  'keys.expireOthers': (tx) => tx.keys.expireOthers('agent-01', 'key_2', 9),
  'keys.revoke': (tx) => tx.keys.revoke('key_1', 9),
  'deliveries.update': (tx) => tx.deliveries.update(aDelivery({ space: 'sp_2', state: 'withdrawn' })),
  'deliveries.answer': (tx) => tx.deliveries.answer(aDelivery({ space: 'sp_2' }), bytes('answer')),
  'deliveries.deleteAnsweredBefore': (tx) => tx.deliveries.deleteAnsweredBefore(1000, 9),
  'decisions.setState': (tx) => tx.decisions.setState(1, 'undone'),
  'idempotency.put': (tx) => tx.idempotency.put(anIdempotencyRecord({ delivery: 'delivery-9' })),
  'idempotency.deleteExpired': (tx) => tx.idempotency.deleteExpired(1000, 9),
  'jobs.lease': (tx) => tx.jobs.lease([{ id: 'job-1', fence: 0 }], 20, 80),
  'jobs.renew': (tx) => tx.jobs.renew('job-1', 0, 90),
  'jobs.settle': (tx) => tx.jobs.settle([{ id: 'job-1', fence: 0, state: 'done', dueAt: 1, attempts: 1 }]),
  'jobs.release': (tx) => tx.jobs.release('job-1', 0),
  'jobs.requeue': (tx) => tx.jobs.requeue('job-1', 9),
};

/** Every verb that adds something, each with a record that claims to be of the other space. */
const ADDITIONS: Record<string, (tx: Tx) => Promise<unknown>> = {
  'people.insert': (tx) => tx.people.insert(aPerson({ space: 'sp_2', id: 'pe_9' })),
  'people.insertSession': (tx) => tx.people.insertSession(aSession({ space: 'sp_2', digest: 'new' })),
  'people.insertToken': (tx) => tx.people.insertToken(aToken({ space: 'sp_2', id: 'tok_9', digest: 'new' })),
  'agents.insert': (tx) => tx.agents.insert(anAgent({ space: 'sp_2', id: 'agent-09' }), []),
  'keys.insert': (tx) => tx.keys.insert(aKey({ space: 'sp_2', id: 'key_9', digest: 'new' })),
  'deliveries.insert': (tx) => tx.deliveries.insert(aDelivery({ space: 'sp_2', seq: 9 }), bytes('body')),
  'decisions.insert': (tx) => tx.decisions.insert(aDecision({ space: 'sp_2', seq: 9 }), bytes('answer')),
  'jobs.insert': (tx) => tx.jobs.insert(aJob({ space: 'sp_2', id: 'job-9' }), REQUEST),
  'jobs.insertAttempt': (tx) => tx.jobs.insertAttempt(anAttempt({ space: 'sp_2', number: 9 })),
  'ledger.insert': (tx) => tx.ledger.insert(aLine({ space: 'sp_2', seq: 9 })),
  'ledger.insertCheckpoint': (tx) => tx.ledger.insertCheckpoint(aCheckpoint({ space: 'sp_2', seq: 9 })),
};

export function describeSpaces(fresh: Fresh): void {
  const twoSpaces = async () => {
    const { store } = await fresh();
    for (const space of ['sp_1', 'sp_2']) await store.write(space, ['ledger'], furnish);
    return store;
  };

  test('[D27] the same ids in two spaces are two things, for every verb that reads', async () => {
    const store = await twoSpaces();
    const [one, two] = [await store.read('sp_1', look), await store.read('sp_2', look)];
    const text = (seen: unknown[]) => JSON.stringify(seen);
    expect(text(one)).not.toContain('sp_2');
    expect(text(two)).not.toContain('sp_1');
    expect(text(two).replaceAll(/sp([_-])2/g, 'sp$11')).toBe(text(one));
  });

  test('[D27] a space that is empty sees none of it', async () => {
    const store = await twoSpaces();
    const seen = await store.read('sp_3', look);
    expect(seen.filter((x) => x !== null && x !== 0 && !(Array.isArray(x) && x.length === 0))).toEqual([]);
  });

  test.each(Object.entries(CHANGES))('[D27] %s changes nothing in another space', async (_, change) => {
    const store = await twoSpaces();
    const before = JSON.stringify(await store.read('sp_2', look));
    await store.write('sp_1', [], change);
    expect(JSON.stringify(await store.read('sp_2', look))).toBe(before);
    expect(await store.directory.sessionByDigest('session sp_2')).not.toBeNull();
  });

  test.each(Object.entries(ADDITIONS))('[D27] %s adds nothing to another space', async (_, add) => {
    const store = await twoSpaces();
    const before = JSON.stringify(await store.read('sp_2', look));
    await store.write('sp_1', [], add);
    expect(JSON.stringify(await store.read('sp_2', look))).toBe(before);
    expect((await store.directory.sessionByDigest('new'))?.space).not.toBe('sp_2');
  });
}
