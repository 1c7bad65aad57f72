import { expect, test } from 'vitest';
import type { Entry, EventRecord } from '../../core/events/event.ts';
import type { Tx } from '../../core/store.ts';
import { anEntry, anEventRecord } from '../../testing/stores/event-things.ts';
import type { Fresh } from '../contract.ts';

const SPACE = 'sp_1';
const BODY = Buffer.from('{"a":"ä\\u0000"}\0 and bytes \xff', 'latin1');

type Placed = { event: EventRecord; entries?: Entry[] };

/** Events, and where they lie in inboxes. */
async function insert(tx: Tx, ...placed: Placed[]): Promise<void> {
  for (const { event, entries = [anEntry(event)] } of placed) {
    await tx.events.insert(event, BODY);
    for (const entry of entries) await tx.entries.insert(entry);
  }
}

const plain = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []);

export function describeEvents(fresh: Fresh): void {
  const opened = async () => {
    const { store } = await fresh();
    return {
      write: <T>(work: (tx: Tx) => Promise<T>, space = SPACE) => store.write(space, [], work),
      read: <T>(work: (tx: Tx) => Promise<T>, space = SPACE) => store.read(space, work),
    };
  };

  test('[K9] an event comes back as it went in, byte for byte, and only in its space', async () => {
    const { write, read } = await opened();
    const event = anEventRecord({ taskId: 't', causationId: 'evt_0', fillProducer: true, outOfOrder: true });
    await write((tx) => insert(tx, { event }));
    await read(async (tx) => {
      expect(await tx.events.get('prod_one', 'evt_1')).toEqual(event);
      expect(await tx.events.get('prod_two', 'evt_1')).toBeNull();
      const [sent] = await tx.entries.read('agent-1', 0, 10);
      expect(plain(sent?.body()).equals(BODY)).toBe(true);
      expect(sent).toMatchObject({ offset: 1, producer: 'prod_one', fillProducer: true, size: BODY.length });
    });
    expect(await read((tx) => tx.events.get('prod_one', 'evt_1'), 'sp_2')).toBeNull();
    expect(await read((tx) => tx.entries.read('agent-1', 0, 10), 'sp_2')).toEqual([]);
  });

  test('[K8] an id is used once by a producer; another producer may use it too', async () => {
    const { write, read } = await opened();
    await write((tx) => insert(tx, { event: anEventRecord() }));
    const again = anEventRecord({ seq: 2, eventId: 'evt_1' });
    await expect(write((tx) => insert(tx, { event: again }))).rejects.toThrow();
    await write((tx) => insert(tx, { event: { ...again, producer: 'prod_two' } }));
    const found = await read((tx) => tx.entries.byEventId('agent-1', 'evt_1', 10));
    expect(found.map(({ event }) => event.producer).sort()).toEqual(['prod_one', 'prod_two']);
  });

  test('[K9] a place in an inbox is given once; each inbox has its own', async () => {
    const { write } = await opened();
    const event = anEventRecord();
    const entries = [anEntry(event), anEntry(event, { agent: 'agent-2' })];
    await write((tx) => insert(tx, { event, entries }));
    await expect(write((tx) => tx.entries.insert(anEntry(event)))).rejects.toThrow();
  });

  test('[K11] a reader gets what follows its place, in order, a page at a time', async () => {
    const { write, read } = await opened();
    const events = [3, 1, 2, 5, 4].map((seq) => ({ event: anEventRecord({ seq }) }));
    await write((tx) => insert(tx, ...events));
    const offsets = (after: number, limit: number) =>
      read(async (tx) => (await tx.entries.read('agent-1', after, limit)).map(({ offset }) => offset));
    expect(await offsets(0, 3)).toEqual([1, 2, 3]);
    expect(await offsets(3, 3)).toEqual([4, 5]);
    expect(await offsets(5, 3)).toEqual([]);
    expect(await read((tx) => tx.entries.read('agent-2', 0, 9))).toEqual([]);
    expect(await read((tx) => tx.entries.oldest('agent-1'))).toBe(1);
    expect(await read((tx) => tx.entries.oldest('agent-2'))).toBeNull();
  });

  test('[K13] an acknowledgement is kept with its time and reason', async () => {
    const { write, read } = await opened();
    await write((tx) => insert(tx, { event: anEventRecord() }, { event: anEventRecord({ seq: 2 }) }));
    expect(await read((tx) => tx.entries.unacked('agent-1', 10))).toEqual([1, 2]);
    const ack = { status: 'rejected' as const, processedAt: 7, reason: 'Not for me: ünlikely.' };
    await write((tx) => tx.entries.setAck('agent-1', 1, ack));
    await read(async (tx) => {
      expect(await tx.entries.unacked('agent-1', 10)).toEqual([2]);
      expect(await tx.entries.front('agent-1', 1)).toEqual([anEntry(anEventRecord(), { ack })]);
      expect((await tx.entries.read('agent-1', 0, 1))[0]?.acknowledged).toBe(true);
    });
  });

  test('[K16] a task has its newest events in their order, an inbox its newest first', async () => {
    const { write, read } = await opened();
    const events = [1, 2, 3, 4].map((seq) => ({
      event: anEventRecord({ seq, taskId: seq === 3 ? 'other' : 't' }),
    }));
    const placed = events.map(({ event }) => ({
      event,
      entries: [anEntry(event, { hasUri: event.seq === 4 })],
    }));
    await write((tx) => insert(tx, ...placed));
    await read(async (tx) => {
      const ids = (page: { entry: Entry }[]) => page.map(({ entry }) => entry.eventId);
      expect(await tx.entries.byTask('agent-1', 't', 2)).toMatchObject([
        { eventId: 'evt_2', offset: 2, hasUri: false },
        { eventId: 'evt_4', offset: 4, hasUri: true },
      ]);
      expect(await tx.entries.at('agent-1', 4)).toMatchObject({
        entry: { eventId: 'evt_4', hasUri: true },
        event: { seq: 4 },
      });
      expect(await tx.entries.at('agent-1', 5)).toBeNull();
      expect(ids(await tx.entries.newest('agent-1', 4, 2))).toEqual(['evt_3', 'evt_2']);
    });
  });

  test('[K35] the newest over all inboxes, page by page, each place once', async () => {
    const { write, read } = await opened();
    const placed = [1, 2, 3].map((seq) => {
      const event = anEventRecord({ seq });
      const entries = ['agent-1', 'agent-2'].map((agent) => anEntry(event, { agent }));
      return { event, entries };
    });
    await write((tx) => insert(tx, ...placed));
    const seen: string[] = [];
    let after = { seq: Number.MAX_SAFE_INTEGER, agent: '', place: 0 };
    for (;;) {
      const page = await read((tx) => tx.entries.recent(after, 4));
      for (const { entry } of page) seen.push(`${entry.eventSeq} ${entry.agent}`);
      const last = page.at(-1)?.entry;
      if (last === undefined) break;
      after = { seq: last.eventSeq, agent: last.agent, place: last.offset };
    }
    expect(seen).toEqual(['3 agent-1', '3 agent-2', '2 agent-1', '2 agent-2', '1 agent-1', '1 agent-2']);
  });

  test('[K22] what an event has caused is found by it', async () => {
    const { write, read } = await opened();
    const caused = [2, 3].map((seq) => ({ event: anEventRecord({ seq, causationId: 'evt_1' }) }));
    await write((tx) => insert(tx, { event: anEventRecord() }, ...caused));
    const found = await read((tx) => tx.events.byCause('evt_1', 10));
    expect(found.map(({ eventId }) => eventId).sort()).toEqual(['evt_2', 'evt_3']);
    expect(await read((tx) => tx.events.byCause('evt_1', 1))).toHaveLength(1);
    expect(await read((tx) => tx.events.byCause('evt_2', 10))).toEqual([]);
  });

  test('[K17] entries leave from the front, and an event with its last entry', async () => {
    const { write, read } = await opened();
    const event = anEventRecord();
    const entries = ['agent-1', 'agent-2'].map((agent) => anEntry(event, { agent }));
    await write((tx) => insert(tx, { event, entries }, { event: anEventRecord({ seq: 2 }) }));
    expect(await write((tx) => tx.entries.removeUpTo('agent-1', 1))).toBe(1);
    await write((tx) => tx.events.removeUnheld([1]));
    expect(await read((tx) => tx.events.get('prod_one', 'evt_1'))).toEqual(event);
    expect(await write((tx) => tx.entries.removeUpTo('agent-2', 1))).toBe(1);
    await write((tx) => tx.events.removeUnheld([1]));
    await read(async (tx) => {
      expect(await tx.events.get('prod_one', 'evt_1')).toBeNull();
      expect(await tx.entries.oldest('agent-1')).toBe(2);
      expect((await tx.entries.front('agent-1', 9)).map((entry) => entry.offset)).toEqual([2]);
      // What came with the one that has left is as it was.
      const [left] = await tx.entries.read('agent-1', 0, 9);
      expect(plain(left?.body()).equals(BODY)).toBe(true);
    });
  });

  test('[K9] events that commit together, small and large, come back each as it was', async () => {
    const { write, read } = await opened();
    const bodies = [10, 40_000, 30_000, 0, 200_000, 7].map((size, i) => Buffer.alloc(size, `body ${i} `));
    await Promise.all(
      bodies.map((body, i) =>
        write(async (tx) => {
          const event = anEventRecord({ seq: i + 1 });
          await tx.events.insert(event, body);
          await tx.entries.insert(anEntry(event));
          // Also to the transaction that has just brought it.
          const [own] = await tx.entries.byEventId('agent-1', event.eventId, 1);
          expect(plain(own?.event.body()).equals(body)).toBe(true);
        }),
      ),
    );
    const sent = await read((tx) => tx.entries.read('agent-1', 0, 10));
    expect(sent.map(({ size }) => size)).toEqual(bodies.map((body) => body.length));
    expect(sent.map((one, i) => plain(one.body()).equals(bodies[i] ?? BODY))).toEqual(bodies.map(() => true));
  });
}
