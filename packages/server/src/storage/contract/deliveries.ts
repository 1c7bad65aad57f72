import { expect, test } from 'vitest';
import type { Delivery, Section } from '../../core/deliveries/delivery.ts';
import type { Store } from '../../core/store.ts';
import { aDecision, aDelivery } from '../../testing/stores/things.ts';
import type { Fresh } from '../contract.ts';

const SPACE = 'sp_1';
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (stored: Uint8Array | null) => (stored === null ? null : new TextDecoder().decode(stored));

function insertAll(store: Store, deliveries: readonly Delivery[]): Promise<void> {
  return store.write(SPACE, [], async (tx) => {
    for (const delivery of deliveries) await tx.deliveries.insert(delivery, bytes(`body of ${delivery.id}`));
  });
}

/** Follows a list to its end, as a person who turns page after page does. */
async function pages(store: Store, section: Section, limit: number): Promise<string[]> {
  const seen: string[] = [];
  let after: { sectionAt: number; seq: number } | undefined;
  for (;;) {
    const page = await store.read(SPACE, (tx) => tx.deliveries.list({ section, after, limit }));
    seen.push(...page.map((d) => d.id));
    const last = page.at(-1);
    if (last === undefined) return seen;
    after = { sectionAt: last.sectionAt, seq: last.seq };
  }
}

export function describeDeliveries(fresh: Fresh): void {
  test('[D10] a delivery comes back with every field as it went in, and its body byte for byte', async () => {
    const { store } = await fresh();
    const full = aDelivery({
      tier: 'live',
      type: 'alert',
      timeoutAt: 5,
      taskId: 'task',
      threadId: 'thread',
      interruptId: 'interrupt',
      revises: 'delivery-0',
      revision: 3,
      supersededBy: 'delivery-9',
      dedupeKey: 'dedupe',
      readAt: 6,
      readBy: 'pe_1',
      snoozedUntil: 7,
      effectAt: 8,
      withdrawnAt: 9,
      createdAt: 1_794_733_200_123_456,
    });
    const body = Uint8Array.from({ length: 256 }, (_, i) => i);
    await store.write(SPACE, [], (tx) => tx.deliveries.insert(full, body));
    await store.read(SPACE, async (tx) => {
      expect(await tx.deliveries.get(full.id)).toEqual(full);
      expect([...((await tx.deliveries.body(full.id)) ?? [])]).toEqual([...body]);
      expect(await tx.deliveries.tier(full.id)).toBe(full.tier);
      expect(await tx.deliveries.polled(full.id)).toMatchObject({ agent: full.agent, response: null });
      expect(await tx.deliveries.get('unknown')).toBeNull();
      expect(await tx.deliveries.body('unknown')).toBeNull();
      expect(await tx.deliveries.tier('unknown')).toBeNull();
      expect(await tx.deliveries.polled('unknown')).toBeNull();
    });
  });

  test('[W6] neither an id nor a place is given out twice', async () => {
    const { store } = await fresh();
    await insertAll(store, [aDelivery()]);
    await expect(insertAll(store, [aDelivery({ seq: 2, id: 'delivery-1' })])).rejects.toThrow();
    await expect(insertAll(store, [aDelivery({ id: 'delivery-2' })])).rejects.toThrow();
  });

  test('[D11] an update changes what may change, and never what was delivered', async () => {
    const { store } = await fresh();
    const before = aDelivery();
    await insertAll(store, [before, aDelivery({ seq: 2 })]);
    const changed: Delivery = { ...before, state: 'held', effectAt: 50, section: 'snoozed', sectionAt: 3 };
    await store.write(SPACE, [], (tx) =>
      tx.deliveries.update({ ...changed, headline: 'Another', contentHash: 'b'.repeat(64), createdAt: 99 }),
    );
    await store.read(SPACE, async (tx) => {
      expect(await tx.deliveries.get(before.id)).toEqual(changed);
      expect(await tx.deliveries.get('delivery-2')).toEqual(aDelivery({ seq: 2 }));
    });
  });

  test('[W14] an answer and its bytes are stored together', async () => {
    const { store } = await fresh();
    await insertAll(store, [aDelivery()]);
    const answered = aDelivery({ status: 'approved', state: 'decided', changedAt: 30 });
    await store.write(SPACE, [], (tx) => tx.deliveries.answer(answered, bytes('the answer')));
    await store.read(SPACE, async (tx) => {
      expect(await tx.deliveries.get(answered.id)).toEqual(answered);
      expect(text((await tx.deliveries.polled(answered.id))?.response ?? null)).toBe('the answer');
      expect(text(await tx.deliveries.body(answered.id))).toBe('body of delivery-1');
    });
  });

  test('[W26] only an open delivery of the same agent answers to a dedupe key', async () => {
    const { store } = await fresh();
    const states = ['decided', 'withdrawn', 'superseded'] as const;
    await insertAll(
      store,
      states.map((state, at) => aDelivery({ seq: at + 1, dedupeKey: 'k', state })),
    );
    const find = (agent = 'agent-01') =>
      store.read(SPACE, (tx) => tx.deliveries.pendingByDedupeKey(agent, 'k'));
    expect(await find()).toBeNull();
    await insertAll(store, [aDelivery({ seq: 9, dedupeKey: 'k', state: 'held' })]);
    expect(await find()).toMatchObject({ seq: 9 });
    await insertAll(store, [aDelivery({ seq: 7, dedupeKey: 'k' }), aDelivery({ seq: 10, dedupeKey: 'k' })]);
    expect(await find()).toMatchObject({ seq: 10 });
    expect(await find('agent-02')).toBeNull();
  });

  test('[W18] a sweep gets one status, oldest change first, strictly after since', async () => {
    const { store } = await fresh();
    await insertAll(store, [
      aDelivery({ seq: 1, changedAt: 30 }),
      aDelivery({ seq: 2, changedAt: 10 }),
      aDelivery({ seq: 3, changedAt: 20 }),
      aDelivery({ seq: 4, changedAt: 25, status: 'approved', state: 'decided' }),
      aDelivery({ seq: 5, changedAt: 15, agent: 'agent-02' }),
    ]);
    await store.read(SPACE, async (tx) => {
      const swept = await tx.deliveries.changed('agent-01', 'pending', 10, 9);
      expect(swept).toEqual([
        { id: 'delivery-3', status: 'pending', changedAt: 20, timeoutAt: null, response: null },
        { id: 'delivery-1', status: 'pending', changedAt: 30, timeoutAt: null, response: null },
      ]);
      expect(await tx.deliveries.changed('agent-01', 'pending', -1, 1)).toMatchObject([{ changedAt: 10 }]);
      expect(await tx.deliveries.countChanged('agent-01', 'pending', 10)).toBe(2);
      expect(await tx.deliveries.countChanged('agent-01', 'approved', -1)).toBe(1);
      expect(await tx.deliveries.countChanged('nobody', 'pending', -1)).toBe(0);
    });
  });

  test('[D9] pages of a list neither skip nor repeat, also among equals and while others come and go', async () => {
    const { store } = await fresh();
    const all = Array.from({ length: 23 }, (_, i) =>
      aDelivery({ seq: i + 1, sectionAt: -(Math.floor(i / 4) * 10) }),
    );
    await insertAll(store, all);
    const inOrder = [...all].sort((a, b) => a.sectionAt - b.sectionAt || a.seq - b.seq).map((d) => d.id);
    for (const limit of [1, 2, 5, 23, 50]) expect(await pages(store, 'needs_you', limit)).toEqual(inOrder);
    const first = await store.read(SPACE, (tx) => tx.deliveries.list({ section: 'needs_you', limit: 5 }));
    const last = first.at(-1) ?? all[0];
    await insertAll(store, [aDelivery({ seq: 99, sectionAt: -1000 })]);
    const gone = aDelivery({ seq: first[2]?.seq ?? 0, section: 'earlier' });
    await store.write(SPACE, [], (tx) => tx.deliveries.update(gone));
    const rest = await store.read(SPACE, (tx) =>
      tx.deliveries.list({ section: 'needs_you', after: last, limit: 50 }),
    );
    expect(rest.map((d) => d.id)).toEqual(inOrder.slice(5));
  });

  test('[D9] a list is narrowed by section, agent and type', async () => {
    const { store } = await fresh();
    await insertAll(store, [
      aDelivery({ seq: 1 }),
      aDelivery({ seq: 2, type: 'output' }),
      aDelivery({ seq: 3, agent: 'agent-02' }),
      aDelivery({ seq: 4, section: 'alerts', type: 'alert' }),
      aDelivery({ seq: 5, section: 'new_agents' }),
      aDelivery({ seq: 6, section: 'new_agents', agent: 'agent-02' }),
    ]);
    await store.read(SPACE, async (tx) => {
      const list = async (query: Partial<Parameters<typeof tx.deliveries.list>[0]>) =>
        (await tx.deliveries.list({ section: 'needs_you', limit: 9, ...query })).map((d) => d.seq);
      expect(await list({})).toEqual([1, 2, 3]);
      expect(await list({ agent: 'agent-02' })).toEqual([3]);
      expect(await list({ agent: 'agent-01' })).toEqual([1, 2]);
      expect(await list({ agent: 'nobody' })).toEqual([]);
      expect(await list({ section: 'alerts' })).toEqual([4]);
      expect(await list({ section: 'new_agents', agent: 'agent-02' })).toEqual([6]);
    });
  });

  test('[D88] the deliveries of a thread stand in the order in which they came, and are of one agent only', async () => {
    const { store } = await fresh();
    await insertAll(store, [
      aDelivery({ seq: 1, threadId: 't' }),
      aDelivery({ seq: 2, threadId: 't', state: 'decided', status: 'approved', section: 'earlier' }),
      aDelivery({ seq: 3, threadId: 'u' }),
      aDelivery({ seq: 4, threadId: 't', agent: 'agent-02' }),
      aDelivery({ seq: 5, threadId: 't' }),
      aDelivery({ seq: 6 }),
      aDelivery({ seq: 7, threadId: 't' }),
      aDelivery({ seq: 8, threadId: 't' }),
    ]);
    await store.read(SPACE, async (tx) => {
      const at = { agent: 'agent-01', thread: 't', seq: 5 };
      const seqs = async (side: 'before' | 'after', limit: number) =>
        (await tx.deliveries.ofThread({ ...at, side, limit })).map((d) => d.seq);
      expect(await seqs('before', 9)).toEqual([2, 1]);
      expect(await seqs('before', 1)).toEqual([2]);
      expect(await seqs('after', 9)).toEqual([7, 8]);
      expect(await seqs('after', 1)).toEqual([7]);
      expect(await tx.deliveries.countOfThread({ ...at, side: 'before', limit: 9 })).toBe(2);
      expect(await tx.deliveries.countOfThread({ ...at, side: 'after', limit: 1 })).toBe(1);
      expect(await tx.deliveries.countOfThread({ ...at, thread: 'v', side: 'after', limit: 9 })).toBe(0);
    });
  });

  test('[D9][D13][R12] retention takes what is old in Earlier, in small steps, and nothing that is open or being decided', async () => {
    const { store } = await fresh();
    const earlier = (seq: number, at: number) =>
      aDelivery({ seq, section: 'earlier', sectionAt: -at, state: 'decided', status: 'approved' });
    await insertAll(store, [
      earlier(1, 10),
      earlier(2, 20),
      earlier(3, 30),
      earlier(4, 40),
      aDelivery({ seq: 5, createdAt: 1, changedAt: 1, sectionAt: 1 }),
      aDelivery({ seq: 6, section: 'earlier', sectionAt: -10, type: 'alert', readAt: 10, state: 'held' }),
    ]);
    const clear = () => store.write(SPACE, [], (tx) => tx.deliveries.deleteAnsweredBefore(40, 2));
    expect([await clear(), await clear(), await clear()]).toEqual([2, 1, 0]);
    const left = await store.read(SPACE, async (tx) => [
      await tx.deliveries.get('delivery-4'),
      await tx.deliveries.get('delivery-5'),
      await tx.deliveries.get('delivery-6'),
    ]);
    expect(left).toMatchObject([{ seq: 4 }, { seq: 5 }, { seq: 6 }]);
  });

  test('[D17] decisions: the current one is the last that was not undone; history has all, newest first', async () => {
    const { store } = await fresh();
    const decisions = [
      aDecision({ seq: 1 }),
      aDecision({ seq: 2, verdict: 'rejected' }),
      aDecision({ seq: 3, delivery: 'delivery-2', agent: 'agent-02' }),
    ];
    await store.write(SPACE, [], async (tx) => {
      for (const d of decisions) await tx.decisions.insert(d, bytes(`answer ${d.seq}`));
      await tx.decisions.setState(1, 'undone');
      await tx.decisions.setState(2, 'effective');
    });
    const [first, second, third] = [
      { ...decisions[0], state: 'undone' },
      { ...decisions[1], state: 'effective' },
      decisions[2],
    ];
    await store.read(SPACE, async (tx) => {
      expect(await tx.decisions.current('delivery-1')).toEqual(second);
      expect(await tx.decisions.current('unknown')).toBeNull();
      expect(await tx.decisions.of('delivery-1')).toEqual([first, second]);
      expect(text(await tx.decisions.answer(2))).toBe('answer 2');
      expect(await tx.decisions.answer(99)).toBeNull();
      expect(await tx.decisions.history({ limit: 2 })).toEqual([third, second]);
      expect(await tx.decisions.history({ limit: 2, before: 2 })).toEqual([first]);
      expect(await tx.decisions.history({ limit: 9, agent: 'agent-02' })).toEqual([third]);
    });
    await store.write(SPACE, [], (tx) => tx.decisions.setState(2, 'undone'));
    expect(await store.read(SPACE, (tx) => tx.decisions.current('delivery-1'))).toBeNull();
  });
}
